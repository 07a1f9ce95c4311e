"""The gate: so many at work at once, so many waiting behind them, in the order in which they came."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Literal

from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self, TypeAlias

    Bound: TypeAlias = Literal["queue", "wait", "deadline"]

__all__ = ["Gate", "GateRefusedError", "Place"]

# How long after a stop its caller is let go, at most.
_SLICE = 0.1


class GateRefusedError(FirstlightError):
    """Nobody more can be let in now; a later try may be.

    Args:
        reason: What was hit.
        bound: "queue" (as many wait already as may), "wait" (the longest wait passed) or "deadline" (the
            caller's own time passed before that, or it was stopped).
    """

    def __init__(self, reason: str, *, bound: Bound) -> None:
        super().__init__(reason)
        self.bound: Bound = bound


class Gate:
    """Bounds how many are at work; first come, first served. Thread-safe; may be shared by engines.

    Args:
        active: How many are at work at once.
        queue: How many wait behind them; who comes later is refused at once.
        wait: Seconds after which one who waits is refused.

    Raises:
        ValueError: A bound is out of range.

    Example:
        >>> gate = Gate(active=1, queue=0)
        >>> with gate:
        ...     try:
        ...         gate.acquire()
        ...     except GateRefusedError as error:
        ...         print(error.bound)
        queue
    """

    def __init__(self, active: int = 2, queue: int = 16, wait: float = 10.0) -> None:
        if active < 1 or queue < 0 or not wait >= 0:
            raise ValueError(
                f"a gate needs active >= 1, queue >= 0 and wait >= 0, not {active}, {queue} and {wait}"
            )
        self.active, self.queue, self.wait = active, queue, wait
        self._lock = threading.Lock()
        self._working = 0
        self._waiting: deque[_Ticket] = deque()

    def begin_in_child(self) -> None:
        """Begin empty: who was at work or waited is in the process that this one was forked from."""
        self._lock = threading.Lock()
        self._working = 0
        self._waiting.clear()

    def __repr__(self) -> str:
        return f"Gate(active={self.active}, queue={self.queue}, wait={self.wait})"

    @property
    def working(self) -> int:
        """How many are at work."""
        return self._working

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self, *, within: float | None = None, stop: threading.Event | None = None) -> None:
        """Wait to be let in; who is let in has to `release`.

        Args:
            within: The seconds that the caller itself has; the gate's own `wait` holds as well.
            stop: Ends the waiting.

        Raises:
            GateRefusedError: A bound was hit; it says which.
        """
        with self._lock:
            if self._working < self.active and not self._waiting:
                self._working += 1
                return
            if len(self._waiting) >= self.queue:
                raise GateRefusedError(
                    f"busy: {self._working} at work and {len(self._waiting)} waiting, and no more may wait; "
                    "try again later",
                    bound="queue",
                )
            ticket = _Ticket()
            self._waiting.append(ticket)
        try:
            self._wait(ticket, within, stop)
        except BaseException:  # Ctrl-C too
            self._leave(ticket)
            raise

    def release(self) -> None:
        """Let the next in."""
        with self._lock:
            self._pass_on()

    def _wait(self, ticket: _Ticket, within: float | None, stop: threading.Event | None) -> None:
        seconds = self.wait if within is None else min(self.wait, within)
        ends = time.monotonic() + seconds
        while not ticket.is_let_in.wait(self._slice(ends, stop)):
            is_stopped = stop is not None and stop.is_set()
            if is_stopped or time.monotonic() >= ends:
                with self._lock:
                    if ticket.is_let_in.is_set():
                        return  # in the last moment
                bound: Bound = "wait" if seconds == self.wait and not is_stopped else "deadline"
                raise GateRefusedError(
                    f"busy: waited {seconds:g} s behind {self.active} at work; try again later", bound=bound
                )

    @staticmethod
    def _slice(ends: float, stop: threading.Event | None) -> float:
        left = max(ends - time.monotonic(), 0.0)
        return left if stop is None else min(left, _SLICE)

    def _leave(self, ticket: _Ticket) -> None:
        with self._lock:
            if ticket.is_let_in.is_set():
                self._pass_on()
            else:
                self._waiting.remove(ticket)

    def _pass_on(self) -> None:
        """Hand the place to who waits for longest: nobody who comes just now can take it."""
        if self._waiting:
            self._waiting.popleft().is_let_in.set()
        else:
            self._working = max(self._working - 1, 0)  # in a forked child it may be the parent's that ends


class Place:
    """A place at a gate that is taken once and left once, by whichever thread is first."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._lock = threading.Lock()
        self._is_taken = False

    def take(self, *, within: float) -> None:
        """Wait for it, unless it is taken already.

        Raises:
            GateRefusedError: There is none.
        """
        if not self._is_taken:
            self._gate.acquire(within=within)
            self._is_taken = True

    def leave(self) -> None:
        """Leave it, where it is taken."""
        with self._lock:
            was_taken, self._is_taken = self._is_taken, False
        if was_taken:
            self._gate.release()


class _Ticket:
    """One who waits."""

    __slots__ = ("is_let_in",)

    def __init__(self) -> None:
        self.is_let_in = threading.Event()
