"""What a walk finds: files, and what it passed over. Every search begins with one, so these are tuples."""

from __future__ import annotations

from typing import NamedTuple


class FileEntry(NamedTuple):
    """A file that a walk found: its name below the root, with `/`, as it is on disk, and its stat."""

    path: str
    size: int
    mtime_ns: int


class Skipped(NamedTuple):
    """A file or folder that a walk passed over, and why."""

    path: str
    reason: str
