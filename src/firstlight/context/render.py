"""Results -> the text that a language model reads: numbered passages with their sources, within a budget."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.prepare import own_title
from firstlight.rank.boundaries import back_to_whole
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from firstlight.rank.types import Hit, Results

__all__ = [
    "LEAST_TOKENS",
    "NOTHING_FITS",
    "NOTHING_FOUND",
    "NOTHING_NEW",
    "NO_DOCUMENTS",
    "Rendered",
    "fit",
    "render",
]

NOTHING_FOUND = "No passage of the documents matches. Try other words."
NOTHING_NEW = "No other passage of the documents matches: what does was shown before. Try other words."
NO_DOCUMENTS = "There are no documents to search."
NOTHING_FITS = "Passages match, but none fits into the size of this reply."
MAX_TOKENS = 2000
# Every fixed sentence fits into this.
LEAST_TOKENS = 50
_LINE_END = re.compile(r"\r\n?|\n")
_LONGEST_HEADING = 160  # characters of title and headings


class Rendered(NamedTuple):
    """A text, and the hits whose passages are in it."""

    text: str
    hits: tuple[Hit, ...]


def render(results: Results, *, max_tokens: int = MAX_TOKENS) -> str:
    r"""Return what a language model reads of results: numbered passages, each below its source.

    The best come first; what does not fit is skipped; where not even the first fits, it is cut at a line.
    Passages of a document that overlap or follow each other become one.

    Args:
        results: Of any search.
        max_tokens: The most estimated tokens of the text, 50 or more.

    Raises:
        ValueError: `max_tokens` is below 50.

    Example:
        >>> from firstlight.context import ContextLayer
        >>> layer = ContextLayer(["# Nodes\n\nCordon the node, then drain it."])
        >>> print(render(layer.search("drain")))
        [1] doc-1:1-3 (Nodes)
        # Nodes
        <BLANKLINE>
        Cordon the node, then drain it.
        >>> print(render(layer.search("swamps")))
        No passage of the documents matches. Try other words.
    """
    return fit(results, max_tokens=max_tokens).text


def fit(results: Results, *, max_tokens: int, told: bool = False) -> Rendered:
    """Render results, and say which hits are in the text.

    Args:
        results: Of any search.
        max_tokens: The most estimated tokens of the text.
        told: Whether passages were handed out before, which are not in the results.
    """
    if max_tokens < LEAST_TOKENS:
        raise ValueError(f"max_tokens must be {LEAST_TOKENS} or more, not {max_tokens}")
    if not results.hits:
        nothing = NOTHING_NEW if told else NOTHING_FOUND
        return Rendered(nothing if results.total else NO_DOCUMENTS, ())
    kept: list[Hit] = []
    for hit in results.hits:
        if est_tokens(_text([*kept, hit])) <= max_tokens:
            kept.append(hit)
        elif not kept and (cut := _cut(hit, max_tokens)):
            return Rendered(cut, (hit,))
    return Rendered(_text(kept), tuple(kept)) if kept else Rendered(NOTHING_FITS, ())


@dataclass(slots=True)
class _Passage:
    """One passage, or several of a document that became one."""

    path: str
    heading: str
    start: int
    end: int
    line_start: int
    line_end: int
    text: str

    def text_with(self, other: _Passage) -> str | None:
        """Return the text of both, where `other` begins no later than this one ends; else None."""
        if self.path != other.path or not self.start <= other.start <= self.end:
            return None
        shared = self.text[other.start - self.start :]
        if not (other.text.startswith(shared) or shared.startswith(other.text)):
            return None  # two documents that have the same name
        return self.text + other.text[len(shared) :]


def _text(hits: Sequence[Hit]) -> str:
    return "\n\n".join(f"[{number}] {_shown(each)}" for number, each in enumerate(_merged(hits), 1))


def _merged(hits: Iterable[Hit]) -> list[_Passage]:
    """Return the passages of the hits, each at the place of its best."""
    merged: list[_Passage] = []
    for hit in hits:
        found = _Passage(hit.path, _heading(hit), hit.start, hit.end, hit.line_start, hit.line_end, hit.text)
        at = len(merged)
        # What was found may close the gap between two that are there already.
        for place in range(len(merged) - 1, -1, -1):
            joined = _joined(merged[place], found)
            if joined is not None:
                found, at = joined, place
                del merged[place]
        merged.insert(at, found)
    return merged


def _joined(one: _Passage, other: _Passage) -> _Passage | None:
    first, last = (one, other) if one.start <= other.start else (other, one)
    text = first.text_with(last)
    if text is None:
        return None
    end, line_end = max(first.end, last.end), max(first.line_end, last.line_end)
    return _Passage(first.path, first.heading, first.start, end, first.line_start, line_end, text)


def _heading(hit: Hit) -> str:
    """Return the title, then the heading path, without what they say twice or the path says."""
    title = own_title(hit.path, hit.title)
    above = [title, *(hit.headings[1:] if hit.headings[:1] == (hit.title,) else hit.headings)]
    shown = " > ".join(" ".join(each.split()) for each in above if each.strip())
    return (
        shown if len(shown) <= _LONGEST_HEADING else f"{shown[: back_to_whole(shown, _LONGEST_HEADING - 1)]}…"
    )


def _shown(passage: _Passage) -> str:
    lines = f"{passage.line_start}"
    if passage.line_end > passage.line_start:
        lines += f"-{passage.line_end}"
    heading = f" ({passage.heading})" if passage.heading else ""
    text = passage.text.strip("\r\n")
    return f"{passage.path}:{lines}{heading}\n{text}"


def _cut(hit: Hit, max_tokens: int) -> str:
    """Return as much of a passage as fits, to the end of a line where one does; empty where none does."""
    (passage,) = _merged([hit])
    whole = hit.text
    ends = [at for at in _line_ends(whole) if whole[:at].strip()]
    best = _longest(passage, whole, ends, max_tokens)
    if best:
        return best
    return _longest(passage, whole, range(1, ends[0] if ends else len(whole)), max_tokens)


def _line_ends(text: str) -> list[int]:
    """Return the offsets after each line end."""
    return [match.end() for match in _LINE_END.finditer(text)]


def _longest(passage: _Passage, whole: str, ends: Sequence[int], max_tokens: int) -> str:
    """Return the passage up to the last of `ends`, ascending, that fits; empty where none does."""
    low, high, best = 0, len(ends), ""
    while low < high:
        middle = (low + high) // 2
        passage.text = whole[: back_to_whole(whole, ends[middle])]
        passage.line_end = passage.line_start + len(_LINE_END.findall(passage.text.rstrip("\r\n")))
        shown = f"[1] {_shown(passage)}\n…"
        if est_tokens(shown) <= max_tokens:
            low, best = middle + 1, shown
        else:
            high = middle
    return best
