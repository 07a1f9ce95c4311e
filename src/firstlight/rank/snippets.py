"""The part of a passage worth showing: the window that says most of what was asked."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firstlight.lexical.analysis import words_with
from firstlight.rank.boundaries import back_to_whole, between_words, outside_word
from firstlight.rank.types import Snippet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WIDTH = 240  # code points: three lines of a terminal
_LEAD = 3  # a third of the room around the matches goes before them
_NEAR = 60  # code points: how far a line, a sentence or a word is gone after, for a better place to cut
_SCALE = 1_000_000  # weights are summed as integers, so that sliding the window back and forth stays exact

_LINE = r"[^\r\n]*(?:\r\n|[\r\n]|\Z)"
_HEADING = re.compile(
    rf"[ \t]*(?:\r\n|[\r\n])"  # a blank line
    rf"| {{0,3}}\#{{1,6}}(?=[ \t\r\n]|\Z){_LINE}"  # `# Heading`
    rf"| {{0,3}}[^\s>#|`~*+=-]{_LINE} {{0,3}}(?:=+|-+)[ \t]*(?:\r\n|[\r\n]|\Z)"  # above = or -
)
_STARTS = re.compile(r"[\r\n]\s*|[.!?…][\"'”’)\]]*\s+|[。！？｡]\s*")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    terms: tuple[str, ...]


def snippet(text: str, weights: Mapping[str, float], *, language: str = "en", width: int = WIDTH) -> Snippet:
    """Return the window of `text` that covers the most weight of what was asked.

    Each term counts once, however often the window says it; the first of equal windows wins. The window
    begins at a line, a sentence or at least a word, and never inside a combined character. Where nothing
    matches it is the head of the text, after its heading lines.

    Args:
        text: The passage.
        weights: The idf of each term asked for, as terms are indexed.
        language: The passage's language, for its words.
        width: How many code points the window has at most.

    Raises:
        ValueError: `width` is below 1.

    Example:
        >>> found = snippet("Eat well. Drain the node first. Then rest.", {"drain": 2.0}, width=24)
        >>> found.text, found.highlights
        ('Drain the node first.', ((0, 5),))
    """
    if width < 1:
        raise ValueError(f"width must be 1 or more, not {width}")
    found = sorted(_matches(text, weights, language), key=lambda match: (match.start, match.end))
    if not found:
        return _window(text, *_head(text, width), ())
    first, last = _best(found, weights, width)
    start, end = _around(text, found[first].start, max(match.end for match in found[first : last + 1]), width)
    return _window(text, start, end, found)


def _matches(text: str, weights: Mapping[str, float], language: str) -> Iterable[_Match]:
    for word in words_with(weights, text, language):
        terms = dict.fromkeys(term for term in word.terms if term in weights)
        yield _Match(word.start, word.end, tuple(terms))


def _best(found: list[_Match], weights: Mapping[str, float], width: int) -> tuple[int, int]:
    """Return the first and last match of the heaviest window; every match enters and leaves it once.

    A match that says nothing the rest does not say leaves too, so that the window is around what counts.
    """
    worth = {term: _worth(weights[term]) for match in found for term in match.terms}
    inside: dict[str, int] = dict.fromkeys(worth, 0)
    best, span, total, first = -1, (0, 0), 0, 0
    for last, match in enumerate(found):
        for term in match.terms:
            total += 0 if inside[term] else worth[term]
            inside[term] += 1
        while first < last and (
            match.end - found[first].start > width or all(inside[term] > 1 for term in found[first].terms)
        ):
            for term in found[first].terms:
                inside[term] -= 1
                total -= 0 if inside[term] else worth[term]
            first += 1
        if total > best:
            best, span = total, (first, last)
    return span


def _worth(weight: float) -> int:
    return round(max(weight, 0.0) * _SCALE) if math.isfinite(weight) else 0


def _window(text: str, start: int, end: int, found: Iterable[_Match]) -> Snippet:
    """Return `text[start:end]` without the space around it, and the matches in it."""
    end = start + len(text[start:end].rstrip())
    start = back_to_whole(text, end - len(text[start:end].lstrip()))  # a space may carry an accent
    spans: list[tuple[int, int]] = []
    for match in found:
        low, high = max(match.start, start) - start, min(match.end, end) - start
        if low >= high:
            continue
        if spans and low <= spans[-1][1]:  # bigrams overlap, and touch
            spans[-1] = (spans[-1][0], max(high, spans[-1][1]))
        else:
            spans.append((low, high))
    return Snippet(text[start:end], start, tuple(spans))


def _head(text: str, width: int) -> tuple[int, int]:
    at = 0
    while at < len(text) and (match := _HEADING.match(text, at)):
        at = match.end()
    if at >= len(text):  # nothing but headings
        at = 0
    at = _after_space(text, at)
    return at, _end(text, at, at + width)


def _around(text: str, first: int, last: int, width: int) -> tuple[int, int]:
    """Return the window of at most `width` around the matches in `text[first:last]`."""
    low = max(0, min(first, last - width))
    wanted = first - (first - low) // _LEAD if low else first - (width - last + first) // _LEAD
    wanted = min(first, max(low, min(wanted, len(text) - width)))
    start = back_to_whole(text, _start(text, max(low, wanted - _NEAR), wanted, first))
    return start, _end(text, max(last, start + 1), start + width)


def _start(text: str, low: int, wanted: int, first: int) -> int:
    """Return where in `text[low:first]` to begin: a line or sentence after `wanted` or before, or a word."""
    starts = [match.end() for match in _STARTS.finditer(text, max(low - 1, 0), first)]
    if low == 0:
        starts.insert(0, 0)
    after = bisect_left(starts, wanted)
    if after < len(starts):
        return starts[after]
    if starts and starts[-1] >= low:
        return starts[-1]
    return next((at for at in range(wanted, first) if between_words(text, at)), first)


def _end(text: str, last: int, limit: int) -> int:
    """Return where to end: near `limit`, not before `last`, best between words, else outside one."""
    if limit >= len(text):
        return len(text)
    near = range(limit, max(last, limit - _NEAR) - 1, -1)
    for is_good in (between_words, outside_word):
        found = next((at for at in near if is_good(text, at)), None)
        if found is not None:
            return found
    return back_to_whole(text, limit)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
