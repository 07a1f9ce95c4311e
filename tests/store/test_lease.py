from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.store import lease
from firstlight.store.database import Database, create
from firstlight.store.meta import Meta

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

SECOND = 1_000_000_000


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000 * SECOND

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("state") / "corpus.db"
    create(path, Meta("id", "/docs")._asdict())
    made = Database(path)
    yield made
    made.close()


@pytest.fixture
def connection(database: Database) -> Iterator[sqlite3.Connection]:
    with database.write() as opened:
        lease.revoke(opened)
        yield opened


def test_one_worker_at_a_time(connection: sqlite3.Connection, clock: Clock) -> None:
    first = lease.take(connection, "here:one", seconds=10, clock=clock)
    assert first is not None
    assert lease.take(connection, "here:two", seconds=10, clock=clock) is None
    assert lease.read(connection, clock=clock) == lease.Lease(first, "here:one", True, 0.0)
    assert lease.release(connection, first)
    assert lease.read(connection, clock=clock) == lease.Lease(first, "", False, 0.0)
    second = lease.take(connection, "here:two", seconds=10, clock=clock)
    assert second is not None
    assert second > first


def test_a_lease_runs_out_unless_it_is_renewed(connection: sqlite3.Connection, clock: Clock) -> None:
    token = lease.take(connection, "here:one", seconds=10, clock=clock)
    assert token is not None
    clock.now += 9 * SECOND
    assert lease.renew(connection, token, seconds=10, rate=13.5, clock=clock)
    clock.now += 9 * SECOND
    assert lease.read(connection, clock=clock) == lease.Lease(token, "here:one", True, 13.5)
    clock.now += 1 * SECOND
    assert not lease.read(connection, clock=clock).live


def test_one_that_ran_out_is_held_until_another_takes_it(
    connection: sqlite3.Connection, clock: Clock
) -> None:
    token = lease.take(connection, "here:one", seconds=10, clock=clock)
    assert token is not None
    clock.now += 60 * SECOND
    assert lease.holds(connection, token)
    assert lease.take(connection, "here:two", seconds=10, clock=clock) is not None
    assert not lease.holds(connection, token)
    assert not lease.renew(connection, token, seconds=10, rate=1.0, clock=clock)
    assert not lease.release(connection, token)
    assert lease.read(connection, clock=clock).owner == "here:two"


def test_after_a_revocation_the_holder_is_refused(connection: sqlite3.Connection, clock: Clock) -> None:
    token = lease.take(connection, "here:one", seconds=10, clock=clock)
    assert token is not None
    lease.revoke(connection)
    assert not lease.holds(connection, token)
    assert not lease.holds(connection, token + 1)
    assert not lease.renew(connection, token, seconds=10, rate=1.0, clock=clock)
    assert lease.take(connection, "here:two", seconds=10, clock=clock) is not None


def test_what_was_given_back_is_not_renewed(connection: sqlite3.Connection, clock: Clock) -> None:
    token = lease.take(connection, "here:one", seconds=10, clock=clock)
    assert token is not None
    assert lease.release(connection, token)
    assert not lease.holds(connection, token)
    assert not lease.release(connection, token)
    assert not lease.renew(connection, token, seconds=10, rate=1.0, clock=clock)
    assert not lease.read(connection, clock=clock).live


def test_a_clock_that_is_set_back_locks_nobody_out(connection: sqlite3.Connection, clock: Clock) -> None:
    clock.now += 10**6 * SECOND
    assert lease.take(connection, "here:one", seconds=10, clock=clock)
    clock.now -= 10**6 * SECOND
    assert lease.take(connection, "here:two", seconds=10, clock=clock)


@pytest.mark.parametrize("seconds", [0, -1, 3601, float("nan")])
def test_a_lease_has_an_end_in_sight(connection: sqlite3.Connection, seconds: float) -> None:
    with pytest.raises(ValueError, match="at most 3600 seconds"):
        lease.take(connection, "here:one", seconds=seconds)


def test_the_lease_of_a_process_that_has_ended_is_free_at_once(connection: sqlite3.Connection) -> None:
    command = "from firstlight.store.lease import this_process; print(this_process())"
    done = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True)
    assert lease.take(connection, done.stdout.strip(), seconds=3600)
    assert lease.take(connection, lease.this_process(), seconds=3600)
    assert lease.take(connection, "another", seconds=3600) is None


def test_a_process_that_got_the_number_of_another_is_not_that_one(connection: sqlite3.Connection) -> None:
    host_and_number, _, started = lease.this_process().rpartition(":")
    if not started:
        pytest.skip("this system does not say when a process started")
    assert lease.take(connection, f"{host_and_number}:1", seconds=3600)
    assert not lease.read(connection).live


@pytest.mark.parametrize("owner", ["elsewhere:1:2", "elsewhere:99999999:2", "x", "::", ":0:", "a:b:c"])
def test_nothing_is_known_of_processes_elsewhere(connection: sqlite3.Connection, owner: str) -> None:
    assert lease.take(connection, owner, seconds=60)
    assert lease.read(connection).live


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(0, 15)),
        st.tuples(st.sampled_from(["take", "renew", "release"]), st.integers(0, 2)),
        st.tuples(st.just("revoke"), st.just(0)),
    ),
    max_size=30,
)


@given(ACTIONS)
def test_never_do_two_workers_hold_it(database: Database, actions: list[tuple[str, int]]) -> None:
    """Against a plain twin: who holds it, and until when."""
    clock, tokens = Clock(), dict.fromkeys(range(3), -1)
    holder, until = None, 0
    with database.write() as connection:
        lease.revoke(connection)
        for action, who in actions:
            if action == "wait":
                clock.now += who * SECOND
            elif action == "revoke":
                lease.revoke(connection)
                holder = None
            elif action == "take":
                token = lease.take(connection, f"worker {who}", seconds=10, clock=clock)
                assert (token is None) == (holder is not None and clock.now < until)
                if token is not None:
                    holder, until, tokens[who] = who, clock.now + 10 * SECOND, token
            elif action == "renew":
                done = lease.renew(connection, tokens[who], seconds=10, rate=1.0, clock=clock)
                assert done == (holder == who)
                until = clock.now + 10 * SECOND if done else until
            else:
                assert lease.release(connection, tokens[who]) == (holder == who)
                holder = None if holder == who else holder
            assert [lease.holds(connection, tokens[each]) for each in range(3)] == [
                holder == each for each in range(3)
            ]
