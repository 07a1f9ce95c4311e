"""A snippet as a terminal shows it: reflowed, wrapped to the width, its matches lit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from firstlight.cli.markup import CODE, HIDDEN, marks, plain
from firstlight.cli.terminal import printable, width

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from firstlight.cli.terminal import Style

__all__ = ["render_snippet"]

# One character as it is shown, and whether a match lights it.
Cell: TypeAlias = tuple[str, bool]

# Lines of a table, a list, a heading, a quote or indented code stand alone; others flow into one paragraph.
_OWN_LINE = re.compile(r"[ \t]{2,}|[|#>]|[-*+] |\d{1,9}[.)] ")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)]) ")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?\s*")
_TAB = "    "
_MORE: Cell = ("…", False)
_ENDS = frozenset(".…")  # nothing says better that there is more, or that a sentence is whole


def render_snippet(
    text: str,
    highlights: Sequence[tuple[int, int]],
    *,
    columns: int,
    style: Style,
    max_lines: int = 4,
    said: Collection[str] = (),
    cut: bool = False,
    marked: bytes | None = None,
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
        marked: What of the text is markup and code (`markup.marks`), where more is known than it says itself.

    Example:
        >>> from firstlight.cli.terminal import Style
        >>> render_snippet("Drain\nthe node first.", [(0, 5)], columns=40, style=Style(colour=False))
        ['Drain the node first.']
    """
    lit = bytearray(len(text))
    for start, end in highlights:
        lit[start:end] = b"\x01" * len(lit[start:end])
    known = marks(text) if marked is None else marked
    logical = list(_logical_lines(text, bytes(lit), known, {plain(heading) for heading in said}))
    if not logical:  # nothing but markup, so that is what was found
        logical = list(_logical_lines(text, bytes(lit), bytes(len(text)), ()))
    if cut and logical and logical[-1][-1][0] not in _ENDS:
        logical[-1].append(_MORE)
    wrapped = [
        (line, line is broken[-1])
        for broken in (list(_wrap(cells, columns)) for cells in logical)
        for line in broken
    ]
    return [_dress(line, style) for line in _best_window(wrapped, max_lines, columns)]


def _logical_lines(text: str, lit: bytes, marked: bytes, said: Collection[str]) -> Iterator[list[Cell]]:
    """Yield paragraphs, and the lines that stand alone; left out is what says nothing, or nothing new."""
    paragraph: list[Cell] = []
    start = _section_start(text, lit, said)
    for line in text[start:].splitlines(keepends=True):
        span = slice(start, start + len(line))
        start += len(line)
        is_code = CODE in marked[span]
        cells = _cells(line.rstrip(), lit[span], marked[span])
        shown = "".join(character for character, _ in cells)
        if paragraph and not is_code and _goes_on(shown, paragraph):
            paragraph += [(" ", False), *_stripped(cells)]
            continue
        if paragraph:
            yield paragraph
            paragraph = []
        if not is_code and (_flows(shown) or _ITEM.match(shown)):
            paragraph = cells
        elif _says_something(shown, said):
            yield cells if is_code or not shown.lstrip().startswith("|") else _row(cells)
    if paragraph:
        yield paragraph


def _section_start(text: str, lit: bytes, said: Collection[str]) -> int:
    """Return where the section of the first match begins: above its heading stands what is another's."""
    first = lit.find(b"\x01")
    begin = end = 0
    for line in text.splitlines(keepends=True):
        if end > first:
            break
        end += len(line)
        heading = _HEADING.fullmatch(line)
        if heading is not None and plain(heading[1]) in said:
            begin = end
    return begin


def _flows(line: str) -> bool:
    return any(map(str.isalnum, line)) and not _OWN_LINE.match(line)


def _goes_on(line: str, paragraph: list[Cell]) -> bool:
    """Tell whether a line belongs to the paragraph before it; that of a list item goes on indented."""
    if _flows(line):
        return True
    begun = "".join(character for character, _ in paragraph[:20])
    return _ITEM.match(begun) is not None and _ITEM.match(line) is None and _flows(line.lstrip())


def _says_something(line: str, said: Collection[str]) -> bool:
    """Tell markup from text: `| --- |`, `>` and a heading that was shown above are not worth a line."""
    heading = _HEADING.fullmatch(line)
    return any(map(str.isalnum, line)) and not (heading is not None and plain(heading[1]) in said)


def _cells(line: str, lit: bytes, marked: bytes) -> list[Cell]:
    return [
        (_TAB if character == "\t" else printable(character), bool(light))
        for character, light, mark in zip(line, lit, marked, strict=False)
        if mark != HIDDEN
    ]


def _stripped(cells: list[Cell], edge: str = " ") -> list[Cell]:
    """Return the cells without those at both ends that are in `edge`."""
    shown = [index for index, (text, _) in enumerate(cells) if text not in edge]
    return cells[shown[0] : shown[-1] + 1] if shown else []


def _row(cells: list[Cell]) -> list[Cell]:
    """Return a row of a table without its frame, and without the spaces that align it in its file."""
    row: list[Cell] = []
    for cell in _stripped(cells, edge=" |"):
        if cell[0] != " " or row[-1][0] != " ":
            row.append(cell)
    return row


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


def _best_window(lines: list[tuple[list[Cell], bool]], size: int, columns: int) -> list[list[Cell]]:
    """Return the lines with the most that is lit; where that cuts a paragraph, an ellipsis says so."""
    lights = [sum(light for _, light in line) for line, _ in lines]
    firsts = range(max(1, len(lines) - size + 1))
    best = max(firsts, key=lambda first: (sum(lights[first : first + size]), -first))
    window = lines[best : best + size]
    shown = [line for line, _ in window]
    if window and not window[-1][1]:
        shown[-1] = _with_more(shown[-1], columns)
    return shown


def _with_more(line: list[Cell], columns: int) -> list[Cell]:
    kept = list(line)
    while kept and sum(width(text) for text, _ in kept) + width(_MORE[0]) > columns:
        kept.pop()
    return [*kept, _MORE]


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
