"""A text longer than its model takes is embedded in windows: about equal parts, cut between words.

Windows put together are the text again: nothing is left out, and nothing is embedded twice.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeVar

from firstlight.text.tokens import max_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firstlight.embed.types import Embedder

# An estimate is at least this share of the true count, but for one text in twenty: there the embedder says
# that a window is too large.
_MARGIN = 1 / 1.18

_WORD = re.compile(r"\S+\s*|\s+")
_MAX_UTF8 = 4  # bytes of a code point


def windows(text: str, embedder: Embedder) -> list[str]:
    """Cut `text` into parts that each fit `embedder`; one that fits, or is empty, stays whole.

    An embedder that has a `split` cuts by its own tokens; for any other they are estimated.
    """
    split = getattr(embedder, "split", None)
    if split is not None:
        parts: list[str] = split(text)
        return parts
    room = max(max_bytes(int(embedder.max_tokens * _MARGIN)), _MAX_UTF8)
    if _size(text) <= room:
        return [text]
    words = list(_words(text, room))
    return joined(text, list(accumulate(map(len, words), initial=0)), list(map(_size, words)), room)


def joined(text: str, starts: Sequence[int], sizes: Sequence[int], room: int) -> list[str]:
    """Return `text` cut where some of its units start, so that each part is of at most `room`.

    Args:
        text: The text.
        starts: Where each unit starts, ascending; what stands before the first belongs to it.
        sizes: How large each unit is.
        room: How large a part may be.
    """
    cuts = [0, *(starts[unit] for unit in balanced(sizes, room)[1:]), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


def balanced(sizes: Sequence[int], room: int) -> list[int]:
    """Return the unit that each part starts with: as few parts as possible, about equally large.

    A unit larger than `room` is a part of its own.

    Example:
        >>> balanced([1] * 10, room=6)
        [0, 5]
        >>> balanced([4, 4, 4, 1], room=9)
        [0, 2]
    """
    ends = [0, *accumulate(sizes)]
    starts = [0]
    while (left := ends[-1] - ends[starts[-1]]) > room:
        parts = -(-left // room)
        cut = _nearest(ends, starts[-1], -(-left // parts), room)
        if ends[-1] - ends[cut] > (parts - 1) * room:  # the rest would not fit: one part more, all smaller
            cut = _nearest(ends, starts[-1], -(-left // (parts + 1)), room)
        if cut == len(sizes):
            break
        starts.append(cut)
    return starts


def token_units(
    words: Sequence[int | None], spans: Sequence[tuple[int, int]], room: int
) -> tuple[list[int], list[int]]:
    """Return where words start and how many tokens each has; a word above `room` comes token by token.

    Args:
        words: The word that each token is of.
        spans: Where each token starts and ends.
        room: How many tokens a window may have.

    Example:
        >>> token_units([0, 1, 1, 1], [(0, 2), (3, 4), (4, 5), (5, 6)], room=3)
        ([0, 3], [1, 3])
        >>> token_units([0, 1, 1, 1], [(0, 2), (3, 4), (4, 5), (5, 6)], room=2)
        ([0, 3, 4, 5], [1, 1, 1, 1])
    """
    starts, kept, sizes = _grouped(words, spans)
    long = {word for word, size in zip(kept, sizes, strict=True) if size > room}
    if long:
        parts = [(word, number if word in long else -1) for number, word in enumerate(words)]
        starts, _, sizes = _grouped(parts, spans)
    return starts, sizes


_Key = TypeVar("_Key")


def _grouped(
    keys: Sequence[_Key], spans: Sequence[tuple[int, int]]
) -> tuple[list[int], list[_Key], list[int]]:
    """Group neighbouring tokens of one key, or of one character: starts, keys and sizes."""
    starts: list[int] = []
    kept: list[_Key] = []
    sizes: list[int] = []
    end = 0
    for key, span in zip(keys, spans, strict=True):
        if starts and (key == kept[-1] or span[0] < end or span[0] == starts[-1]):
            sizes[-1] += 1
        else:
            starts.append(span[0])
            kept.append(key)
            sizes.append(1)
        end = max(end, span[1])
    return starts, kept, sizes


def _nearest(ends: Sequence[int], start: int, target: int, room: int) -> int:
    """Return where a part that starts at `start` ends: near `target`, within `room`, one unit at least."""
    target += ends[start]
    below = bisect_right(ends, target, lo=start) - 1
    if below + 1 == len(ends):
        return below
    above = ends[below + 1]
    nearer = above - target < target - ends[below]
    return below + 1 if below == start or (nearer and above - ends[start] <= room) else below


def _words(text: str, room: int) -> Iterator[str]:
    """Yield the text's words with the space behind them; one that is larger than `room` in pieces."""
    step = room // _MAX_UTF8
    for found in _WORD.finditer(text):
        word = found[0]
        if _size(word) <= room:
            yield word
        else:
            yield from (word[start : start + step] for start in range(0, len(word), step))


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
