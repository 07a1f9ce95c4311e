"""The background worker's lease: one worker at a time, and a commit of any other is refused.

Whoever takes the lease gets a token that grows each time. A worker asks `holds` inside every transaction
that it writes in: a lease that ran out and was taken by another, or was revoked, can then not be written
under any more (fencing), however late the worker comes to know. All functions work inside the caller's
transaction; those that change something need an immediate one.
"""

from __future__ import annotations

import math
import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    Clock = Callable[[], int]

_SECOND = 1_000_000_000
# A lease that claims to live longer was written by a clock that has been set back since.
LONGEST_SECONDS = 3600
# What a lease of ours stays below.
_LONGEST_OWNER = 1000
_LARGEST_TOKEN = 1 << 62


class Lease(NamedTuple):
    """The lease as one commit sees it.

    Attributes:
        token: Grows with each holder.
        owner: Who holds it, or held it last; empty after it was given back.
        live: Whether somebody holds it now, as far as can be told.
        rate: How many chunks a second its holder last said it embeds.
    """

    token: int
    owner: str
    live: bool
    rate: float


def take(
    connection: sqlite3.Connection, owner: str, *, seconds: float, clock: Clock = time.time_ns
) -> int | None:
    """Take the lease for `seconds`; return the token, or None while another holds it.

    Args:
        connection: An immediate transaction.
        owner: Who asks, as `this_process` says it: a lease whose process is gone from this machine is free.
        seconds: How long it holds unless it is renewed, 3600 at most.
        clock: Nanoseconds since 1970.
    """
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueError(f"a lease holds for at most {LONGEST_SECONDS} seconds, not {seconds}")
    if read(connection, clock=clock).live:
        return None
    token = read(connection, clock=clock).token + 1
    _put(connection, token, owner, _expiry(clock, seconds))
    return token


def renew(
    connection: sqlite3.Connection, token: int, *, seconds: float, rate: float, clock: Clock = time.time_ns
) -> bool:
    """Hold the lease for `seconds` from now; return False where it is not ours any more."""
    changed = connection.execute(
        "UPDATE lease SET expires_ns = ?, rate = ? WHERE token = ? AND owner != ''",
        (_expiry(clock, seconds), rate, token),
    )
    return changed.rowcount == 1


def holds(connection: sqlite3.Connection, token: int) -> bool:
    """Whether the lease is still the one with this token; ask in every transaction before it commits.

    One that ran out is still held as long as nobody else took it.
    """
    found = connection.execute("SELECT 1 FROM lease WHERE token = ? AND owner != ''", (token,)).fetchone()
    return found is not None


def release(connection: sqlite3.Connection, token: int) -> bool:
    """Give the lease back; return False where it was not ours any more."""
    changed = connection.execute(
        "UPDATE lease SET owner = '', expires_ns = 0, rate = 0.0 WHERE token = ? AND owner != ''", (token,)
    )
    return changed.rowcount == 1


def revoke(connection: sqlite3.Connection) -> None:
    """End the lease, whoever holds it: the holder's next commit is refused."""
    _put(connection, read(connection).token + 1, "", 0)


def read(connection: sqlite3.Connection, *, clock: Clock = time.time_ns) -> Lease:
    """Return the lease; one that is damaged, or was never ours, is nobody's."""
    found = connection.execute("SELECT token, owner, expires_ns, rate FROM lease").fetchone()
    if found is None or not _is_sound(*found):
        return Lease(_token_of(found), "", live=False, rate=0.0)
    token, owner, expires_ns, rate = found
    left = expires_ns - clock()
    live = owner != "" and 0 < left <= LONGEST_SECONDS * _SECOND and not _is_gone(owner)
    return Lease(token, owner, live, rate)


def this_process() -> str:
    """Return this process' name as an owner: host, number and start, which no other process shares."""
    return f"{_host()}:{os.getpid()}:{_started(os.getpid())}"


def _put(connection: sqlite3.Connection, token: int, owner: str, expires_ns: int) -> None:
    connection.execute("INSERT OR REPLACE INTO lease VALUES (1, ?, ?, ?, 0.0)", (token, owner, expires_ns))


def _is_sound(token: object, owner: object, expires_ns: object, rate: object) -> bool:
    return (
        _is_token(token)
        and isinstance(owner, str)
        and len(owner) <= _LONGEST_OWNER
        and isinstance(expires_ns, int)
        and isinstance(rate, float)
        and 0 <= rate < math.inf
    )


def _is_token(token: object) -> bool:
    return isinstance(token, int) and 0 <= token < _LARGEST_TOKEN


def _token_of(found: tuple[Any, ...] | None) -> int:
    """Return the token to go on from: no earlier holder may meet its own again."""
    return found[0] if found is not None and _is_token(found[0]) else time.time_ns()


def _is_gone(owner: str) -> bool:
    """Whether `owner` was a process of this machine that has ended."""
    host, number, started = [*owner.rsplit(":", 2), "", ""][:3]
    if host != _host() or not (number.isascii() and number.isdigit()):
        return False
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it lives, under another user
        pass
    return _started(int(number)) != started


@cache
def _host() -> str:
    """Return what tells machines apart, and containers on one: processes have their numbers there."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    return f"{os.uname().nodename}/{space}"


def _started(number: int) -> str:
    """Return when a process started, in clock ticks since boot; empty where the system does not say."""
    try:
        status = Path(f"/proc/{number}/stat").read_text(encoding="ascii", errors="replace")
        fields = status.rpartition(")")[2].split()  # the name before may hold anything
        return "ended" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return ""


def _expiry(clock: Clock, seconds: float) -> int:
    return clock() + int(seconds * _SECOND)
