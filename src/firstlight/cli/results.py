"""Hits as a person reads them: rank, title > headings, `path:line`, and the snippet with its matches lit."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from firstlight.cli.snippet import render_snippet
from firstlight.cli.terminal import count, duration, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from firstlight.cli.terminal import Style
    from firstlight.rank.types import Hit, Results

__all__ = ["mode_line", "render_hit"]

_LINE_END = re.compile(r"\r\n|[\r\n]")
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
    said = {hit.title, *hit.headings}
    for line in render_snippet(
        hit.snippet, hit.highlights, columns=columns - margin, style=style, said=said, cut=_is_cut(hit)
    ):
        yield indent + line
    for note in _notes(hit, explain=explain):
        yield indent + style.faint(printable(note))


def _crumbs(hit: Hit) -> str:
    """Return the way to the passage; the first heading is mostly the title once more."""
    headings = hit.headings[1:] if hit.headings[:1] == (hit.title,) else hit.headings
    return " > ".join((hit.title, *headings))


def _place(folder: Path, hit: Hit) -> str:
    """Return the path and the line of the first match that is shown: where an editor should open it."""
    shown = max(0, hit.text.find(hit.snippet))
    first = hit.highlights[0][0] if hit.highlights else 0
    line = hit.line_start + len(_LINE_END.findall(hit.text, 0, shown + first))
    return f"{os.path.normpath(folder / hit.path)}:{line}"


def _is_cut(hit: Hit) -> bool:
    """Tell whether the snippet stops within a sentence."""
    end = hit.snippet.rstrip()
    return not hit.text.rstrip().endswith(end) and end[-1:].isalnum()


def _notes(hit: Hit, *, explain: bool) -> Iterator[str]:
    if hit.also_in:
        more = len(hit.also_in) - _ALSO_NAMED
        names = ", ".join(hit.also_in[:_ALSO_NAMED])
        yield f"also in {names}" + (f" and {more:,} more" if more > 0 else "")
    if explain:
        scores = {name: value for name, value in hit.scores.items() if not name.startswith("term:")}
        terms = {name[5:]: value for name, value in hit.scores.items() if name.startswith("term:")}
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
