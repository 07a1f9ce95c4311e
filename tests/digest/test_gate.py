from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import pytest

from firstlight.digest.gate import Gate, GateRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable


def waiting(gate: Gate, count: int) -> None:
    until = time.monotonic() + 10
    while gate.waiting != count:
        assert time.monotonic() < until
        time.sleep(0.001)


def in_thread(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=action)
    thread.start()
    return thread


def test_so_many_are_at_work_at_once_and_no_more() -> None:
    gate = Gate(active=3, queue=100)
    lock = threading.Lock()
    at_work = highest = 0

    def work() -> None:
        nonlocal at_work, highest
        for _ in range(50):
            with gate:
                with lock:
                    at_work += 1
                    highest = max(highest, at_work)
                time.sleep(random.random() / 5000)
                with lock:
                    at_work -= 1

    for thread in [in_thread(work) for _ in range(20)]:
        thread.join()
    assert highest == 3
    assert (gate.working, gate.waiting) == (0, 0)


@pytest.mark.parametrize("attempt", range(5))
def test_who_comes_first_is_let_in_first(attempt: int) -> None:
    gate = Gate(active=1, queue=100)
    order: list[int] = []

    def work(number: int) -> None:
        with gate:
            order.append(number)

    gate.acquire()
    threads = []
    for number in range(40):
        threads.append(in_thread(partial(work, number)))
        waiting(gate, number + 1)
    gate.release()
    for thread in threads:
        thread.join()
    assert order == list(range(40))


def test_nobody_who_comes_later_takes_the_place_of_one_who_waits() -> None:
    gate = Gate(active=1, queue=10)
    gate.acquire()
    order: list[str] = []

    def work() -> None:
        with gate:
            order.append("waited")

    thread = in_thread(work)
    waiting(gate, 1)
    gate.release()  # the place is handed over in this very step
    with gate:
        order.append("came later")
    thread.join()
    assert order == ["waited", "came later"]


def test_a_full_queue_refuses_at_once_and_says_so() -> None:
    gate = Gate(active=1, queue=1, wait=30)
    gate.acquire()
    thread = in_thread(gate.acquire)
    waiting(gate, 1)
    with pytest.raises(GateRefusedError, match="1 at work and 1 waiting") as refused:
        gate.acquire()
    assert refused.value.bound == "queue"
    gate.release()
    thread.join()
    gate.release()
    assert (gate.working, gate.waiting) == (0, 0)


def test_waiting_too_long_is_refused_and_says_so() -> None:
    gate = Gate(active=1, queue=1, wait=0.02)
    with gate, pytest.raises(GateRefusedError, match=r"waited 0\.02 s") as refused:
        gate.acquire()
    assert refused.value.bound == "wait"
    assert (gate.working, gate.waiting) == (0, 0)


def test_a_caller_whose_own_time_is_shorter_is_let_go_by_then() -> None:
    gate = Gate(active=1, queue=1, wait=30)
    with gate, pytest.raises(GateRefusedError) as refused:
        gate.acquire(within=0.02)
    assert refused.value.bound == "deadline"


def test_a_stop_ends_the_waiting() -> None:
    gate, stop = Gate(active=1, queue=1, wait=30), threading.Event()
    refusals: list[str] = []

    def work() -> None:
        try:
            gate.acquire(stop=stop)
        except GateRefusedError as error:
            refusals.append(error.bound)

    with gate:
        thread = in_thread(work)
        waiting(gate, 1)
        stop.set()
        thread.join(5)
    assert refusals == ["deadline"]
    assert (gate.working, gate.waiting) == (0, 0)


def test_no_place_is_lost_or_won_when_waits_end_as_places_become_free() -> None:
    gate = Gate(active=2, queue=100, wait=0.002)
    let_in = threading.Semaphore(0)

    def work() -> None:
        for _ in range(60):
            try:
                gate.acquire()
            except GateRefusedError:
                continue
            let_in.release()
            time.sleep(random.random() / 500)
            gate.release()

    for thread in [in_thread(work) for _ in range(16)]:
        thread.join()
    assert (gate.working, gate.waiting) == (0, 0)
    with ExitStack() as stack:
        for _ in range(2):
            gate.acquire(within=0)
            stack.callback(gate.release)


def test_the_place_is_free_again_after_an_error() -> None:
    gate = Gate(active=1, queue=0)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt), gate:
            raise KeyboardInterrupt
    assert gate.working == 0


@pytest.mark.parametrize("bounds", [(0, 1, 1.0), (1, -1, 1.0), (1, 1, -1.0), (1, 1, float("nan"))])
def test_bounds_out_of_range_are_refused(bounds: tuple[int, int, float]) -> None:
    with pytest.raises(ValueError, match="a gate needs"):
        Gate(*bounds)


def test_the_bounds_are_these_unless_given() -> None:
    gate = Gate()
    assert (gate.active, gate.queue, gate.wait) == (2, 16, 10.0)
