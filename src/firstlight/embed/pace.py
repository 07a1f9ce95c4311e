"""One pace for all who call a provider: when one is told to wait, all wait; and questions go before all.

A wait is cut into slices, so that whoever wants to stop is heard within a tenth of a second, however long the
provider said.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

# Whatever a provider says: after a minute it is asked again.
LONGEST = 60.0
# Who was held does not come back in the same instant: within a tenth of the wait, at most a second.
_SPREAD, _LONGEST_SPREAD = 0.1, 1.0
_SLICE = 0.1
# How long a batch lets questions pass before it goes too: questions without end must not starve it.
_GIVE_WAY = 5.0
_GIVE_WAY_SLICE = 0.02


class Pace:
    """When the calls of one embedder may go; shared by its threads.

    Args:
        clock: Seconds, as `time.monotonic`.
        sleep: Waits so many seconds.
        chance: From 0 to 1, as `random.random`.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._lock = threading.Lock()
        self._until = clock()
        self._spread = 0.0
        self._questions = 0

    def hold(self, seconds: float) -> None:
        """Let no batch go for so long, `LONGEST` at most; who waits longer already goes on waiting."""
        seconds = min(max(seconds, 0.0), LONGEST)
        with self._lock:
            until = self._clock() + seconds
            if until > self._until:
                self._until, self._spread = until, min(seconds * _SPREAD, _LONGEST_SPREAD)

    def jittered(self, seconds: float) -> float:
        """Return a half to one and a half of it: who failed together does not come back together."""
        return seconds * (0.5 + self._chance())

    @contextmanager
    def question(self) -> Iterator[None]:
        """While a question is asked, batches that have not gone yet let it pass; it waits for nobody."""
        with self._lock:
            self._questions += 1
        try:
            yield
        finally:
            with self._lock:
                self._questions -= 1

    def wait(self, stop: threading.Event | None = None, *, own: float = 0.0) -> None:
        """Wait until a batch may go.

        Args:
            stop: Ends the waiting, with an EmbeddingError.
            own: Seconds that this caller waits at least, whatever the others do.
        """
        offset = self._chance()
        start = self._clock()
        passed = 0.0
        while True:
            if stop is not None and stop.is_set():
                raise EmbeddingError("embedding was stopped", kind="unavailable")
            with self._lock:
                goes = max(self._until + offset * self._spread, start + min(own, LONGEST))
                gives_way = self._questions > 0 and passed < _GIVE_WAY
            left = goes - self._clock()
            if left > 0:
                self._sleep(min(left, _SLICE))
            elif gives_way:
                passed += _GIVE_WAY_SLICE
                self._sleep(_GIVE_WAY_SLICE)
            else:
                return


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer's headers (names in lower case) ask to wait; None where they do not.

    A date is taken relative to the answer's own, for clocks differ.

    Example:
        >>> retry_after({"retry-after": "7"}), retry_after({"retry-after-ms": "1500"}), retry_after({})
        (7.0, 1.5, None)
        >>> late, now = "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:30 GMT"
        >>> retry_after({"retry-after": late, "date": now})
        7.0
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return seconds
    then = _date(said)
    now = _date(headers.get("date", ""))
    if then is None:
        return None
    return max((then.timestamp() - (now.timestamp() if now else time.time())), 0.0)


def _number(said: str) -> float | None:
    """Return digits, with a point at most, as a number: "nan" and "inf" are none."""
    return float(said) if said.replace(".", "", 1).isascii() and said.replace(".", "", 1).isdigit() else None


def _date(said: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # 15 ms, for the few answers that have a date

    try:
        return parsedate_to_datetime(said) if said else None
    except (OverflowError, ValueError):
        return None
