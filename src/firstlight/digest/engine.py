"""One long document and one question: passages from it at once, and an answer from them."""

from __future__ import annotations

import logging
import os
import weakref
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.digest.background import Background
from firstlight.digest.deadline import Calls, Deadline
from firstlight.digest.documents import Documents
from firstlight.digest.embedding import DEFAULT, Embedding, open_embedder
from firstlight.digest.gate import Gate, Place
from firstlight.digest.retrieve import Retriever
from firstlight.digest.stream import DigestStream
from firstlight.digest.timings import Timings
from firstlight.digest.types import TIMEOUT, Digest
from firstlight.digest.writing import Writer
from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from collections.abc import Generator
    from os import PathLike
    from typing import Self

    from firstlight.digest.cache import DigestCache, DigestKey
    from firstlight.digest.documents import LongText
    from firstlight.digest.retrieve import Asked
    from firstlight.digest.types import Llm
    from firstlight.embed.types import Embedder

__all__ = ["DigestEngine"]

_MOST_CALLS = 32

_IN_USE: weakref.WeakSet[DigestEngine] = weakref.WeakSet()

_log = logging.getLogger(__name__)


class DigestEngine:
    """Answers questions about one long document at a time; thread-safe.

    A short document is read whole. Of a long one passages are chosen: at once by words, and by meaning too as
    soon as it is embedded, which happens behind the answers.

    Args:
        llm: Who writes the answer: the URL of an OpenAI-compatible endpoint, an object with `name` and
            `stream(messages, **options)`, or None, where the best sentences are the answer.
        embedder: A spec such as `local` or `openai:MODEL`, an Embedder, or None. By default the local one if
            it is installed, else none.
        cache: The file of digests; vectors are kept in one beside it. None keeps neither.
        gate: Bounds how many embed or write at once.
        timeout: Seconds from a question to the end of its answer.

    Raises:
        ConfigError: What is named cannot be had.
        StoreError: The cache is another program's file.
        ValueError: `timeout` is not above 0.

    Example:
        >>> with DigestEngine(llm=None, embedder=None, cache=None) as engine:
        ...     digest = engine.run("The pump is red. It stands in hall 4.", "Where is the pump?")
        >>> digest.retrieval, len(digest.passages)
        ('whole', 1)
    """

    def __init__(
        self,
        *,
        llm: str | Llm | None,
        embedder: str | Embedder | None = DEFAULT,
        cache: str | PathLike[str] | None = "digest.db",
        gate: Gate | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        if not timeout > 0:
            raise ValueError(f"timeout must be above 0, not {timeout}")
        self._timeout = timeout
        self._gate = Gate() if gate is None else gate
        self._calls = Calls(most=max(_MOST_CALLS, 2 * self._gate.active))
        self._resources = ExitStack()  # what was made here is closed with it
        self._llm = self._made(llm, _chat_client) if isinstance(llm, str) else llm
        self._digests, vectors = _open_caches(None if cache is None else Path(cache))
        self._close_later(self._digests)
        self._close_later(vectors)
        model = open_embedder(embedder)
        if model is not embedder and model is not None:
            self._close_later(model)
        embedding = (
            None
            if model is None
            else Embedding(model, cache=vectors, calls=self._calls, question_timeout=timeout / 3)
        )
        self._documents = Documents()
        self._background = Background(embedding, self._gate, timeout=timeout)
        self._retriever = Retriever(embedding, self._background, self._calls, cached=cache is not None)
        self._closed = False
        _IN_USE.add(self)
        # An engine that is forgotten without `close` leaves no thread behind.
        self._end = weakref.finalize(self, _end, self._calls, self._background, self._resources)

    def run(self, text: str, question: str, *, caller_class: str = "default") -> Digest:
        """Answer a question from a document.

        Args:
            text: The document.
            question: What is asked; an empty one gets a digest of the leading passages.
            caller_class: Whose question it is: one class never sees what another's left in the caches.

        Raises:
            GateRefusedError: Too many ask at once.
            DeadlineError: Nothing of an answer came in time.
            FirstlightError: The language model fails before anything of its answer came.
        """
        with self.stream(text, question, caller_class=caller_class) as stream:
            for _ in stream:
                pass
            return stream.digest

    def stream(self, text: str, question: str, *, caller_class: str = "default") -> DigestStream:
        """Return an iterator of the answer's text as it is written; when it ends, it has the `digest`.

        Nothing is done before the first `next`. Citations are checked when the answer is whole: what is in
        `digest.text` lacks those that point nowhere. See `run` for the arguments and the errors.
        """
        for name, value in (("text", text), ("question", question), ("caller_class", caller_class)):
            if not isinstance(value, str):
                raise TypeError(f"{name} must be a str, not {type(value).__name__}")
        return DigestStream(self._answer(text, question, caller_class))

    def wait_background(self, timeout: float | None = None) -> bool:
        """Return True once nothing is queued and nothing in progress, False after `timeout` seconds."""
        return self._background.wait(timeout)

    def close(self) -> None:
        """End the worker and every call under way, and let go of the caches."""
        self._closed = True
        self._documents.clear()
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_in_child(self) -> None:
        """Begin as idle as a new engine, in a process forked from one whose threads were at work."""
        parts: tuple[Any, ...] = (self._gate, self._calls, self._documents, self._background)
        for part in (*parts, self._retriever.embedding, self._llm):
            if hasattr(part, "begin_in_child"):  # not every language model has it
                part.begin_in_child()

    def _answer(self, text: str, question: str, caller_class: str) -> Generator[str, None, Digest]:
        if self._closed:
            raise FirstlightError("the engine is closed: make another one")
        timings = Timings()
        deadline = Deadline(self._timeout)
        document = self._documents.get(text, caller_class)
        place = Place(self._gate)
        writer = None if self._llm is None else Writer(self._llm, self._calls, deadline, place)
        try:
            asked = self._retriever.ask(document, question, caller_class, deadline=deadline, timings=timings)
            key: DigestKey | None = None
            if self._digests is not None and asked.fingerprint is not None:
                key = asked.key(self._author())
                with timings.step("lookup"):
                    stored = self._digests.get(key, document.text)
                if stored is not None:
                    if stored.text:
                        yield stored.text
                    return self._finished(replace(stored, timings=timings.total()), document)
            found = asked.retrieve(place, writes=self._llm is not None)
            if self._llm is None:
                place.leave()
            digest = Digest(
                text="",
                retrieval=found.way.retrieval,
                embedded=found.embedded,
                total=len(document.chunks),
                passages=found.passages,
                citations=(),
                provisional=found.way.provisional,
                reason=found.way.reason,
                model=self._retriever.model,
                llm=None if self._llm is None else str(self._llm.name),
            )
            if not found.passages:
                key = None
                digest = replace(digest, reason="the document is empty")
            else:
                digest = yield from self._written(digest, question, asked, timings, writer)
            if key is not None and self._digests is not None and not digest.provisional:
                self._digests.put(key, digest)
        finally:
            place.leave()
        return self._finished(replace(digest, timings=timings.total()), document)

    def _written(
        self, digest: Digest, question: str, asked: Asked, timings: Timings, writer: Writer | None
    ) -> Generator[str, None, Digest]:
        """Yield the answer from a digest's passages, and return the digest with it."""
        if writer is None:
            from firstlight.digest.extract import extract  # noqa: PLC0415  # where it is needed

            with timings.step("llm"):
                text, citations = extract(question, digest.passages)
            yield text
            reason = f"{digest.reason}; there is no language model: these are its best sentences, verbatim"
            return replace(digest, text=text, citations=citations, reason=reason)
        with timings.step("llm"):
            return (yield from writer.write(digest, question, asked.fewer))

    def _author(self) -> str:
        """Return who writes, as digests are kept by it."""
        if self._llm is not None:
            return str(self._llm.name)
        from firstlight.digest.extract import VERSION  # noqa: PLC0415

        return f"extract {VERSION}"

    def _finished(self, digest: Digest, document: LongText) -> Digest:
        if _log.isEnabledFor(logging.DEBUG):  # the hash is not for nothing
            _log.debug(
                "document %s: %s, %d of %d chunks embedded, %d passages, %.3f s",
                document.content_hash.hex()[:12],
                digest.retrieval,
                digest.embedded,
                digest.total,
                len(digest.passages),
                digest.timings["total"],
            )
        return digest

    def _made(self, url: str, make: Any) -> Llm:
        client: Llm = make(url)
        self._close_later(client)
        return client

    def _close_later(self, made: object) -> None:
        close = getattr(made, "close", None)  # not every language model, nor embedder, has one
        if close is not None:
            self._resources.callback(close)


def _after_fork_in_child() -> None:
    for engine in list(_IN_USE):
        engine.begin_in_child()


os.register_at_fork(after_in_child=_after_fork_in_child)


def _end(calls: Calls, background: Background, resources: ExitStack) -> None:
    calls.close()
    background.stop()
    resources.close()


def _chat_client(url: str) -> Llm:
    from firstlight.digest.llm import ChatClient  # noqa: PLC0415  # an extra

    return ChatClient(url)


def _open_caches(path: Path | None) -> tuple[DigestCache | None, Any]:
    """Return the cache of digests and, beside it, that of vectors; nothing is made yet."""
    if path is None:
        return None, None
    from firstlight.digest.cache import DigestCache  # noqa: PLC0415
    from firstlight.embed.cache import VectorCache  # noqa: PLC0415

    digests = DigestCache(path)
    digests.check()
    return digests, VectorCache(path.with_name(f"{path.stem}.vectors{path.suffix}"))
