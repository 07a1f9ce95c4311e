"""The vectors of questions: remembered, else made in time or not at all, by a provider that does not fail."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from firstlight.embed.batches import batches
from firstlight.embed.calls import ask, ask_in_halves, limits_of, windows_of
from firstlight.embed.health import Health
from firstlight.embed.inputs import input_hash
from firstlight.embed.unit import mean
from firstlight.errors import EmbeddingError, FirstlightError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from firstlight.embed.cache import VectorCache
    from firstlight.embed.types import Embedder, Vectors

    Vector: TypeAlias = NDArray[np.float32]

_Key: TypeAlias = tuple[str, bytes]
_REMEMBERED = 256
# Calls that have not come back, waited for or given up: each holds a thread.
_MAX_CALLS = 64


class QuestionEmbedder:
    """Embeds questions while somebody waits; safe to share between threads.

    Args:
        embedder: The model.
        cache: Where vectors are kept.
        timeout: How long an answer is waited for, in seconds; a later one still goes into the cache. None for
            a model in this process, which works in the caller's own thread.
        caller_class: Whose the questions are.
        clock: Seconds, as `time.monotonic`.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        cache: VectorCache | None,
        timeout: float | None = None,
        caller_class: str = "default",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder = embedder
        self._cache = cache
        self._timeout = timeout
        self._caller_class = caller_class
        self._lock = threading.Lock()
        self._remembered: OrderedDict[_Key, Vector] = OrderedDict()
        self._calls: dict[_Key, _Call] = {}
        self._health = Health(clock)

    def embed(self, text: str) -> Vector:
        """Return float32[d], read-only and of unit length; of a question in several windows, their mean.

        Raises:
            EmbeddingError: There is none now; the message says why, and never holds the question.
        """
        key = (self._embedder.fingerprint, input_hash(text))
        vector = self._recalled(key)
        if vector is not None:
            return vector
        call, is_new = self._joined(key)
        if is_new and self._timeout is None:
            self._run(call, key, text)
        elif is_new:
            threading.Thread(target=self._run, args=(call, key, text), daemon=True).start()
        if not call.done.wait(self._timeout):
            self._give_up(call)
        if call.vector is not None:
            return call.vector
        # Each who waits gets an error of its own: one object cannot be raised in several threads.
        raise EmbeddingError(str(call.error), kind=call.error.kind)

    def _recalled(self, key: _Key) -> Vector | None:
        with self._lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        if self._cache is None:
            return None
        fingerprint, item = key
        rows = self._cache.get_many(fingerprint, [item], caller_class=self._caller_class, kind="query").get(
            item
        )
        if rows is None or self._embedder.dimensions not in (0, rows.shape[1]):
            return None
        vector = mean(rows)
        with self._lock:
            self._remember(key, vector)
        return vector

    def _joined(self, key: _Key) -> tuple[_Call, bool]:
        """Return the call that asks this already, or a new one; or raise, where nobody is to be asked."""
        with self._lock:
            call = self._calls.get(key)
            if call is None or call.is_given_up:
                self._health.check(self._embedder.name)
            if call is not None:
                return call, False
            if len(self._calls) >= _MAX_CALLS:
                raise EmbeddingError(
                    f"{self._embedder.name} has not answered the last {_MAX_CALLS} questions"
                )
            call = self._calls[key] = _Call()
            return call, True

    def _run(self, call: _Call, key: _Key, text: str) -> None:
        vector: Vector | None = None
        error = EmbeddingError("embedding the question was interrupted")
        try:
            rows = self._made(key[1], text)
            vector = mean(rows)
            self._keep(key[1], rows)
        except EmbeddingError as failure:
            error = failure
        except (FirstlightError, MemoryError) as failure:
            error = EmbeddingError(str(failure) or "there is not enough memory to embed the question")
        finally:
            self._settle(call, key, vector, error)

    def _settle(self, call: _Call, key: _Key, vector: Vector | None, error: EmbeddingError) -> None:
        with self._lock:
            del self._calls[key]
            if vector is not None:
                self._remember(key, vector)
            if not call.is_given_up:  # who answers late does not count as answering
                self._health.note(None if vector is not None else str(error))
            call.vector, call.error = vector, error
            call.done.set()

    def _give_up(self, call: _Call) -> None:
        with self._lock:
            if call.done.is_set() or call.is_given_up:
                return
            call.is_given_up = True
            call.error = EmbeddingError(f"{self._embedder.name} did not answer within {self._timeout:g} s")
            self._health.note(str(call.error))

    def _made(self, item: bytes, text: str) -> Vectors:
        parts = windows_of(self._embedder, item, text)
        calls = batches([parts], limits_of(self._embedder))
        return np.concatenate([self._rows([part.text for part in call]) for call in calls])

    def _rows(self, texts: list[str]) -> Vectors:
        try:
            return ask(self._embedder, texts, "query")
        except EmbeddingError as error:
            if error.kind != "too-large":
                raise
            if len(texts) == 1:
                return ask_in_halves(lambda half: ask(self._embedder, [half], "query"), texts[0], error)
        return np.concatenate([self._rows([text]) for text in texts])

    def _keep(self, item: bytes, rows: Vectors) -> None:
        if self._cache is not None:
            self._cache.put_many(
                self._embedder.fingerprint,
                {item: rows},
                caller_class=self._caller_class,
                kind="query",
                name=str(self._embedder.name),
            )

    def _remember(self, key: _Key, vector: Vector) -> None:
        self._remembered[key] = vector
        if len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)


class _Call:
    """A question on its way; `vector` and `error` are set before `done` is."""

    __slots__ = ("done", "error", "is_given_up", "vector")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.is_given_up = False
        self.vector: Vector | None = None
        self.error = EmbeddingError("the question is being embedded")
