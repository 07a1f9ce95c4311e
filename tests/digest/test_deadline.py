from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.digest.conftest import workers

from firstlight.digest.deadline import Calls, Deadline, DeadlineError

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_part_of_a_deadline_is_counted_from_its_beginning() -> None:
    now = 100.0
    deadline = Deadline(45.0, clock=lambda: now)
    third = deadline.part(1 / 3)
    assert (deadline.left(), third.left()) == (45.0, 15.0)
    now = 110.0
    assert (deadline.left(), third.left()) == (35.0, 5.0)
    now = 120.0
    assert (deadline.left(), third.left(), deadline.part(1 / 3).left()) == (25.0, 0.0, 0.0)


def test_a_call_returns_what_the_function_does_and_raises_what_it_raises() -> None:
    calls = Calls()
    assert calls.run(lambda _: 7, within=5) == 7
    with pytest.raises(KeyError):
        calls.run(lambda _: {"b": 1}["a"], within=5)
    assert workers() == []
    assert calls.running == 0


def test_a_call_that_is_late_is_told_to_end_and_leaves_no_thread() -> None:
    calls = Calls()
    for _ in range(20):
        with pytest.raises(DeadlineError, match=r"no answer within 0\.01 s"):
            calls.run(lambda stop: stop.wait(30), within=0.01)
    assert workers() == []
    assert calls.running == 0


def test_calls_that_never_come_back_do_not_pile_up() -> None:
    calls, release = Calls(most=3), threading.Event()
    for _ in range(3):
        with pytest.raises(DeadlineError, match="no answer within"):
            calls.run(lambda _: release.wait(30), within=0.01)
    for _ in range(10):
        with pytest.raises(DeadlineError, match="the last 3 calls have not come back"):
            calls.run(lambda _: release.wait(30), within=0.01)
    assert calls.running == 3
    release.set()
    assert workers() == []
    assert calls.run(lambda _: 1, within=5) == 1


def test_a_stream_yields_as_it_comes_and_raises_what_comes_instead() -> None:
    def make(_: threading.Event) -> Iterator[str]:
        yield "a"
        yield "b"
        raise KeyError

    stream = Calls().stream(make, until=Deadline(5))
    assert [next(stream), next(stream)] == ["a", "b"]
    with pytest.raises(KeyError):
        next(stream)
    assert workers() == []


def test_a_stream_that_is_late_or_closed_is_told_to_end() -> None:
    closed: list[str] = []

    def make(stop: threading.Event) -> Iterator[str]:
        try:
            yield "a"
            stop.wait(30)
            yield "b"
        finally:
            closed.append("closed")

    stream = Calls().stream(make, until=Deadline(0.05))
    assert next(stream) == "a"
    with pytest.raises(DeadlineError, match=r"no whole answer within 0\.05 s"):
        next(stream)
    other = Calls().stream(make, until=Deadline(30))
    assert next(other) == "a"
    other.close()
    assert workers() == []
    assert closed == ["closed", "closed"]


def test_closing_lets_those_go_who_wait_for_what_never_comes() -> None:
    calls, release = Calls(), threading.Event()
    errors: list[str] = []

    def wait() -> None:
        try:
            calls.run(lambda _: release.wait(30), within=30)
        except DeadlineError as error:
            errors.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    while not calls.running:
        time.sleep(0.001)
    calls.close()
    thread.join(5)
    assert errors == ["the engine was closed"]
    with pytest.raises(DeadlineError, match="closed"):
        calls.run(lambda _: 1, within=1)
    release.set()
    assert workers() == []
