"""A snippet as a terminal shows it: reflowed, wrapped to the width, its matches lit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from firstlight.cli.terminal import printable, width

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from firstlight.cli.terminal import Style

__all__ = ["render_snippet"]

# One character as it is shown, and whether a match lights it.
Cell: TypeAlias = tuple[str, bool]

# Lines of a table, a list, a heading, a quote or indented code stand alone; others flow into one paragraph.
_OWN_LINE = re.compile(r"[ \t]{2,}|[|#>]|[-*+] |\d{1,9}[.)] ")
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?\s*")
_TAB = "    "


def render_snippet(
    text: str,
    highlights: Sequence[tuple[int, int]],
    *,
    columns: int,
    style: Style,
    max_lines: int = 4,
    said: Collection[str] = (),
    cut: bool = False,
) -> list[str]:
    r"""Return at most `max_lines` lines of at most `columns`, those with the most that is lit.

    Args:
        text: The snippet.
        highlights: What to light, as spans of `text`.
        columns: How wide a line may be.
        style: Colour, or none.
        max_lines: How many lines there are at most.
        said: Headings that the reader has seen already.
        cut: End with an ellipsis.

    Example:
        >>> from firstlight.cli.terminal import Style
        >>> render_snippet("Drain\nthe node first.", [(0, 5)], columns=40, style=Style(colour=False))
        ['Drain the node first.']
    """
    lit = bytearray(len(text))
    for start, end in highlights:
        lit[start:end] = b"\x01" * len(lit[start:end])
    logical = list(_logical_lines(text, lit, said))
    if cut and logical:
        logical[-1].append(("…", False))
    wrapped = [line for cells in logical for line in _wrap(cells, columns)]
    return [_dress(line, style) for line in _best_window(wrapped, max_lines)]


def _logical_lines(text: str, lit: bytearray, said: Collection[str]) -> Iterator[list[Cell]]:
    """Yield paragraphs, and the lines that stand alone; left out is what says nothing, or nothing new."""
    paragraph: list[Cell] = []
    fenced = False
    start = 0
    for line in text.splitlines(keepends=True):
        cells = _cells(line.rstrip(), lit[start : start + len(line)])
        start += len(line)
        fence = _FENCE.match(line) is not None
        fenced ^= fence
        if not fence and not fenced and _flows(line):
            paragraph += [(" ", False), *cells] if paragraph else cells
            continue
        if paragraph:
            yield paragraph
            paragraph = []
        if not fence and _says_something(line, said):
            yield cells
    if paragraph:
        yield paragraph


def _flows(line: str) -> bool:
    return any(map(str.isalnum, line)) and not _OWN_LINE.match(line)


def _says_something(line: str, said: Collection[str]) -> bool:
    """Tell markup from text: `| --- |`, `>` and a heading that was shown above are not worth a line."""
    heading = _HEADING.fullmatch(line)
    return any(map(str.isalnum, line)) and not (heading is not None and heading[1] in said)


def _cells(line: str, lit: bytearray) -> list[Cell]:
    return [
        (_TAB if character == "\t" else printable(character), bool(light))
        for character, light in zip(line, lit, strict=False)
    ]


def _wrap(cells: list[Cell], columns: int) -> Iterator[list[Cell]]:
    """Break at the last space that fits, else, in a script without spaces or a long name, at the edge."""
    line: list[Cell] = []
    used = 0
    space = -1  # where the line could be broken
    broken = False  # a line that goes on from another does not begin with the space between them
    for cell in cells:
        text = cell[0]
        wide = len(text) if text.isascii() else width(text)
        while line and used + wide > columns:
            head, line = (line[:space], line[space + 1 :]) if space > 0 and text != " " else (line, [])
            yield head
            used = sum(width(shown) for shown, _ in line)
            space = -1
            broken = True
        if broken and not line and text == " ":
            continue
        if text == " " and any(shown != " " for shown, _ in line):
            space = len(line)
        line.append(cell)
        used += wide
    if line:
        yield line


def _best_window(lines: list[list[Cell]], size: int) -> list[list[Cell]]:
    if len(lines) <= size:
        return lines
    lights = [sum(light for _, light in line) for line in lines]
    best = max(range(len(lines) - size + 1), key=lambda first: (sum(lights[first : first + size]), -first))
    return lines[best : best + size]


def _dress(line: list[Cell], style: Style) -> str:
    parts: list[str] = []
    run: list[str] = []
    running = False
    for text, light in line:
        if light != running:
            parts.append(style.lit("".join(run)) if running else "".join(run))
            run, running = [], light
        run.append(text)
    parts.append(style.lit("".join(run)) if running else "".join(run))
    return "".join(parts)
