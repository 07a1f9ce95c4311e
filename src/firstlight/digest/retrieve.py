"""A question's passages: the rules of `select`, applied to vectors, the gate and the time that there is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from firstlight.digest import select
from firstlight.digest.cache import DigestKey
from firstlight.digest.deadline import DeadlineError
from firstlight.digest.gate import GateRefusedError
from firstlight.digest.select import Way
from firstlight.errors import EmbeddingError
from firstlight.lexical.query import parse_query
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from firstlight.digest.background import Background
    from firstlight.digest.deadline import Calls, Deadline
    from firstlight.digest.documents import LongText
    from firstlight.digest.embedding import Embedding, Found, Vector
    from firstlight.digest.gate import Place
    from firstlight.digest.select import Scores
    from firstlight.digest.timings import Timings
    from firstlight.digest.types import Passage


__all__ = ["Asked", "Retrieved", "Retriever"]

# What embedding may take of the time while somebody waits for it.
_SHARE = 1 / 3
# A shorter document is counted through in a few milliseconds, and needs no index for the next question.
_INDEXED_FROM = 64  # chunks
# The hardest text of so many characters is read in well under a second; a thread to leave costs 0.1 ms.
_LONG = 200_000

_T = TypeVar("_T")


class Retrieved(NamedTuple):
    """The passages, how they were chosen, and how many chunks had a vector."""

    way: Way
    passages: tuple[Passage, ...]
    embedded: int


class Retriever:
    """Finds passages.

    Args:
        embedding: The embedder; None where there is none.
        background: Embeds what is too much for that.
        calls: What makes calls that end in time.
        cached: Whether vectors are kept.
    """

    def __init__(
        self, embedding: Embedding | None, background: Background, calls: Calls, *, cached: bool
    ) -> None:
        self.embedding = embedding
        self.background = background
        self.calls = calls
        self.cached = cached

    @property
    def model(self) -> str | None:
        """The embedding model."""
        return None if self.embedding is None else self.embedding.name

    def ask(
        self, document: LongText, question: str, caller_class: str, *, deadline: Deadline, timings: Timings
    ) -> Asked:
        """Return the question with what can be said of it before anything is looked up.

        Raises:
            DeadlineError: There is no time for that.
        """
        return Asked(self, document, question, caller_class, deadline, timings)


class Asked:
    """One question of one document.

    Attributes:
        fingerprint: Of the embedder that the answer depends on; empty for none, None where it cannot be told.
    """

    def __init__(  # noqa: PLR0917  # of `Retriever.ask` alone
        self,
        retriever: Retriever,
        document: LongText,
        question: str,
        caller_class: str,
        deadline: Deadline,
        timings: Timings,
    ) -> None:
        self._retriever = retriever
        self._document = document
        self._question = question
        self._caller_class = caller_class
        self._deadline = deadline
        self._timings = timings
        embedding = retriever.embedding
        if embedding is not None and not embedding.knows(document.text, document.language):
            embedding = None
        self._embedding = embedding
        self._query = parse_query(question, (document.language,))
        self._trouble = ""
        with timings.step("chunk"):
            self._way = select.first_way(
                tokens=document.tokens,
                question=question,
                chunks=lambda: len(self._in_time(lambda: document.chunks)),
                embedder=None if embedding is None else embedding.name,
                cached=retriever.cached,
            )
        self.fingerprint: str | None = ""
        if self._way is None and embedding is not None:
            try:
                self.fingerprint = embedding.fingerprint()
            except EmbeddingError as error:
                self.fingerprint, self._trouble = None, str(error)

    def key(self, llm: str) -> DigestKey:
        """Return what the digest is kept by."""
        return DigestKey(
            self._document.content_hash, self._question, self.fingerprint or "", llm, self._caller_class
        )

    def retrieve(self, place: Place, *, writes: bool) -> Retrieved:
        """Return the passages.

        Args:
            place: At the gate; taken where there is something to wait for.
            writes: Whether a language model writes the answer, which needs that place in any case.

        Raises:
            GateRefusedError: The answer needs a place at the gate, and there is none.
            DeadlineError: There is no time to read the document.
        """
        document, deadline = self._document, self._deadline
        with self._timings.step("chunk"):
            chunks = self._in_time(lambda: document.chunks)
        if not chunks:
            return Retrieved(self._way or Way("whole", ""), (), 0)
        if self._way is not None or self._embedding is None:
            found = self._by(self._way or Way("bm25", ""), {}, None)
        else:
            found = self._with_vectors(self._embedding, _Patience.of(deadline, place, writes=writes))
        if writes:
            place.take(within=deadline.left())
        return found

    def fewer(self, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        """Return the better half of passages, numbered anew; what has no scores is judged by its words."""
        scores = np.array([passage.score for passage in passages])
        if self._way is not None and self._way.retrieval == "whole":
            scores = self._document.bm25(self._query)
        chosen = select.halved([est_tokens(passage.text) for passage in passages], scores)
        return tuple(replace(passages[place], number=number) for number, place in enumerate(chosen, 1))

    def _in_time(self, action: Callable[[], _T]) -> _T:
        """Return what `action` does; where the document is long, it is left when the time is over."""
        if len(self._document.text) < _LONG:
            return action()
        return self._retriever.calls.run(lambda _: action(), within=self._deadline.left())

    def _with_vectors(self, embedding: Embedding, patience: _Patience) -> Retrieved:
        """Look every chunk up, and embed what little is missing."""
        if self.fingerprint is None:
            return self._gives_way({}, self._trouble)
        hashes = self._document.hashes
        with self._timings.step("lookup"):
            found = embedding.known(hashes, self._caller_class)
            missing = embedding.missing(hashes, found, self._caller_class)
        way = select.way_of_missing(len(missing), len(hashes), embedding.name)
        if way.retrieval == "bm25":
            self._queue()
            return self._by(way, found, None)
        try:
            question = self._embedded(embedding, patience, found, is_complete=not missing)
        except (EmbeddingError, DeadlineError) as error:
            return self._gives_way(found, str(error))
        except GateRefusedError as error:
            if patience.writes:
                raise
            return self._gives_way(found, str(error))
        return self._by(way, found, question)

    def _embedded(
        self, embedding: Embedding, patience: _Patience, found: Found, *, is_complete: bool
    ) -> Vector:
        """Return the question's vector, with what was missing of the chunks' in `found`."""
        until = patience.until
        if is_complete:
            patience.enter()
            with self._timings.step("embed_question"):
                return embedding.question(self._question, self._caller_class, until=until)
        with embedding.turn(self._document.content_hash, self._caller_class, within=until.left()) as is_ours:
            if not is_ours:
                raise DeadlineError("the document is being embedded for somebody else")
            patience.enter()
            with self._timings.step("embed_question"):
                question = embedding.question(self._question, self._caller_class, until=until)
            with self._timings.step("embed"):
                self._embed_missing(embedding, until, found)
        return question

    def _embed_missing(self, embedding: Embedding, until: Deadline, found: Found) -> None:
        hashes, texts = self._document.hashes, self._document.texts
        found |= embedding.known(hashes, self._caller_class)  # those before us may have embedded some
        missing = embedding.missing(hashes, found, self._caller_class)
        items = {hashes[place]: texts[place] for place in missing}
        if items:
            embedding.documents(list(items.items()), self._caller_class, until=until, found=found)

    def _gives_way(self, found: Found, why: str) -> Retrieved:
        """Return what words alone find, because the vectors could not be had now."""
        embedding = self._embedding
        if embedding is not None and self.fingerprint is not None:
            if embedding.missing(self._document.hashes, found, self._caller_class):
                self._queue()
        else:
            self._queue()
        way = Way(
            "bm25", f"embedding gave way ({why}): passages were chosen by words alone", provisional=True
        )
        return self._by(way, found, None)

    def _queue(self) -> None:
        if self._retriever.cached:
            self._retriever.background.put(self._document, self._caller_class)

    def _by(self, way: Way, found: Found, question: Vector | None) -> Retrieved:
        """Choose the passages in that way."""
        document = self._document
        with self._timings.step("select"):
            scores: Scores | None = None
            if way.retrieval == "whole":
                chosen = list(range(len(document.chunks)))
            elif way.retrieval == "head":
                chosen = select.head(document.sizes)
            elif question is None:
                scores = select.normalised(self._in_time(lambda: document.bm25(self._query)))
                chosen = select.best(document.sizes, scores, scores > 0)
                way = _said(way, int(np.count_nonzero(scores)))
            else:
                scores, matches = self._in_time(partial(self._hybrid, found, question))
                chosen = select.best(document.sizes, scores, matches)
                way = _said(way, int(np.count_nonzero(matches)))
            passages = select.passages(document.chunks, chosen, scores, document.pages)
        if not document.is_indexed and way.retrieval == "bm25" and len(document.chunks) >= _INDEXED_FROM:
            self._retriever.background.later(document.index)
        return Retrieved(way, passages, sum(item in found for item in document.hashes) if found else 0)

    def _hybrid(
        self, found: Found, question: Vector
    ) -> tuple[Scores, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Return each chunk's score, and whether it matches: by a word, or from the model's floor on."""
        shared = select.overlap(self._query, self._document.index())
        cosine = select.cosines(question, self._document.hashes, found)
        floor = getattr(self._embedding.embedder, "floor", None) if self._embedding is not None else None
        return select.hybrid(cosine, shared), (shared > 0) | select.near(cosine, floor)


class _Patience(NamedTuple):
    """How long embedding may take while somebody waits.

    Attributes:
        until: When it gives way.
        place: At the gate.
        entry: How long that may be waited for.
        writes: Whether a language model needs the place afterwards.
    """

    until: Deadline
    place: Place
    entry: Deadline
    writes: bool

    @classmethod
    def of(cls, deadline: Deadline, place: Place, *, writes: bool) -> _Patience:
        until = deadline.part(_SHARE)
        return cls(until, place, deadline if writes else until, writes)

    def enter(self) -> None:
        self.place.take(within=self.entry.left())


def _said(way: Way, matches: int) -> Way:
    if matches:
        return way
    return way._replace(
        reason=f"{way.reason}; nothing in the document matches, so that only its beginning is given"
    )
