"""Where a word may be cut when nothing else is left: between the characters that a reader sees."""

from __future__ import annotations

import unicodedata
from zlib import crc32

__all__ = ["cluster_starts"]

_WINDOW = (
    8  # bytes that decide whether a cut is offered there, so that an edit elsewhere in the word moves none
)
_SPACING = 64  # one place in so many is offered
_LONGEST = 64  # bytes of one character with its marks; a longer one is cut between code points
_JOINERS = "\u200d\ufe0e\ufe0f"
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def cluster_starts(data: bytes, start: int, end: int) -> list[int]:
    """Return some offsets in `data[start:end]` at which a long word may be cut, ascending.

    They are chosen by the bytes that follow, or, where those repeat themselves, evenly spaced. Where even one
    character with its marks is too long, it is cut between code points.
    """
    found = [
        at
        for at in range(start, end)
        if crc32(data[at : at + _WINDOW]) % _SPACING == 0 and is_cluster_start(data, at)
    ]
    if not found:
        step = max(1, (end - start) // 8)
        middle = (start + end) // 2
        near = {_snap(data, at, start, end) for at in (*range(start, end, step), middle)}
        found = sorted(at for at in near if at >= 0)
    return found


def is_cluster_start(data: bytes, at: int) -> bool:
    """Say whether a character that a reader sees begins at `at`: no mark, no joined emoji, no LF of CRLF."""
    if at >= len(data) or data[at] & 0xC0 == 0x80:
        return False
    if data[at] < 0x80:
        return not (data[at] == 10 and data[at - 1 : at] == b"\r")
    here = data[at : at + 4].decode("utf-8", "ignore")[:1]
    before = data[max(0, at - 4) : at].decode("utf-8", "ignore")[-1:]
    joined = here in _JOINERS or before == "\u200d" or ord(here or "a") in _SKIN_TONES
    return not joined and not unicodedata.category(here or "a").startswith("M")


def _snap(data: bytes, at: int, start: int, end: int) -> int:
    """Return the start of a character near `at` within the bounds, of a code point if need be, or -1."""
    nearby = range(at, min(at + _LONGEST, end)), range(at - 1, max(at - _LONGEST, start - 1), -1)
    for tried in nearby:
        for offset in tried:
            if is_cluster_start(data, offset):
                return offset
    for tried in nearby:
        for offset in tried:
            if data[offset : offset + 1] and data[offset] & 0xC0 != 0x80:
                return offset
    return -1
