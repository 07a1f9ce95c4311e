from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from firstlight.embed.pace import LONGEST, Pace, retry_after
from firstlight.errors import EmbeddingError


@dataclass
class Clock:
    """Time that passes only while somebody sleeps."""

    now: float = 1000.0
    longest: float = 0.0
    at: dict[float, threading.Event] = field(default_factory=dict)

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.longest = max(self.longest, seconds)
        self.now += seconds
        for moment, event in self.at.items():
            if self.now >= moment:
                event.set()

    def pace(self, chance: float = 0.0) -> Pace:
        return Pace(clock=self.read, sleep=self.sleep, chance=lambda: chance)


def test_at_first_nobody_waits() -> None:
    clock = Clock()
    clock.pace().wait()
    assert clock.now == 1000.0


def test_who_comes_after_a_hold_waits_for_its_end() -> None:
    clock = Clock()
    pace = clock.pace()
    pace.hold(7.0)
    pace.wait()
    assert clock.now == pytest.approx(1007.0)


def test_a_shorter_hold_does_not_end_a_longer_one() -> None:
    clock = Clock()
    pace = clock.pace()
    pace.hold(7.0)
    pace.hold(1.0)
    pace.wait()
    assert clock.now == pytest.approx(1007.0)


@pytest.mark.parametrize("asked", [3600.0, 1e12, float("inf")])
def test_nobody_waits_longer_than_a_minute_at_a_stretch(asked: float) -> None:
    clock = Clock()
    pace = clock.pace()
    pace.hold(asked)
    pace.wait(own=asked)
    assert clock.now == pytest.approx(1000.0 + LONGEST)


def test_the_held_come_back_spread_over_a_tenth_of_the_wait() -> None:
    for chance, end in ((0.0, 1005.0), (0.5, 1005.25), (1.0, 1005.5)):
        clock = Clock()
        pace = clock.pace(chance)
        pace.hold(5.0)
        pace.wait()
        assert clock.now == pytest.approx(end)


def test_a_wait_of_ones_own_holds_nobody_else() -> None:
    clock = Clock()
    pace = clock.pace()
    pace.wait(own=3.0)
    assert clock.now == pytest.approx(1003.0)
    pace.wait()
    assert clock.now == pytest.approx(1003.0)


def test_a_stop_ends_a_wait_within_a_tenth_of_a_second() -> None:
    clock, stop = Clock(), threading.Event()
    clock.at[1010.0] = stop
    pace = clock.pace()
    pace.hold(60.0)
    with pytest.raises(EmbeddingError, match="stopped") as error:
        pace.wait(stop)
    assert error.value.kind == "unavailable"
    assert clock.now < 1010.2
    assert clock.longest <= 0.1


def test_a_stop_that_is_there_already_lets_nobody_go() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(EmbeddingError, match="stopped"):
        Clock().pace().wait(stop)


def test_batches_let_a_question_pass_but_not_for_ever() -> None:
    clock = Clock()
    pace = clock.pace()
    with pace.question():
        pace.wait()
    waited = clock.now - 1000.0
    assert 4.0 < waited < 6.0
    pace.wait()
    assert clock.now - 1000.0 == waited


def test_a_question_waits_for_no_hold() -> None:
    clock = Clock()
    pace = clock.pace()
    pace.hold(60.0)
    with pace.question():
        pass
    assert clock.now == 1000.0


def test_jitter_is_between_half_and_one_and_a_half() -> None:
    assert Clock().pace(0.0).jittered(4.0) == 2.0
    assert Clock().pace(1.0).jittered(4.0) == 6.0


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0", 0.0),
        ("60", 60.0),
        ("1.5", 1.5),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_in_seconds(said: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": said}) == seconds


def test_retry_after_as_a_date_counts_from_the_answers_own() -> None:
    now = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
    date = format_datetime(now, usegmt=True)
    later = format_datetime(now + timedelta(seconds=90), usegmt=True)
    assert retry_after({"retry-after": later, "date": date}) == 90.0
    assert retry_after({"retry-after": date, "date": later}) == 0.0
    assert retry_after({"retry-after": later, "date": "nonsense"}) == 0.0


def test_retry_after_as_a_date_without_another_counts_from_now() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    seconds = retry_after({"retry-after": later})
    assert seconds is not None
    assert 25 < seconds < 31
