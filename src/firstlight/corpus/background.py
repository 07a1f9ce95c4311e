"""Embedding behind the answers: a thread of this process, or the foreground where somebody waits for it."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from typing import TYPE_CHECKING
from weakref import WeakSet

from firstlight.corpus.tenure import LeaseLostError, is_there, leased
from firstlight.corpus.worker import embed_pending, how_far, record
from firstlight.errors import ConfigError, EmbeddingError, FirstlightError
from firstlight.store import lease
from firstlight.store.documents import count_documents
from firstlight.store.embedders import SERVING, read_embedders, set_trouble
from firstlight.store.vectors import count_vectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.corpus.tenure import Tenure
    from firstlight.corpus.worker import Step

    Tell = Callable[[Step], object]

# How long a provider that takes nothing now is left alone: doubled each time, up to the longest.
_FIRST_PAUSE = 5.0
_LONGEST_PAUSE = 300.0
# How often somebody who waits looks, and a worker whether another has ended.
_LOOK_SECONDS = 0.1
# How long a worker that was told to stop is waited for: what it is doing is lost, what is finished is not.
# Python ends a process by ending its threads wherever they are, which the runtime of a model does not
# survive: it is let out of the text that it is at.
_STOP_SECONDS = 3.0


def pending(site: Site, embedding: Embedding) -> int:
    """Return how many chunks wait for a vector of this embedder; 1 while it waits for its floor alone."""
    if not site.database.exists():
        return 0
    with site.database.read() as connection:
        row = read_embedders(connection).get(SERVING)
        if row is None or not embedding.made(row):
            return count_documents(connection)[1]
        counts = count_vectors(connection, row.id)
        return counts.waiting or int(counts.embedded > 0 and row.floor is None)


def embed_now(site: Site, embedding: Embedding, progress: Tell | None = None) -> None:
    """Embed all that waits, in the caller's thread; an interruption keeps what is finished.

    Where another worker is embedding, it is waited for; where that one waits for its provider, it has to go.

    Raises:
        EmbeddingError: The embedder takes no more now; `status` tells why, too.
        LeaseLostError: Somebody stopped the embedding.
    """
    stop = threading.Event()
    while pending(site, embedding):
        with leased(site, stop) as held:
            if held is not None:
                _embed(site, embedding, held, stop, progress)
                if stop.is_set():
                    raise LeaseLostError("the embedding was stopped; what is finished is kept")
                return
        _watch(site, progress)
        time.sleep(_LOOK_SECONDS)


def _watch(site: Site, progress: Tell | None) -> None:
    """Tell how far another worker is, or end it where it cannot go on."""
    with site.database.read() as connection:
        row = read_embedders(connection).get(SERVING)
        step = None if row is None else how_far(connection, row)
    if row is not None and row.trouble is not None:
        stop_all(site)
    elif step is not None and progress is not None:
        progress(step)


def run(site: Site, embedding: Embedding, stop: threading.Event, *, progress: Tell | None = None) -> None:
    """Embed until nothing waits or `stop` is set; a provider that is down is waited for.

    Where another worker has the lease, nothing is done until it ends.

    Raises:
        ConfigError: The embedder cannot be had, or the index has another one's vectors.
        EmbeddingError: It takes nothing more, however long one waits; `status` tells why, too.
        LeaseLostError: The lease went to another, or was taken back.
    """
    while not stop.is_set() and is_there(site) and pending(site, embedding):
        with site.database.read() as connection:
            is_held = lease.read(connection).live
        if not is_held:
            with leased(site, stop) as held:
                if held is not None:
                    _embed_patiently(site, embedding, held, stop, progress)
                    return
        stop.wait(_LOOK_SECONDS)


def _embed_patiently(
    site: Site, embedding: Embedding, held: Tenure, stop: threading.Event, progress: Tell | None
) -> None:
    """Embed, and try again where that may help; the lease stays ours, so that nobody else tries too."""
    pause = _FIRST_PAUSE
    while not stop.is_set():
        try:
            _embed(site, embedding, held, stop, progress)
        except EmbeddingError as error:
            if error.kind != "unavailable":
                raise
            stop.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        else:
            return


def _embed(
    site: Site, embedding: Embedding, held: Tenure, stop: threading.Event, progress: Tell | None
) -> None:
    """Embed; why it cannot go on is recorded."""
    try:
        embed_pending(site, embedding, held, stop=stop, progress=progress)
    except (ConfigError, EmbeddingError) as error:
        with site.database.write() as connection:
            held.check(connection)
            row = read_embedders(connection).get(SERVING)
            if row is None:  # its fingerprint is not known yet; the first vectors will be of another row
                row = record(connection, embedding, "", SERVING)
            if row.spec == embedding.spec:  # another's trouble is not this one's
                set_trouble(connection, row.id, str(error))
        raise


_MADE: WeakSet[Background] = WeakSet()


@atexit.register
def _stop_all() -> None:
    for each in list(_MADE):
        each.stop()


class Background:
    """The worker thread of one corpus object; it begins when there is something to do, and ends after it."""

    def __init__(self, site: Site, embedding: Embedding, progress: Tell) -> None:
        self._site = site
        self._embedding = embedding
        self._progress = progress
        self._stop = threading.Event()
        self._closed = False
        self._failure: FirstlightError | None = None
        self._is_asked = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        _MADE.add(self)

    def start(self, *, again: bool = False) -> None:
        """Begin, unless it runs already.

        Args:
            again: Also where it ended with a failure, or somebody stopped it.
        """
        with self._lock:
            self._is_asked = True
            if self._closed or (self._thread is not None and self._thread.is_alive()):
                return
            if self._failure is not None and not again:
                return
            self._failure = None
            self._stop = threading.Event()  # of this run alone: it also ends with the lease
            self._thread = threading.Thread(
                target=self._run, args=(self._stop,), name="firstlight-embedding", daemon=True
            )
            self._thread.start()

    def wait(self, timeout: float | None) -> bool:
        """Return True as soon as nothing waits for a vector, False after `timeout` seconds or a failure.

        Raises:
            ConfigError: The embedder cannot be had, or the index has another one's vectors.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        again = True
        while pending(self._site, self._embedding):
            left = _LOOK_SECONDS if deadline is None else deadline - time.monotonic()
            if self._closed or left <= 0 or not is_there(self._site):
                return False
            self.start(again=again)
            again = False
            thread, stop = self._thread, self._stop
            if thread is None:  # over by now
                stop.wait(_LOOK_SECONDS / 10)
            else:
                thread.join(min(left, _LOOK_SECONDS))
            if isinstance(self._failure, ConfigError):
                raise self._failure
            if self._failure is not None or stop.is_set():
                return not pending(self._site, self._embedding)
        return True

    def stop(self) -> None:
        """End it for good; what is finished is kept."""
        with self._lock:
            self._closed = True
            thread = self._thread
        self._stop.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_STOP_SECONDS)

    def _run(self, stop: threading.Event) -> None:
        try:
            while self._goes_on(stop):
                run(self._site, self._embedding, stop, progress=self._progress)
        except FirstlightError as error:  # `status`, or the user's next call, tells of it
            self._failure = error
        except BaseException as error:  # noqa: BLE001  # whatever it is, it would come again at once
            # Of an embedder that is anybody's object; its message may hold the text of a document.
            kind = type(error).__name__
            logging.getLogger(__name__).warning("the embedding ended with %s", kind)
            self._failure = EmbeddingError(f"the embedding ended with {kind}")

    def _goes_on(self, stop: threading.Event) -> bool:
        """Whether somebody asked since the last time; from False on, the next who asks begins anew."""
        with self._lock:
            is_asked, self._is_asked = self._is_asked, False
            if stop.is_set():
                self._failure = LeaseLostError("the embedding was stopped; what is finished is kept")
            elif is_asked:
                return True
            self._thread = None
            return False


def stop_all(site: Site) -> bool:
    """Take the lease from whoever holds it, in whatever process; return whether somebody did."""
    if not site.database.exists():
        return False
    with site.database.write() as connection:
        was_live = lease.read(connection).live
        lease.revoke(connection)
    return was_live
