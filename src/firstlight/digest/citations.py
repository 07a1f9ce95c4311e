"""The citations in an answer: those that name a passage are found, those that name none are removed.

A citation is `[3]`, `[3, 5]`, `[3-5]` or `[3][4]` outside of code. What only looks like one stays as it is:
a link, `[3](https://…)`, an escaped bracket, and a year in brackets, unless a passage has that number.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from firstlight.digest.types import Citation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firstlight.digest.types import Passage

__all__ = ["Checked", "checked"]

# Bounded, so that no answer can make it look far: numbers of six digits, thirty-two in a bracket.
_LINK = r"\((?:<[^<>\n]{0,2000}>|(?:[^\s()<>]|\([^\s()<>]{0,500}\)){1,2000})(?:[ \t][\"'(][^\n]{0,200})?\)"
_MARKER = re.compile(
    r"(?<![\\!])\[(?P<said>[0-9]{1,6}(?:[ \t]{0,2}[,;–-][ \t]{0,2}[0-9]{1,6}){0,31})\]"
    rf"(?!{_LINK})(?!:[ \t]*<?[a-z]{{2,8}}://)"
)
_PART = re.compile(r"([0-9]+)(?:[ \t]*[–-][ \t]*([0-9]+))?")
# What would become a citation, were something after it removed.
_HALF = re.compile(r"\[[0-9,; \t–-]*\Z")
_LONGEST = 400  # characters of a marker
_WIDEST = 1000  # numbers from the first of a range to its last
_YEARS = range(1000, 3000)
_FENCE = re.compile(r"^(?:[ \t]|>|[-*+][ \t]|[0-9]{1,3}[.)][ \t])*(`{3,}|~{3,})(?P<after>.*)$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_UNCERTAIN = "?"
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer whose citations are checked.

    Attributes:
        text: The answer, without the citations that point nowhere.
        citations: The others, in order; those of one bracket share its place.
        removed: How many pointed nowhere.
    """

    text: str
    citations: tuple[Citation, ...]
    removed: int


def checked(answer: str, passages: Sequence[Passage]) -> Checked:
    """Return an answer with its citations found among `passages`, and those that point nowhere removed.

    Example:
        >>> from firstlight.digest.types import Passage
        >>> result = checked("So it is [1][7].", [Passage(1, 40, 90, 3, 5, None, "…")])
        >>> result.text, result.removed, [(c.number, c.start, c.answer_start) for c in result.citations]
        ('So it is [1].', 1, [(1, 40, 9)])
    """
    known = {passage.number: passage for passage in passages}
    text = _Text()
    citations: list[Citation] = []
    removed = 0
    at = 0
    for match in _markers(answer):
        numbers = _numbers(match["said"])
        there = [number for number in numbers if number in known]
        if not there and _is_year(match["said"]):
            continue
        text.add(answer[at : match.start()])
        at = match.end()
        removed += len(numbers) - len(there)
        if not there:
            at += text.close(answer[at : at + 1])
            continue
        marker = match[0] if len(there) == len(numbers) else f"[{', '.join(map(str, there))}]"
        for number in there:
            found, start = known[number], text.size
            citations.append(Citation(number, found.start, found.end, start, start + len(marker)))
        text.add(marker)
    text.add(answer[at:])
    return Checked(str(text), tuple(citations), removed)


class _Text:
    """An answer as it is put together again."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.size = 0

    def __str__(self) -> str:
        return "".join(self._parts)

    def add(self, part: str) -> None:
        if part:
            self._parts.append(part)
            self.size += len(part)

    def close(self, following: str) -> int:
        """Close the gap of a removed citation; return how many of the characters that follow go with it."""
        tail = self._tail()
        if _HALF.search(tail) or (following in ("`", "~", "(", ":") and following and tail[-1:] in "`~]"):
            self.add(_UNCERTAIN)  # what stood apart must not become one
            return 0
        if not tail or tail.endswith("\n"):
            return 1 if following in (" ", "\t") else 0
        if not following.isalnum():
            self._strip()
        return 0

    def _tail(self) -> str:
        tail = ""
        for part in reversed(self._parts):
            tail = part[-_LONGEST:] + tail
            if len(tail) >= _LONGEST:
                break
        return tail

    def _strip(self) -> None:
        while self._parts:
            last = self._parts.pop()
            kept = last.rstrip(" \t")
            self.size -= len(last)
            self.add(kept)
            if kept:
                return


def _markers(answer: str) -> Iterator[re.Match[str]]:
    spans = _code_spans(answer)
    starts = [start for start, _ in spans]
    for match in _MARKER.finditer(answer):
        before = bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= spans[before][1]:
            yield match


def _numbers(said: str) -> list[int]:
    """Return the numbers that a bracket names, each once; a range that is none is a number that none has."""
    numbers: dict[int, None] = {}
    for first, last in _PART.findall(said):
        low, high = int(first), int(last or first)
        if low <= high <= low + _WIDEST:
            numbers.update(dict.fromkeys(range(low, high + 1)))
        else:
            numbers[_NOWHERE] = None
    return list(numbers)


def _is_year(said: str) -> bool:
    return all(len(digits) == 4 and int(digits) in _YEARS for digits in re.findall("[0-9]+", said))


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Return where code is: fenced blocks, to their end or the text's, and spans between backticks."""
    fences: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text):
        fence = match[1]
        if opened is None:
            if "`" not in match["after"] or fence[0] == "~":
                opened = match.start(), fence
        elif fence[0] == opened[1][0] and len(fence) >= len(opened[1]) and not match["after"].strip():
            fences.append((opened[0], match.end()))
            opened = None
    if opened is not None:
        fences.append((opened[0], len(text)))
    spans = []
    at = 0
    for start, end in [*fences, (len(text), len(text))]:
        spans += [*_inline_spans(text, at, start), (start, end)]
        at = end
    return spans


def _inline_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between backticks, each within its paragraph."""
    edges = [start, *(match.start() for match in _BLANK_LINE.finditer(text, start, end)), end]
    for first, last in pairwise(edges):
        runs = [(match.start(), match.end()) for match in _TICKS.finditer(text, first, last)]
        places: dict[int, list[int]] = {}
        for place, (a, b) in enumerate(runs):
            places.setdefault(b - a, []).append(place)
        place = 0
        while place < len(runs):
            a, b = runs[place]
            same = places[b - a]
            following = bisect_right(same, place)
            if following == len(same):
                place += 1
                continue
            yield a, runs[same[following]][1]
            place = same[following] + 1
