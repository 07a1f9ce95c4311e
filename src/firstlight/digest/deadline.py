"""How much time is left, and calls that end with it."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firstlight.errors import FirstlightError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

__all__ = ["Calls", "Deadline", "DeadlineError"]

_T = TypeVar("_T")
# Calls that were given up and have not come back: each holds a thread, and there must be no end of them.
_MOST_LEFT_BEHIND = 32


class DeadlineError(FirstlightError):
    """The time that a run may take has passed."""


class Deadline:
    """A point in time.

    Args:
        seconds: How far it is away.
        clock: Seconds, as `time.monotonic`.

    Attributes:
        seconds: How far it was away at first.
    """

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._ends = clock() + seconds

    def left(self) -> float:
        """Return the seconds that are left, 0 or more."""
        return max(self._ends - self._clock(), 0.0)

    def part(self, share: float) -> Deadline:
        """Return an earlier one: that share of the whole time, counted from the same beginning."""
        earlier = Deadline(self.seconds * share, clock=self._clock)
        earlier._ends = self._ends - self.seconds * (1 - share)
        return earlier


class _Call(Generic[_T]):
    """A function in a thread of its own, which is told by `stop` that nobody waits for it any more."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self.stop = threading.Event()
        self.done = threading.Event()
        self.ended = ended
        self.results: list[_T] = []
        self.error: BaseException | None = None

    def end(self, error: BaseException | None) -> None:
        """Let go who waits; what ends a call first is what it came to."""
        if not self.done.is_set():
            self.error = error
            self.done.set()
            self.ended()

    def result(self) -> _T:
        if self.error is not None:
            raise self.error
        return self.results[0]


class Calls:
    """Makes calls that may never come back: who waits is let go in time, and the call told to end.

    Nothing is left behind of a call that heeds its `stop`. Of those that do not, no more than `most` are
    waited for by nobody; then no new ones are made.
    """

    def __init__(self, *, most: int = _MOST_LEFT_BEHIND) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._left_behind: set[_Call[Any]] = set()
        self._running: set[_Call[Any]] = set()
        self._closed = False

    @property
    def running(self) -> int:
        """How many calls have not come back."""
        return len(self._running)

    def run(self, action: Callable[[threading.Event], _T], *, within: float) -> _T:
        """Return what `action` does, or raise what it raises.

        Args:
            action: Gets an event that is set when it should end.
            within: The seconds that it may take.

        Raises:
            DeadlineError: It has not come back in time.
        """
        call = self._begin(action, lambda: None)
        has_ended = False
        try:
            has_ended = call.done.wait(within)
        finally:  # Ctrl-C too
            if not has_ended:
                self._leave_behind(call)
        if not has_ended:
            raise DeadlineError(f"no answer within {within:.3g} s")
        return call.result()

    def stream(
        self, make: Callable[[threading.Event], Iterator[_T]], *, until: Deadline
    ) -> Generator[_T, None, None]:
        """Yield what the iterator yields that `make` returns, as it comes.

        Raises:
            DeadlineError: It has not ended in time.
        """
        came: SimpleQueue[list[_T]] = SimpleQueue()

        def pump(stop: threading.Event) -> None:
            items = make(stop)
            try:
                for item in items:
                    if stop.is_set():
                        return
                    came.put([item])
            finally:
                with suppress(AttributeError):  # only generators need to be closed
                    items.close()  # type: ignore[attr-defined]

        call = self._begin(pump, lambda: came.put([]))
        try:
            while True:
                try:
                    items = came.get(timeout=until.left())
                except Empty:
                    raise DeadlineError(f"no whole answer within {until.seconds:g} s") from None
                if not items:
                    break
                yield items[0]
        except BaseException:  # GeneratorExit and Ctrl-C too
            self._leave_behind(call)
            raise
        call.result()

    def begin_in_child(self) -> None:
        """Forget the calls of the process that this one was forked from: their threads stayed there."""
        self._lock = threading.Lock()
        self._left_behind, self._running = set(), set()

    def close(self) -> None:
        """Tell every call to end, let go who waits, and make no new ones."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for call in running:
            call.stop.set()
            call.end(DeadlineError("the engine was closed"))

    def _begin(self, action: Callable[[threading.Event], _T], ended: Callable[[], None]) -> _Call[_T]:
        call: _Call[_T] = _Call(ended)
        with self._lock:
            if self._closed:
                raise DeadlineError("the engine is closed")
            if len(self._left_behind) >= self._most:
                raise DeadlineError(f"the last {self._most} calls have not come back")
            self._running.add(call)
        thread = threading.Thread(target=self._do, args=(call, action), name="firstlight-call", daemon=True)
        try:
            thread.start()
        except BaseException:
            self._forget(call)
            raise
        return call

    def _do(self, call: _Call[_T], action: Callable[[threading.Event], _T]) -> None:
        error: BaseException | None = None
        try:
            call.results.append(action(call.stop))
        except BaseException as raised:  # noqa: BLE001  # raised again where the call was made
            error = raised
        self._forget(call)
        call.end(error)

    def _leave_behind(self, call: _Call[_T]) -> None:
        call.stop.set()
        with self._lock:
            if call in self._running:
                self._left_behind.add(call)

    def _forget(self, call: _Call[_T]) -> None:
        with self._lock:
            self._running.discard(call)
            self._left_behind.discard(call)
