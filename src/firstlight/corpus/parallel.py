"""Many files are prepared on two cores, where that is safe; what comes out, and its order, is as on one."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from firstlight.corpus.prepare import Prepared, PreparedChunk, Refused, prepare

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from firstlight.corpus.config import Config

    Outcome = Prepared | Refused

_WORTHWHILE = 200  # fewer files are done before a second process is of use
_BLOCK = 16  # files
# The first process prepares every fourth block: it also indexes what both prepare.
_SHARE = 4
_PIPE_BYTES = 1 << 20  # how far ahead the second process may be
_SIZE_BYTES = 8


def prepare_all(root: str, paths: Sequence[str], config: Config) -> Generator[Outcome, None, None]:
    """Yield what `prepare` makes of each file, in the order of `paths`."""
    blocks = [paths[start : start + _BLOCK] for start in range(0, len(paths), _BLOCK)]
    if len(paths) < _WORTHWHILE or not _may_fork():
        for block in blocks:
            yield from _prepared(root, block, config)
        return
    others = [block for number, block in enumerate(blocks) if number % _SHARE]
    with _second_process(root, others, config) as replies:
        for number, block in enumerate(blocks):
            # Should the other process end early, this one does its share too, and meets the same error.
            received = _received(replies) if number % _SHARE else None
            yield from received or _prepared(root, block, config)


def _may_fork() -> bool:
    """Tell whether there is a second core, and no other thread whose locks a fork would take along."""
    if sys.platform != "linux":
        return False
    return len(os.sched_getaffinity(0)) > 1 and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208


def _prepared(root: str, block: Sequence[str], config: Config) -> Iterator[Outcome]:
    return (prepare(root, path, config) for path in block)


@contextmanager
def _second_process(root: str, blocks: Sequence[Sequence[str]], config: Config) -> Iterator[BinaryIO]:
    """Prepare `blocks` in a process of their own; yield where its replies are read.

    It ends with the last block, or when nobody reads its replies any more: it outlives no parent.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        _serve(writing, root, blocks, config)
    os.close(writing)
    _widen(reading)
    try:
        with os.fdopen(reading, "rb") as replies:
            yield replies
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _widen(pipe: int) -> None:
    import fcntl  # noqa: PLC0415  # not on every system, and only here

    with suppress(OSError):  # a user's pipes may take no more
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _serve(writing: int, root: str, blocks: Sequence[Sequence[str]], config: Config) -> None:
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then stops reading
        with os.fdopen(writing, "wb") as replies:
            for block in blocks:
                reply = json.dumps(list(_prepared(root, block, config))).encode()
                replies.write(len(reply).to_bytes(_SIZE_BYTES) + reply)
                replies.flush()
    finally:
        os._exit(0)  # nothing of the parent's is to be flushed, closed or reported here


def _received(replies: BinaryIO) -> list[Outcome] | None:
    """Return the next block, or None where the other process has ended."""
    size = int.from_bytes(replies.read(_SIZE_BYTES))
    reply = replies.read(size)
    if not reply or len(reply) < size:
        return None
    return [_outcome(fields) for fields in json.loads(reply)]


def _outcome(fields: list[object]) -> Outcome:
    if len(fields) == len(Refused._fields):
        return Refused._make(fields)
    *facts, chunks = fields
    assert isinstance(chunks, list)  # noqa: S101  # of our own making
    return Prepared._make([*facts, [PreparedChunk._make(chunk) for chunk in chunks]])
