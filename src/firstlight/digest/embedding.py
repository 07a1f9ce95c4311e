"""The embedder of an engine: what it is, the vectors that it made, and calls of it that end in time."""

from __future__ import annotations

import copy
import os
import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from firstlight.corpus.embedding import VARIABLE, embedder_of, spec_of
from firstlight.embed.embedding import embed_documents
from firstlight.embed.installed import local_is_installed
from firstlight.embed.question import QuestionEmbedder
from firstlight.embed.spec import Spec
from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from firstlight.digest.deadline import Calls, Deadline
    from firstlight.embed.cache import VectorCache
    from firstlight.embed.types import Embedder

    Vector: TypeAlias = NDArray[np.float32]
    Vectors: TypeAlias = NDArray[np.float32]
    # float32[windows, d] by the hash of a chunk's text.
    Found: TypeAlias = dict[bytes, Vectors]

__all__ = ["DEFAULT", "Embedding", "open_embedder"]

# An embedder that is not given: the local one where it is installed, else none.
DEFAULT: Final[Any] = object()
# Classes of callers whose questions are remembered, and texts that no model takes.
_MOST_CLASSES = 64
_MOST_FAILED = 10_000


def open_embedder(given: str | Embedder | None) -> Embedder | None:
    """Return the embedder that is given: a spec, an object, None, or `DEFAULT`.

    Raises:
        ConfigError: What is named cannot be had.
    """
    if given is None or not (given is DEFAULT or isinstance(given, str)):
        return given
    named = os.environ.get(VARIABLE) if given is DEFAULT else given
    if not named and given is DEFAULT:
        spec = Spec("local" if local_is_installed() else "none", "")
    else:
        spec = spec_of(named or "")
    return embedder_of(spec)


class Embedding:
    """An embedder in use, with the vectors that it made; thread-safe.

    Args:
        embedder: The model.
        cache: Where vectors are kept; None keeps none.
        calls: What makes calls that end in time.
        question_timeout: Seconds after which a question that is not embedded counts as a failure.
    """

    def __init__(
        self, embedder: Embedder, *, cache: VectorCache | None, calls: Calls, question_timeout: float
    ) -> None:
        self.embedder = embedder
        self.cache = cache
        self._calls = calls
        self._question_timeout = question_timeout
        self._lock = threading.Lock()
        self._questions: OrderedDict[str, QuestionEmbedder] = OrderedDict()
        self._failed: OrderedDict[tuple[str, str, bytes], None] = OrderedDict()
        self._turns: dict[tuple[bytes, str], tuple[threading.Lock, list[None]]] = {}

    @property
    def name(self) -> str:
        """What a person calls the model."""
        return str(self.embedder.name)

    def begin_in_child(self) -> None:
        """Begin with free locks, and nobody's turn: the threads that held them stayed in the parent."""
        self._lock = threading.Lock()
        self._questions.clear()
        self._turns.clear()

    def knows(self, text: str, language: str) -> bool:
        """Tell whether the model knows what a document is written in."""
        from firstlight.corpus.languages import is_known  # noqa: PLC0415

        return is_known(text, language, self.embedder.languages)

    def fingerprint(self) -> str:
        """Return what makes its vectors comparable.

        Raises:
            EmbeddingError: It cannot be told now.
        """
        return str(self.embedder.fingerprint)

    def known(self, hashes: Sequence[bytes], caller_class: str) -> Found:
        """Return the vectors that are kept, those of each text's windows, by its hash.

        Raises:
            EmbeddingError: The embedder does not tell which are its own.
        """
        if self.cache is None:
            return {}
        kept = self.cache.get_many(self.fingerprint(), hashes, caller_class=caller_class)
        length = self.embedder.dimensions
        return {item: rows for item, rows in kept.items() if length in (0, rows.shape[1])}

    def missing(self, hashes: Sequence[bytes], found: Found, caller_class: str) -> list[int]:
        """Return which texts lack a vector, by position; not those that the model has refused for good."""
        fingerprint = self.fingerprint()
        with self._lock:
            return [
                place
                for place, item in enumerate(hashes)
                if item not in found and (fingerprint, caller_class, item) not in self._failed
            ]

    def question(self, text: str, caller_class: str, *, until: Deadline) -> Vector:
        """Return a question's vector.

        Raises:
            EmbeddingError: There is none.
            DeadlineError: There is none in time.
        """
        with self._lock:
            if caller_class not in self._questions:
                self._questions[caller_class] = QuestionEmbedder(
                    self.embedder,
                    cache=self.cache,
                    timeout=self._question_timeout,
                    caller_class=caller_class,
                )
            embedder = self._questions[caller_class]
            self._questions.move_to_end(caller_class)
            if len(self._questions) > _MOST_CLASSES:
                self._questions.popitem(last=False)
        return self._calls.run(lambda _: embedder.embed(text), within=until.left())

    def documents(
        self, items: Sequence[tuple[bytes, str]], caller_class: str, *, until: Deadline, found: Found
    ) -> None:
        """Put the vectors of texts into the cache and into `found`, as they are made.

        Args:
            items: Each text's hash, and the text.
            caller_class: Whose they are.
            until: When to give up.
            found: By hash; what is finished is in it however this ends.

        Raises:
            EmbeddingError: Not all could be embedded.
            DeadlineError: Not all were embedded in time.
        """
        made: Found = {}
        fingerprint = self.fingerprint()
        try:
            self._calls.run(
                lambda stop: self._embed(items, caller_class, fingerprint, stop, made), within=until.left()
            )
        finally:
            found.update(made.copy())  # in one step: a call that is left behind may still add to it

    @contextmanager
    def turn(self, content_hash: bytes, caller_class: str, *, within: float) -> Iterator[bool]:
        """Have a document's vectors made by one at a time, so that none is made twice.

        Args:
            content_hash: The document's.
            caller_class: Whose vectors.
            within: The seconds to wait for it.

        Yields:
            Whether it is the caller's turn.
        """
        key = (content_hash, caller_class)
        with self._lock:
            lock, users = self._turns.setdefault(key, (threading.Lock(), []))
            users.append(None)
        is_ours = False
        try:
            is_ours = lock.acquire(timeout=within)
            yield is_ours
        finally:
            if is_ours:
                lock.release()
            with self._lock:
                users.pop()
                if not users:
                    del self._turns[key]

    def _embed(
        self,
        items: Sequence[tuple[bytes, str]],
        caller_class: str,
        fingerprint: str,
        stop: threading.Event,
        made: Found,
    ) -> None:
        outcomes = embed_documents(
            _stoppable(self.embedder, stop),
            ((number, text) for number, (_, text) in enumerate(items)),
            cache=self.cache,
            caller_class=caller_class,
            stop=stop.is_set,
        )
        for portion in outcomes:
            for outcome in portion:
                item = items[outcome.key][0]
                if outcome.vectors is not None:
                    made[item] = outcome.vectors
                elif outcome.reason is not None:
                    self._give_up((fingerprint, caller_class, item))
        if stop.is_set():
            raise EmbeddingError("embedding was stopped")

    def _give_up(self, key: tuple[str, str, bytes]) -> None:
        with self._lock:
            self._failed[key] = None
            if len(self._failed) > _MOST_FAILED:
                self._failed.popitem(last=False)


def _stoppable(embedder: Embedder, stop: threading.Event) -> Embedder:
    """Return the embedder such that `stop` ends its calls, where it can be told so at all.

    Those over HTTP read their attribute `stop` before each wait; a copy shares everything else with them.
    """
    if not hasattr(embedder, "stop"):
        return embedder
    copied = copy.copy(embedder)
    copied.stop = stop
    return copied
