"""Hits as a person reads them: rank, title > headings, `path:line`, and the snippet with its matches lit."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from firstlight.cli.markup import marks, plain
from firstlight.cli.snippet import render_snippet
from firstlight.cli.terminal import count, duration, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from firstlight.cli.terminal import Style
    from firstlight.rank.types import Hit, Results

__all__ = ["mode_line", "render_hit"]

_LINE_END = re.compile(r"\r\n|[\r\n]")
_ENDS = frozenset(".!?:…。！？")
_BLOCK_ENDS = re.compile(r"[ \t]*(?:\Z|(?:\r\n|[\r\n])[ \t]*(?:[\r\n]|\Z|[-*+|#>`~]|\d+[.)]))")
_WIDEST = 120  # columns; longer lines are hard to read
_ALSO_NAMED = 3  # a passage that is in fifty documents names the first few


def render_hit(
    hit: Hit, *, folder: Path, columns: int, style: Style, margin: int = 3, explain: bool = False
) -> Iterator[str]:
    """Yield the lines of one hit.

    Args:
        hit: The hit.
        folder: The content folder as it was named, so that an editor can open `path:line` from here.
        columns: How wide a line may be.
        style: Colour, or none.
        margin: How many columns the rank takes.
        explain: Also tell the scores, and which words matched.
    """
    indent = " " * margin
    yield f"{hit.rank:<{margin}}{style.strong(printable(_crumbs(hit)))}"
    stale = f"  {style.warning('stale')}" if hit.stale else ""
    yield f"{indent}{style.faint(printable(_place(folder, hit)))}{stale}"
    at = _shown_from(hit)
    for line in render_snippet(
        hit.snippet,
        hit.highlights,
        columns=min(columns - margin, _WIDEST),
        style=style,
        said={hit.title, *hit.headings},
        cut=_is_cut(hit),
        marked=marks(hit.text, at, at + len(hit.snippet)),
    ):
        yield indent + line
    for note in _notes(hit, folder, explain=explain):
        yield indent + style.faint(printable(note))


def _crumbs(hit: Hit) -> str:
    """Return the way to the passage; the first heading is mostly the title once more."""
    title, *headings = map(plain, (hit.title, *hit.headings))
    return " > ".join((title, *(headings[1:] if headings[:1] == [title] else headings)))


def _shown_from(hit: Hit) -> int:
    return max(0, hit.text.find(hit.snippet))


def _place(folder: Path, hit: Hit) -> str:
    """Return the path and the line of the first match that is shown: where an editor should open it."""
    first = hit.highlights[0][0] if hit.highlights else 0
    line = hit.line_start + len(_LINE_END.findall(hit.text, 0, _shown_from(hit) + first))
    return f"{os.path.normpath(folder / hit.path)}:{line}"


def _is_cut(hit: Hit) -> bool:
    """Tell whether the snippet stops within a sentence, or within what would go on in its line."""
    at = _shown_from(hit) + len(hit.snippet)
    return hit.snippet.rstrip()[-1:] not in _ENDS and _BLOCK_ENDS.match(hit.text, at) is None


def _notes(hit: Hit, folder: Path, *, explain: bool) -> Iterator[str]:
    if hit.also_in:
        more = len(hit.also_in) - _ALSO_NAMED
        names = ", ".join(os.path.normpath(folder / path) for path in hit.also_in[:_ALSO_NAMED])
        yield f"also in {names}" + (f" and {more:,} more" if more > 0 else "")
    if explain:
        scores = {name: value for name, value in hit.scores.items() if not name.startswith("term:")}
        terms = {word: hit.scores[f"term:{word}"] for word in hit.matched if f"term:{word}" in hit.scores}
        yield "score " + _figures({"": hit.score} | scores)
        yield "matched " + (_figures(terms) if terms else ", ".join(hit.matched))
        if hit.unmatched:
            yield "without " + ", ".join(hit.unmatched)


def _figures(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}".strip() for name, value in figures.items())


def mode_line(results: Results, *, seconds: float) -> str:
    """Say in one line what was done to find the hits: rule 2, for a person."""
    found = f"{len(results):,} of {count(results.total, 'chunk')}"
    parts = [results.mode, found, results.reason, duration(seconds)]
    return " · ".join(part for part in parts if part)
