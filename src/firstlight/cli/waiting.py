"""A sign of life on stderr, for a person who has waited for more than a second."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Self

from firstlight.cli.terminal import is_terminal

if TYPE_CHECKING:
    from rich.status import Status

__all__ = ["PATIENCE", "Waiting"]

PATIENCE = 1.0  # seconds


class Waiting:
    """Says what is waited for, on a terminal only, until `end`; leaves nothing behind.

    Args:
        what: What is waited for.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._status: Status | None = None
        self._lock = threading.Lock()
        self._ended = not is_terminal(sys.stderr)
        self._timer = threading.Timer(PATIENCE, self._draw)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if not self._ended:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Say nothing more: what was waited for is there."""
        with self._lock:
            self._ended = True
            self._timer.cancel()
            if self._status is not None:
                self._status.stop()
                self._status = None

    def _draw(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._ended:
                self._status = Console(stderr=True).status(self._what)
                self._status.start()
