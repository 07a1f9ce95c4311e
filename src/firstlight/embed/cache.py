"""The vector cache: what a model said of a text, kept by the text's hash, so that nothing is bought twice.

One SQLite file for all corpora and processes of a user. It holds hashes and vectors, no text; everything in
it can be made again, so whatever is wrong with it costs at most that.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from firstlight.embed import cache_rows
from firstlight.embed.cache_file import CacheFile
from firstlight.embed.cache_rows import Space
from firstlight.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from firstlight.embed.types import Kind, Vectors

__all__ = ["MAX_BYTES", "CacheStats", "ModelStats", "VectorCache"]

MAX_BYTES = 1_000_000_000

_T = TypeVar("_T")
_BATCH = 256  # variables of a statement, and rows of a transaction: a few milliseconds of work
# An entry's last use is written down once in so many seconds, and with others: reading is to stay reading.
_TOUCH_SECONDS = 24 * 3600
_MANY_TOUCHES = 1000
# Evicting leaves so much of the bound, so that not every write evicts.
_KEPT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class ModelStats:
    """What the cache holds of one model: texts that have vectors, and the bytes of those."""

    name: str
    fingerprint: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What the cache holds.

    Attributes:
        path: Where it is.
        entries: How many texts have vectors in it.
        size: The bytes that it takes on the disk.
        max_bytes: The size beyond which what was not used for longest is dropped.
        models: What it holds of each model, the largest first.
    """

    path: str
    entries: int
    size: int
    max_bytes: int
    models: tuple[ModelStats, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers in their one JSON shape."""
        return asdict(self)


class VectorCache:
    """Vectors by model, hash of the input text, class of callers and kind; one class never sees another's.

    Safe to share between threads, and between processes by its path; nothing is opened before its first use.
    What it cannot read is missing and what it cannot write is not kept: neither ever stops the work.

    Args:
        path: The file; made on the first write.
        max_bytes: Its size; what was not used for longest is dropped beyond it.
        clock: The time in seconds.
        warn: Gets a line, once, about what is wrong with the file; by default the log does.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
        warn: Callable[[str], object] | None = None,
    ) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes is {max_bytes}; it has to be 1 or more")
        self.path = path
        self.max_bytes = max_bytes
        self._clock = clock
        self._warn = warn or _log
        self._file = CacheFile(path, warn=self._warn)
        self._said: set[str] = set()
        self._touched: set[int] = set()

    def get_many(
        self,
        fingerprint: str,
        hashes: Iterable[bytes],
        *,
        caller_class: str = "default",
        kind: Kind = "document",
    ) -> dict[bytes, Vectors]:
        """Return float32[windows, d], read-only, for each hash that has vectors; the rest is missing."""
        from firstlight.embed.cache_values import unpack  # noqa: PLC0415  # `stats` needs no NumPy

        space = Space(fingerprint, caller_class, kind)
        found: dict[bytes, Vectors] = {}
        for batch in _batches(list(dict.fromkeys(hashes))):
            rows = self._read(partial(cache_rows.find, space=space, hashes=batch))
            if rows is None:
                break
            good, damaged = unpack(rows)
            found |= good
            self._note_use(row.id for row in rows if row.used < self._now() - _TOUCH_SECONDS)
            if damaged:
                self._write(partial(cache_rows.delete, ids=damaged))
        return found

    def put_many(
        self,
        fingerprint: str,
        vectors: Mapping[bytes, Vectors],
        *,
        caller_class: str = "default",
        kind: Kind = "document",
        name: str = "",
    ) -> None:
        """Keep float32[windows, d] for each hash; rows that are not finite and of unit length are not kept.

        Args:
            fingerprint: What makes the model's vectors comparable.
            vectors: By the hash of their input text, all of one dimension.
            caller_class: Who may see them.
            kind: What the texts were embedded as.
            name: What a person calls the model.
        """
        from firstlight.embed.cache_values import pack  # noqa: PLC0415  # see above

        space, now = Space(fingerprint, caller_class, kind), self._now()
        for batch in _batches(pack(vectors)):
            self._write(partial(cache_rows.put, space=space, rows=batch, name=name, now=now))
        self._write_uses()
        self._make_room()

    def clear(self, fingerprint: str | None = None) -> int:
        """Drop everything, or everything of one model, and return how many entries went.

        Raises:
            StoreError: The file cannot be written.
        """
        if self._file.read(cache_rows.live_bytes) is None:
            return 0  # there is no file, and none has to be made
        dropped = 0
        if fingerprint is None:
            dropped = self._file.write(cache_rows.delete_all) or 0
        else:
            while some := self._file.write(partial(cache_rows.delete_some, fingerprint=fingerprint)):
                dropped += some
        while self._file.write(partial(cache_rows.shrink, max_bytes=0)):
            pass
        self._file.read(cache_rows.checkpoint)
        return dropped

    def stats(self) -> CacheStats:
        """Return what there is.

        Raises:
            StoreError: The file cannot be read.
        """
        models = tuple(ModelStats(*row) for row in self._file.read(cache_rows.by_model) or ())
        entries = sum(model.entries for model in models)
        return CacheStats(str(self.path), entries, self._file.size(), self.max_bytes, models)

    def close(self) -> None:
        """Write down what was used and let go of the file; nothing is found or kept any more."""
        self._write_uses()
        self._file.close()

    def _make_room(self) -> None:
        live = self._read(cache_rows.live_bytes)
        if live is None or live <= self.max_bytes:
            return
        goal = int(self.max_bytes * _KEPT_SHARE)
        while self._write(partial(cache_rows.evict, goal=goal)):
            pass
        while self._write(partial(cache_rows.shrink, max_bytes=self.max_bytes)):
            pass

    def _note_use(self, ids: Iterable[int]) -> None:
        self._touched.update(ids)
        if len(self._touched) >= _MANY_TOUCHES:
            self._write_uses()

    def _write_uses(self) -> None:
        ids, self._touched = self._touched, set()
        if ids:
            self._write(partial(cache_rows.touch, ids=ids, now=self._now()))

    def _read(self, action: Callable[[sqlite3.Connection], _T]) -> _T | None:
        try:
            return self._file.read(action)
        except StoreError as error:
            self._tell_once("read", error)
            return None

    def _write(self, action: Callable[[sqlite3.Connection], _T]) -> _T | None:
        try:
            return self._file.write(action)
        except StoreError as error:
            self._tell_once("written", error)
            return None

    def _tell_once(self, what: str, error: StoreError) -> None:
        if what not in self._said:
            self._said.add(what)
            self._warn(f"the vector cache cannot be {what}, so vectors are made again: {error}")

    def _now(self) -> int:
        return int(self._clock())


def _batches(rows: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))


def _log(message: str) -> None:
    import logging  # noqa: PLC0415  # where nothing is wrong nobody pays for it

    logging.getLogger(__name__).warning(message)
