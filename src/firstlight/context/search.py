"""One question, one layer -> results, as a Corpus has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from firstlight.context.shelf import MemoryShelf
from firstlight.corpus.legs import NO_EMBEDDER, NOT_YET, WEIGHT, Leg
from firstlight.corpus.ranking import HitMaker, having_phrases, rank
from firstlight.corpus.scores import LexicalScores
from firstlight.corpus.search import coverage
from firstlight.errors import EmbeddingError
from firstlight.lexical import parse_query
from firstlight.rank.types import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firstlight.context.model import Model
    from firstlight.context.shelf import Ready
    from firstlight.context.upgrade import Upgrade
    from firstlight.corpus.scores import Masks, Scores
    from firstlight.corpus.snapshot import Embedded
    from firstlight.lexical import Query
    from firstlight.rank.types import Candidate

__all__ = ["NO_DOCUMENTS", "NO_WORD", "Answer", "Asked", "answer", "check_question"]

NO_DOCUMENTS = "there are no documents"
NO_WORD = "the question has no word to search for"


class Asked(NamedTuple):
    """What is asked, checked.

    Attributes:
        text: The question.
        top_k: How many hits at most.
        fresh: Tells which passages may be hits; None for all. Then equal texts of two documents are one.
    """

    text: str
    top_k: int
    fresh: Callable[[Candidate], bool] | None = None


class Answer(NamedTuple):
    """Results, what was kept for them, and the passages that come nearest, for the embedder to begin with."""

    results: Results
    kept: Sequence[Candidate] = ()
    best: Sequence[int] = ()


def check_question(query: object, top_k: object) -> None:
    """Refuse what is no question, or asks for no hits.

    Raises:
        TypeError: They are of another type.
        ValueError: `top_k` is below 1.
    """
    if not isinstance(query, str):
        raise TypeError(f"query must be a str, not {type(query).__name__}")
    if not isinstance(top_k, int) or isinstance(top_k, bool):
        raise TypeError(f"top_k must be an int, not {type(top_k).__name__}")
    if top_k < 1:
        raise ValueError(f"top_k must be 1 or more, not {top_k}")


def answer(
    ready: Ready, asked: Asked, *, generation: int, model: Model | None, upgrade: Upgrade | None
) -> Answer:
    """Return the passages that answer best."""
    embedded = None if upgrade is None else upgrade.state()
    leg: Leg | str = NO_EMBEDDER
    if model is not None and upgrade is not None and embedded is not None:
        leg = _leg(ready, asked.text, model, upgrade, embedded)
    mode, reason = _what_was_done(embedded, leg, "" if upgrade is None else upgrade.trouble)
    none = Results(
        query=asked.text,
        mode=mode,
        embedded=0 if embedded is None or embedded.counts is None else embedded.counts.embedded,
        total=ready.index.count,
        model=None if model is None else str(model.embedder.name),
        generation=generation,
        reason=reason,
    )
    query = parse_query(asked.text, ready.languages)
    if not ready.index.count or not query.terms:
        return Answer(replace(none, reason=NO_WORD if ready.index.count else NO_DOCUMENTS))
    masks = having_phrases(ready.index, ready.segments, query) if query.phrases else None
    scores = _scores(ready, query, masks, leg, embedded)
    shelf = MemoryShelf(ready.passages, folds=asked.fresh is not None)
    kept, best = rank(shelf, ready.index, query, scores, top_k=asked.top_k, fresh=asked.fresh)
    make = HitMaker(ready.index, query, scores)
    passages = shelf.passages([candidate.chunk for candidate in kept])
    hits = tuple(
        make(number, candidate.score, passages[candidate.chunk]) for number, candidate in enumerate(kept, 1)
    )
    return Answer(replace(none, hits=hits), kept, best)


def _leg(ready: Ready, question: str, model: Model, upgrade: Upgrade, embedded: Embedded) -> Leg | str:
    """Return the question's vector and what it is compared with, or the reason why there is none."""
    recorded = embedded.recorded
    if recorded is None or recorded.floor is None or embedded.vectors is None:
        return f"{upgrade.trouble}; ranked by BM25 alone" if upgrade.trouble else NOT_YET
    from firstlight.corpus.languages import is_known, question_language  # noqa: PLC0415  # vectors alone ask

    language = question_language(question, ready.spoken)
    if not is_known(question, language, model.embedder.languages):
        return f"{recorded.name} does not know the question's language; ranked by BM25 alone"
    try:
        vector = model.question.embed(question)
    except EmbeddingError as error:
        return f"the question could not be embedded ({error}); ranked by BM25 alone"
    if len(vector) != recorded.dimensions:
        return (
            f"{recorded.name} now answers with {len(vector)} dimensions, and had {recorded.dimensions}; "
            "ranked by BM25 alone"
        )
    return Leg(vector, recorded, "hybrid", WEIGHT)


def _what_was_done(embedded: Embedded | None, leg: Leg | str, trouble: str) -> tuple[str, str]:
    """Return the mode, and the reason for it."""
    counts = None if embedded is None else embedded.counts
    if isinstance(leg, str) or counts is None:
        is_over = leg == NOT_YET and counts is not None and counts.total > 0 and not counts.waiting
        return "bm25", f"{coverage(counts)}; ranked by BM25 alone" if is_over and counts else str(leg)
    if not counts.waiting:
        return "hybrid", coverage(counts)
    return "partial", f"{coverage(counts)}; {trouble}" if trouble else coverage(counts)


def _scores(
    ready: Ready, query: Query, masks: Masks | None, leg: Leg | str, embedded: Embedded | None
) -> Scores:
    if isinstance(leg, str) or embedded is None or embedded.vectors is None:
        return LexicalScores(ready.index, query, masks)
    from firstlight.corpus.fused import FusedScores  # noqa: PLC0415  # words alone need none of it

    return FusedScores(ready.index, embedded.vectors, query, masks, leg)
