"""The right to embed for one corpus, held and kept alive by one worker at a time."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from firstlight.errors import FirstlightError, StoreError
from firstlight.store import lease

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from firstlight.corpus.site import Site

# A holder that has not been heard of for so long is taken for dead; it tells every so often that it is not.
LEASE_SECONDS = 10.0
BEAT_SECONDS = 0.5
# A rate is told over the last so many seconds.
_RATE_SECONDS = 30.0


class LeaseLostError(FirstlightError):
    """The lease went to another, or was taken back: what is not committed yet is not ours to commit."""


@contextmanager
def leased(site: Site, stop: threading.Event) -> Iterator[Tenure | None]:
    """Hold the lease while the block runs; None where another holds it.

    A thread of its own renews it, and sets `stop` when the lease, the index or the folder is gone.
    """
    with site.database.write() as connection:
        token = lease.take(connection, lease.this_process(), seconds=LEASE_SECONDS)
    if token is None:
        yield None
        return
    held = Tenure(site, token, stop)
    beat = threading.Thread(target=held.keep, name="firstlight-lease", daemon=True)
    beat.start()
    try:
        yield held
    finally:
        held.let_go()
        beat.join()


class Tenure:
    """The right to embed for one corpus, kept alive."""

    def __init__(self, site: Site, token: int, stop: threading.Event) -> None:
        self.token = token
        self._site = site
        self._stop = stop
        self._over = threading.Event()
        self._done: list[tuple[float, int]] = [(time.monotonic(), 0)]

    def check(self, connection: sqlite3.Connection) -> None:
        """Refuse a commit by who holds the lease no more: the fence."""
        if not lease.holds(connection, self.token):
            self._stop.set()
            raise LeaseLostError("the embedding goes on elsewhere, or was stopped")

    def count(self, chunks: int) -> float:
        """Take note of so many more chunks; return how many a second there are."""
        now = time.monotonic()
        self._done.append((now, self._done[-1][1] + chunks))
        while len(self._done) > 2 and self._done[1][0] < now - _RATE_SECONDS:
            self._done.pop(0)
        return self.rate

    @property
    def rate(self) -> float:
        """How many chunks a second were embedded of late."""
        (begun, before), (ended, after) = self._done[0], self._done[-1]
        return (after - before) / (ended - begun) if ended > begun else 0.0

    def keep(self) -> None:
        """Renew the lease until it is let go, lost, or has nothing left to be held for."""
        while not self._over.wait(BEAT_SECONDS):
            if not self._renewed():
                self._stop.set()
                return

    def let_go(self) -> None:
        """Give the lease back; nobody is told where the index itself is gone."""
        self._over.set()
        if is_there(self._site):
            try:
                with self._site.database.write() as connection:
                    lease.release(connection, self.token)
            except StoreError:
                return

    def _renewed(self) -> bool:
        if not is_there(self._site):
            return False
        try:
            with self._site.database.write() as connection:
                return lease.renew(connection, self.token, seconds=LEASE_SECONDS, rate=self.rate)
        except StoreError:
            return False


def is_there(site: Site) -> bool:
    """Whether the folder and its index still exist."""
    return os.path.isdir(site.root) and site.database.exists()  # noqa: PTH112  # a string
