"""The worker: embeds long documents behind the answers, one batch at a time, and lets every answer pass."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from firstlight.digest.deadline import Deadline
from firstlight.digest.gate import GateRefusedError
from firstlight.digest.types import EMBED_BATCH, MAX_DOC_CHUNKS, QUEUE_MAX
from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firstlight.digest.documents import LongText
    from firstlight.digest.embedding import Embedding
    from firstlight.digest.gate import Gate

__all__ = ["Background"]

_REFUSED_SECONDS = 1.0  # before the gate is tried again
_BUSY_SECONDS = 0.1  # before a document is tried again that a question embeds itself just now
_MOST_CHORES = 8

_log = logging.getLogger(__name__)


class _Job(NamedTuple):
    """A document to embed."""

    document: LongText
    caller_class: str

    @property
    def key(self) -> tuple[bytes, str]:
        return self.document.content_hash, self.caller_class

    @property
    def id(self) -> str:
        return self.document.content_hash.hex()[:12]


class Background:
    """One daemon thread, started when there is first something to do.

    Args:
        embedding: The embedder; None where there is none.
        gate: Let in for each batch, like everybody.
        timeout: Seconds that a batch may take.
        refused_seconds: Seconds before a gate that refused is tried again.
    """

    def __init__(
        self,
        embedding: Embedding | None,
        gate: Gate,
        *,
        timeout: float,
        refused_seconds: float = _REFUSED_SECONDS,
    ) -> None:
        self._embedding = embedding
        self._gate = gate
        self._timeout = timeout
        self._refused_seconds = refused_seconds
        self._changed = threading.Condition()
        self._queued: deque[_Job] = deque()
        self._chores: deque[Callable[[], object]] = deque(maxlen=_MOST_CHORES)
        self._current: _Job | None = None
        self._is_busy = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, document: LongText, caller_class: str) -> bool:
        """Queue a document; return False, and warn, where the queue is full. What is queued already stays."""
        job = _Job(document, caller_class)
        with self._changed:
            known = [*self._queued, *([self._current] if self._current else [])]
            if self._stop.is_set() or any(job.key == other.key for other in known):
                return True
            # What the worker takes at once does not wait behind anything.
            is_idle = self._current is None
            if len(self._queued) >= QUEUE_MAX + is_idle:
                _log.warning(
                    "document %s is not embedded: %d wait already; a later question queues it again",
                    job.id,
                    len(self._queued),
                )
                return False
            self._queued.append(job)
            self._wake()
        return True

    def later(self, chore: Callable[[], object]) -> None:
        """Have something small done before the next batch."""
        with self._changed:
            if not self._stop.is_set():
                self._chores.append(chore)
                self._wake()

    def wait(self, timeout: float | None = None) -> bool:
        """Return True once nothing is queued and nothing in progress, False after `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(self._is_idle, timeout)

    def begin_in_child(self) -> None:
        """Begin idle: the thread, and what it had to do, stayed in the parent."""
        self._changed = threading.Condition()
        self._queued.clear()
        self._chores.clear()
        self._current, self._is_busy, self._thread = None, False, None

    def stop(self, *, within: float = 2.0) -> None:
        """End the thread, drop what is queued, and wait for its end for a moment."""
        with self._changed:
            self._stop.set()
            self._queued.clear()
            self._chores.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(within)

    def _is_idle(self) -> bool:
        return not (self._queued or self._chores or self._is_busy)

    def _wake(self) -> None:
        # In a forked child the thread of the parent is not alive.
        if self._thread is None or not self._thread.is_alive():
            self._current, self._is_busy = None, False
            self._thread = threading.Thread(target=self._run, name="firstlight-digest", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._embed(job)
            finally:
                self._done()

    def _next(self) -> _Job | None:
        """Return the next document, chores done; None when it is time to end."""
        while True:
            self._do_chores()
            with self._changed:
                self._changed.wait_for(lambda: self._stop.is_set() or self._chores or self._queued)
                if self._stop.is_set():
                    return None
                if not self._chores:
                    self._current, self._is_busy = self._queued.popleft(), True
                    return self._current

    def _done(self) -> None:
        with self._changed:
            self._current, self._is_busy = None, False
            self._changed.notify_all()

    def _do_chores(self) -> None:
        while True:
            with self._changed:
                if not self._chores:
                    return
                chore = self._chores.popleft()
                was_busy, self._is_busy = self._is_busy, True
            try:
                chore()
            except (FirstlightError, MemoryError) as error:
                _log.warning("%s", type(error).__name__)
            finally:
                with self._changed:
                    self._is_busy = was_busy
                    self._changed.notify_all()

    def _embed(self, job: _Job) -> None:
        try:
            self._embed_all(job)
        except (FirstlightError, MemoryError) as error:
            if not self._stop.is_set():
                _log.warning("the rest of document %s is not embedded: %s", job.id, error)

    def _embed_all(self, job: _Job) -> None:
        embedding, hashes = self._embedding, job.document.hashes
        if embedding is None:
            return
        found = embedding.known(hashes, job.caller_class)
        waiting = embedding.missing(hashes, found, job.caller_class)[:MAX_DOC_CHUNKS]
        for first in range(0, len(waiting), EMBED_BATCH):
            self._do_chores()
            batch = [hashes[place] for place in waiting[first : first + EMBED_BATCH]]
            items = [
                (item, job.document.texts[place])
                for item, place in zip(batch, waiting[first : first + EMBED_BATCH], strict=True)
            ]
            while not self._stop.is_set() and not self._embed_batch(job, items):
                pass
            if self._stop.is_set():
                return
        _log.debug("document %s: %d chunks embedded", job.id, len(waiting))

    def _embed_batch(self, job: _Job, items: list[tuple[bytes, str]]) -> bool:
        """Embed a batch; False where the gate refused or a question embeds the document just now."""
        embedding = self._embedding
        assert embedding is not None  # noqa: S101  # asked before
        try:
            self._gate.acquire(stop=self._stop)
        except GateRefusedError:
            self._stop.wait(self._refused_seconds)
            return False
        try:
            if self._stop.is_set():
                return False
            with embedding.turn(job.document.content_hash, job.caller_class, within=0) as is_ours:
                if is_ours:
                    deadline = Deadline(self._timeout)
                    embedding.documents(items, job.caller_class, until=deadline, found={})
                    return True
        finally:
            self._gate.release()
        self._stop.wait(_BUSY_SECONDS)
        return False
