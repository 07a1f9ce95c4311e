"""Embedding behind the answers: a thread of this process, or the foreground where somebody waits for it."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from firstlight.corpus.tenure import LeaseLostError, leased
from firstlight.corpus.worker import embed_pending
from firstlight.errors import ConfigError, EmbeddingError, FirstlightError, StoreError
from firstlight.store import lease
from firstlight.store.embedders import read_embedders, set_trouble
from firstlight.store.pending import count_pending
from firstlight.store.vectors import count_vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.corpus.worker import Step

# How long a provider that takes nothing now is left alone: doubled each time, up to the longest.
_FIRST_PAUSE = 5.0
_LONGEST_PAUSE = 300.0
# How often somebody who waits looks, and a worker whether another has ended.
_LOOK_SECONDS = 0.1


def pending(site: Site, embedding: Embedding) -> int:
    """Return how many chunks wait for a vector of this embedder; 1 while it waits for its floor alone."""
    if not site.database.exists():
        return 0
    with site.database.read() as connection:
        row = read_embedders(connection).get("serving")
        if row is None or not embedding.made(row):
            return count_pending(connection, 0)[0]
        counts = count_vectors(connection, row.id)
        return counts.waiting or int(counts.embedded > 0 and row.floor is None)


def pending_size(site: Site, embedding: Embedding) -> tuple[int, int]:
    """Return how many chunks wait for a vector, and the bytes of their texts, as far as they are indexed."""
    if not site.database.exists():
        return 0, 0
    with site.database.read() as connection:
        row = read_embedders(connection).get("serving")
        return count_pending(connection, row.id if row is not None and embedding.made(row) else 0)


def embed_now(site: Site, embedding: Embedding, progress: Callable[[Step], object] | None = None) -> None:
    """Embed all that waits, in the caller's thread; an interruption keeps what is finished.

    Raises:
        EmbeddingError: The embedder takes no more now.
        StoreError: Another process is embedding.
    """
    stop = threading.Event()
    with leased(site, stop) as held:
        if held is None:
            raise StoreError(
                f"{site.state}: another process is embedding; `firstlight status` shows how far it is, "
                "and `firstlight background stop` ends it"
            )
        embed_pending(site, embedding, held, stop=stop, progress=progress)
        if stop.is_set():
            raise LeaseLostError("the embedding was stopped; what is finished is kept")


def run(
    site: Site,
    embedding: Embedding,
    stop: threading.Event,
    *,
    progress: Callable[[Step], object] | None = None,
) -> None:
    """Embed until nothing waits, `stop` is set or the lease is lost; a provider that is down is waited for.

    Where another worker has the lease, nothing is done until it ends. Why it cannot go on is recorded, for
    `status` to tell.
    """
    pause = _FIRST_PAUSE
    while not stop.is_set() and pending(site, embedding):
        try:
            with leased(site, stop) as held:
                if held is not None:
                    embed_pending(site, embedding, held, stop=stop, progress=progress)
                    return
            stop.wait(_LOOK_SECONDS)
        except LeaseLostError:
            return
        except (ConfigError, EmbeddingError) as error:
            _record(site, embedding, str(error))
            if not isinstance(error, EmbeddingError) or error.kind != "unavailable":
                return
            stop.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _record(site: Site, embedding: Embedding, trouble: str) -> None:
    with site.database.write() as connection:
        row = read_embedders(connection).get("serving")
        if row is not None and row.spec == embedding.spec:  # another's trouble is not this one's
            set_trouble(connection, row.id, trouble)


class Background:
    """The worker thread of one corpus object; it begins when there is something to do, and ends after it."""

    def __init__(self, site: Site, embedding: Embedding, progress: Callable[[Step], object]) -> None:
        self._site = site
        self._embedding = embedding
        self._progress = progress
        self._stop = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin, unless it runs already."""
        with self._lock:
            if self._closed or (self._thread is not None and self._thread.is_alive()):
                return
            self._stop = threading.Event()  # of this run alone: it also ends with the lease
            self._thread = threading.Thread(
                target=self._run, args=(self._stop,), name="firstlight-embedding", daemon=True
            )
            self._thread.start()

    def wait(self, timeout: float | None) -> bool:
        """Return True as soon as nothing waits for a vector, False after `timeout` seconds or a failure."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while pending(self._site, self._embedding):
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            self.start()
            thread = self._thread
            if thread is not None:
                thread.join(_LOOK_SECONDS if left is None else min(left, _LOOK_SECONDS))
            is_over = thread is None or not thread.is_alive() or self._stop.is_set()
            if is_over and pending(self._site, self._embedding):
                return False
        return True

    def stop(self) -> None:
        """End it for good; what is finished is kept."""
        with self._lock:
            self._closed = True
            thread = self._thread
        self._stop.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(2.0)

    def _run(self, stop: threading.Event) -> None:
        # Where the index is gone or broken, the user's next call says so.
        with suppress(FirstlightError):
            run(self._site, self._embedding, stop, progress=self._progress)


def stop_all(site: Site) -> bool:
    """Take the lease from whoever holds it, in whatever process; return whether somebody did."""
    if not site.database.exists():
        return False
    with site.database.write() as connection:
        was_live = lease.read(connection).live
        lease.revoke(connection)
    return was_live
