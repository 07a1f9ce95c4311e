"""Which passages a question is answered from: pure functions on data.

The order of the rules is that of `first_way`, then `way_of_missing`; scores are computed elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.digest.types import EMBED_SYNC_MAX, SMALL_DOC, Passage
from firstlight.lexical.types import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from firstlight.digest.types import Retrieval
    from firstlight.lexical.index import Index
    from firstlight.text.types import Chunk

    Scores = NDArray[np.float64]

__all__ = [
    "Way",
    "best",
    "cosines",
    "first_way",
    "halved",
    "head",
    "hybrid",
    "near",
    "normalised",
    "overlap",
    "page_starts",
    "passages",
    "way_of_missing",
]

_COSINE, _OVERLAP = 0.7, 0.3


class Way(NamedTuple):
    """How passages are to be chosen.

    Attributes:
        retrieval: By what.
        reason: Why, in one line.
        provisional: Whether the same question may be answered better later.
        queue: Whether the document is to be embedded in the background.
    """

    retrieval: Retrieval
    reason: str
    provisional: bool = False
    queue: bool = False


def first_way(
    *, tokens: int, question: str, chunks: Callable[[], int], embedder: str | None, cached: bool
) -> Way | None:
    """Return the way that follows without looking for vectors; None where they have to be looked up.

    Args:
        tokens: The estimated tokens of the document.
        question: What is asked.
        chunks: Returns how many chunks the document has.
        embedder: What the embedder is called; None where there is none for this document.
        cached: Whether there is a cache.

    Example:
        >>> first_way(tokens=900, question="why", chunks=lambda: 1, embedder=None, cached=True).retrieval
        'whole'
    """
    if tokens <= SMALL_DOC:
        return Way("whole", f"the document is short ({tokens} tokens), and was read whole")
    if not question.strip():
        return Way("head", "nothing is asked: the leading passages were read")
    if embedder is None:
        return Way("bm25", "there is no embedder for this document: passages were chosen by words alone")
    if not cached and chunks() > EMBED_SYNC_MAX:
        return Way(
            "bm25",
            f"there is no cache, and {chunks()} chunks are too many to embed while you wait "
            f"({EMBED_SYNC_MAX}): passages were chosen by words alone",
            provisional=True,
        )
    return None


def way_of_missing(missing: int, total: int, embedder: str) -> Way:
    """Return the way where `missing` of the document's `total` chunks have no vector.

    Example:
        >>> way_of_missing(49, 80, "MiniLM").retrieval, way_of_missing(48, 80, "MiniLM").retrieval
        ('bm25', 'hybrid')
    """
    if missing > EMBED_SYNC_MAX:
        return Way(
            "bm25",
            f"{total - missing} of {total} chunks are embedded: passages were chosen by words alone, and the "
            f"rest is embedded by {embedder} in the background",
            provisional=True,
            queue=True,
        )
    return Way("hybrid", f"passages were chosen by {embedder} and by words")


def head(sizes: Iterable[int], budget: int = SMALL_DOC) -> list[int]:
    """Return the leading chunks that fit, by their sizes in tokens.

    Example:
        >>> head([5000, 2000, 2000, 100])
        [0, 1]
    """
    chosen: list[int] = []
    for number, size in enumerate(sizes):
        budget -= size
        if budget < 0:
            break
        chosen.append(number)
    return chosen


def best(
    sizes: Sequence[int], scores: Scores, matches: NDArray[np.bool_], budget: int = SMALL_DOC
) -> list[int]:
    """Return chunk 0, then the best ones that match and fit, in document order.

    What does not fit is passed over; what does not match is never chosen, however much room is left. Of
    equal scores the earlier chunk comes first.

    Args:
        sizes: Each chunk's size in tokens.
        scores: float64[n].
        matches: bool[n].
        budget: The most tokens of all.

    Example:
        >>> best([10, 10, 10, 10], np.array([0, 0.1, 0, 0.9]), np.array([0, 1, 0, 1], bool), 20)
        [0, 3]
    """
    if not len(sizes):
        return []
    chosen = [0]
    left = budget - sizes[0]
    order = np.argsort(-scores, kind="stable")
    for number in order[matches[order]].tolist():
        if number and sizes[number] <= left:
            chosen.append(number)
            left -= sizes[number]
    return sorted(chosen)


def halved(sizes: Sequence[int], scores: Scores) -> list[int]:
    """Return the best passages that fit into half of what all take, in document order; the best in any case.

    Example:
        >>> halved([10, 10, 10, 10], np.array([0.1, 0.9, 0.2, 0.3]))
        [1, 3]
    """
    left = sum(sizes) // 2
    chosen: list[int] = []
    for number in np.argsort(-scores, kind="stable").tolist():
        if not chosen or sizes[number] <= left:
            chosen.append(number)
            left -= sizes[number]
    return sorted(chosen)


def normalised(scores: Scores) -> Scores:
    """Return BM25 scores divided by the highest of them.

    Example:
        >>> normalised(np.array([0.0, 2.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    most = float(scores.max(initial=0.0))
    return scores / most if most > 0 else scores


def overlap(query: Query, index: Index) -> Scores:
    """Return the share of the question's distinct terms that each chunk has, float64[n]."""
    having = np.zeros(len(index.ids))
    for term in query.terms:
        having += index.scores(Query(query.text, (term,))) > 0
    return having / max(len(query.terms), 1)


def cosines(
    question: NDArray[np.float32], hashes: Sequence[bytes], vectors: Mapping[bytes, NDArray[np.float32]]
) -> Scores:
    """Return each chunk's cosine to the question, float64[n]; 0 where a chunk has no vector.

    A chunk that a model takes in several windows is as near as the nearest of them: a passage may speak of
    much, and answers a question with a few of its sentences (see `benchmarks/longqa`).

    Args:
        question: float32[d], of unit length.
        hashes: Each chunk's.
        vectors: float32[windows, d] by hash, of unit length.
    """
    found = np.zeros(len(hashes))
    having = [number for number, item in enumerate(hashes) if item in vectors]
    if having:
        windows = [vectors[hashes[number]] for number in having]
        firsts = np.cumsum([0, *map(len, windows[:-1])])
        found[having] = np.maximum.reduceat(np.concatenate(windows) @ question, firsts)
    return found


def hybrid(cosine: Scores, shared: Scores) -> Scores:
    """Return 0.7 cosine + 0.3 lexical overlap."""
    return _COSINE * cosine + _OVERLAP * shared


def near(cosine: Scores, floor: float | None) -> NDArray[np.bool_]:
    """Return which chunks match by their cosine: from the model's floor on, or above 0 where it has none."""
    found: NDArray[np.bool_] = cosine > 0 if floor is None else cosine >= floor
    return found


def page_starts(text: str) -> list[int]:
    r"""Return where the pages of a text begin that has form feeds between them; nothing where it has none.

    Example:
        >>> page_starts("one\ftwo"), page_starts("no pages")
        ([0, 4], [])
    """
    starts: list[int] = []
    at = text.find("\f")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\f", at + 1)
    return [0, *starts] if starts else []


def passages(
    chunks: Sequence[Chunk], chosen: Iterable[int], scores: Scores | None, pages: Sequence[int] = ()
) -> tuple[Passage, ...]:
    """Return the chosen chunks as passages, numbered from 1 in document order.

    Args:
        chunks: All of the document's.
        chosen: Which of them, ascending.
        scores: float64[n]; None where they were not chosen by a score.
        pages: Where pages begin.
    """
    return tuple(
        _passage(number, chunks[place], 0.0 if scores is None else float(scores[place]), pages)
        for number, place in enumerate(chosen, 1)
    )


def _passage(number: int, chunk: Chunk, score: float, pages: Sequence[int]) -> Passage:
    first = last = None
    if pages:  # white space at either end may lie on the page before, or after
        begins = chunk.end - len(chunk.text.lstrip())
        ends = chunk.start + len(chunk.text.rstrip())
        first = bisect_right(pages, begins if begins < chunk.end else chunk.start)
        last = max(first, bisect_right(pages, ends - 1))
    return Passage(
        number=number,
        start=chunk.start,
        end=chunk.end,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        page=first,
        text=chunk.text,
        score=score,
        page_end=last,
    )
