"""Where a word may be cut when nothing else is left: between the characters that a reader sees."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONGEST", "cluster_starts", "is_cluster_start", "point_starts"]

_WINDOW = 8  # bytes that decide whether a cut is offered: an edit elsewhere in the word does not move it
_SPACING = 64  # one place in so many is offered
LONGEST = 64  # bytes of one character with its marks; a longer one is cut between code points
_JOINERS = "\u200d\ufe0e\ufe0f"
_FIRST_WIDE = 0x80
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def cluster_starts(data: bytes, start: int, end: int) -> list[int]:
    """Return some offsets in `data[start:end]` at which a long word may be cut, ascending.

    They are chosen by the bytes that follow, or, where those repeat themselves, evenly spaced.
    """
    found = [
        at
        for at in range(start, end)
        if crc32(data[at : at + _WINDOW]) % _SPACING == 0 and is_cluster_start(data, at)
    ]
    return found or _spaced(data, start, end, is_cluster_start)


def point_starts(data: bytes, start: int, end: int) -> list[int]:
    """Return some offsets in `data[start:end]` at which code points begin, for a character without end."""
    return _spaced(data, start, end, _is_point_start)


def is_cluster_start(data: bytes, at: int) -> bool:
    """Say whether a character that a reader sees begins at `at`: no mark, no joined emoji, no LF of CRLF."""
    if not _is_point_start(data, at) or data[at] < _FIRST_WIDE:
        return _is_point_start(data, at)
    here = data[at : at + 4].decode("utf-8", "ignore")[:1]
    before = data[max(0, at - 4) : at].decode("utf-8", "ignore")[-1:]
    joined = here in _JOINERS or before == "\u200d" or ord(here or "a") in _SKIN_TONES
    return not joined and not unicodedata.category(here or "a").startswith("M")


def _is_point_start(data: bytes, at: int) -> bool:
    return at < len(data) and data[at] & 0xC0 != 0x80 and data[at - 1 : at + 1] != b"\r\n"


def _spaced(data: bytes, start: int, end: int, fits: Callable[[bytes, int], bool]) -> list[int]:
    """Return a few offsets, evenly spaced, each moved to where it `fits`, if that is near."""
    step = max(1, (end - start) // 8)
    found = set()
    for at in (*range(start, end, step), (start + end) // 2):
        nearby = (*range(at, min(at + LONGEST, end)), *range(at - 1, max(at - LONGEST, start - 1), -1))
        found.update(next(([offset] for offset in nearby if fits(data, offset)), []))
    return sorted(found)
