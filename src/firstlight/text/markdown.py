"""The layout of a Markdown document: which of its blocks may be split, and where it may be cut."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from firstlight.text.blocks import inline_html, line_end, parse, unify_line_ends
from firstlight.text.html_spans import matched_spans
from firstlight.text.layout import BLOCK, Layout, encode, merged

if TYPE_CHECKING:
    from firstlight.text.blocks import RawBlock
    from firstlight.text.layout import Span

__all__ = ["markdown_layout"]

_MAX_DEPTH = 60  # deeper containers are ranked alike
# What makes a block unsplittable: of a footnote, lines that would be indented code to CommonMark proper.
_UNSPLITTABLE = {
    "code": re.compile(b""),
    "table": re.compile(b""),
    "html": re.compile(rb"<(?:table|pre|script|style|textarea)\b", re.IGNORECASE),
    "footnote": re.compile(rb"[\r\n][ \t]*[\r\n]+(?: {4}|\t)"),
}
_TABLE_OR_PRE = re.compile(rb"<(?:table|pre)\b", re.IGNORECASE)


def markdown_layout(text: str, start: int = 0) -> Layout:
    """Return the layout of a Markdown document whose body begins at `start`."""
    data = encode(text)
    body = len(data) - len(encode(text[start:])) if start else 0
    found = parse(text, data, start, body)
    cuts, ranks, glue = _cuts(found, body, len(data))
    atoms, html = _atoms(data, found)
    if _TABLE_OR_PRE.search(data, body):
        tags = sorted(html + inline_html(text, start, body))
        lines = unify_line_ends(data)
        atoms = merged(atoms + _whole_lines(data, lines, sorted(matched_spans(data, tags))))
        cuts, ranks = _outside(atoms, cuts, ranks)
    headings = [(line, level, label) for _, line, _, _, depth, level, label in found if level and not depth]
    return Layout(data, body, cuts, ranks, atoms, glue, headings)


def _cuts(found: list[RawBlock], body: int, size: int) -> tuple[list[int], list[int], list[Span]]:
    """Return where blocks begin, how good a cut each is, and where headings forbid one."""
    cuts: list[int] = []
    ranks: list[int] = []
    glue: list[Span] = []
    heading = -1  # where a run of headings began that no block has followed yet
    last = body
    # The depth inside an item or quote that has just begun: what it begins with stays with its marker.
    opened = 0
    for kind, line, _, _, depth, level, _ in found:
        if heading >= 0 and not level:
            glue.append((heading, line))
        elif heading < 0 and line > last and not 0 < opened <= depth:
            cuts.append(line)
            ranks.append(level if level and not depth else BLOCK + min(depth, _MAX_DEPTH))
        last = line
        opened = depth + 1 if kind in ("item", "quote", "footnote") else 0
        if not level:
            heading = -1
        elif heading < 0:
            heading = line
    if heading >= 0:
        glue.append((heading, size))
    return cuts, ranks, glue


def _atoms(data: bytes, found: list[RawBlock]) -> tuple[list[Span], list[Span]]:
    """Return the blocks that may not be split, in whole lines, and all the blocks of HTML."""
    lines = unify_line_ends(data)
    atoms = []
    html = []
    covered = 0
    for kind, line, start, end, *_ in found:
        if kind == "html":
            html.append((start, end))
        unsplittable = _UNSPLITTABLE.get(kind)
        if unsplittable is not None and unsplittable.search(data, start, end) and line >= covered:
            covered = line_end(data, lines, end)
            atoms.append((line, covered))
    return atoms, html


def _whole_lines(data: bytes, lines: bytes, spans: list[Span]) -> list[Span]:
    """Widen `spans` to whole lines, without those that an earlier one covers: no line is read twice."""
    whole: list[Span] = []
    covered = 0
    for start, end in spans:
        if end > covered:
            line = start if start < covered else lines.rfind(b"\n", covered, start) + 1 or covered
            covered = line_end(data, lines, end)
            whole.append((line, covered))
    return whole


def _outside(atoms: list[Span], cuts: list[int], ranks: list[int]) -> tuple[list[int], list[int]]:
    """Leave out the cuts inside atoms: an HTML table can hold blocks."""
    starts = [start for start, _ in atoms]
    kept = []
    for cut, rank in zip(cuts, ranks, strict=True):
        before = bisect_left(starts, cut) - 1
        if before < 0 or cut >= atoms[before][1]:
            kept.append((cut, rank))
    return [cut for cut, _ in kept], [rank for _, rank in kept]
