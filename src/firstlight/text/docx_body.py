"""The body of a DOCX: paragraphs and tables as they come, text boxes after the paragraph that holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError
from firstlight.text.docx_styles import Style, outline_level, small_number
from firstlight.text.read import MAX_BYTES

if TYPE_CHECKING:
    from firstlight.text.docx_styles import Numbering, Styles

__all__ = ["Body"]

# What stands for itself inside a run. A soft hyphen shows only where a line breaks.
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "ptab": "\t"}
# What was deleted, moved away, or looked otherwise before.
_GONE = frozenset(("del", "moveFrom", "pPrChange", "rPrChange"))
_INDENT = "  "


@dataclass(slots=True)
class _Paragraph:
    style: str = ""
    own: Style = field(default_factory=Style)
    parts: list[str] = field(default_factory=list)


class Body:
    """Takes the events of `document.xml`; holds what is open, and the text so far."""

    def __init__(self, styles: Styles, numbering: Numbering) -> None:
        self._styles, self._numbering = styles, numbering
        self._blocks: list[tuple[str, bool]] = []  # text, and whether it is an item of a list
        self._size = 0
        self._paragraphs: list[_Paragraph] = []
        self._held: list[tuple[str, bool]] = []  # of text boxes, until the paragraph around them ends
        self._tables = 0
        self._rows: list[list[str]] = []
        self._cell: list[str] = []
        self._gone = 0
        self._in_text = self._in_properties = False

    def text(self, text: str) -> None:
        """Take character data: of runs it is the document's, elsewhere it is layout."""
        if self._in_text and self._paragraphs and not self._gone:
            self._paragraphs[-1].parts.append(text)

    def joined(self) -> str:
        """Return the document: blocks between blank lines, items of a list on lines of their own."""
        parts: list[str] = []
        after_item = False
        for block, is_item in self._blocks:
            if parts:
                parts.append("\n" if is_item and after_item else "\n\n")
            parts.append(block)
            after_item = is_item
        return "".join(parts) + "\n" if parts else ""

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: D102
        if name in _GONE:
            self._gone += 1
        if self._gone:
            return
        if name == "p":
            self._paragraphs.append(_Paragraph())
        elif name == "t":
            self._in_text = True
        elif name == "pPr":
            self._in_properties = True
        elif name in ("tbl", "tr", "tc"):
            self._start_table(name)
        elif self._paragraphs:
            self._inside(self._paragraphs[-1], name, attributes.get("val", ""))

    def end(self, name: str) -> None:  # noqa: D102
        if name in _GONE:
            self._gone -= 1
        elif self._gone:
            return
        elif name == "t":
            self._in_text = False
        elif name == "pPr":
            self._in_properties = False
        elif name == "p" and self._paragraphs:
            self._end_paragraph(self._paragraphs.pop())
        elif name in ("tbl", "tr", "tc"):
            self._end_table(name)

    def _inside(self, paragraph: _Paragraph, name: str, value: str) -> None:
        if name in _CHARACTERS:
            if not self._in_properties:  # where a tab is a tab stop
                paragraph.parts.append(_CHARACTERS[name])
        elif name == "pStyle":
            paragraph.style = value
        elif name == "outlineLvl":
            paragraph.own = paragraph.own._replace(level=outline_level(value))
        elif name == "numId":
            paragraph.own = paragraph.own._replace(list_id=value)
        elif name == "ilvl":
            paragraph.own = paragraph.own._replace(depth=small_number(value))

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.parts).strip()
        if text:
            self._count(text)
            self._held.insert(len(self._held) if self._paragraphs else 0, self._block(text, paragraph))
        if self._paragraphs:  # this one is in a text box
            return
        if self._tables:
            self._cell += [block for block, _ in self._held]
        else:
            self._blocks += self._held
        self._held = []

    def _block(self, text: str, paragraph: _Paragraph) -> tuple[str, bool]:
        style = paragraph.own.over(self._styles.of(paragraph.style))
        if style.level and not self._tables:
            return f"{'#' * style.level} {' '.join(text.split())}", False
        if style.list_id and style.list_id != "0":
            depth = style.depth or 0
            marker = self._numbering.marker(style.list_id, depth)
            indent = _INDENT * depth
            return f"{indent}{marker}{text.replace(chr(10), chr(10) + indent + ' ' * len(marker))}", True
        return text, False

    def _start_table(self, name: str) -> None:
        if name == "tbl":
            self._tables += 1
        elif self._tables != 1:  # a table in a cell is the cell's text
            return
        elif name == "tr":
            self._rows.append([])
        else:
            self._cell = []

    def _end_table(self, name: str) -> None:
        if name == "tbl":
            self._tables -= 1
            if not self._tables:
                self._blocks += [(table, False) for table in [_table(self._rows)] if table]
                self._rows = []
        elif name == "tc" and self._tables == 1 and self._rows:
            self._rows[-1].append(" ".join(" ".join(self._cell).split()).replace("|", "\\|"))

    def _count(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_BYTES:
            raise DocumentError(f"has more than {MAX_BYTES:,} characters: split it")


def _table(rows: list[list[str]]) -> str:
    """Return a pipe table; of one column, its cells, for that is a frame around text."""
    rows = [row for row in rows if any(row)]
    width = max((len(row) for row in rows), default=0)
    if width < 2:
        return "\n\n".join(cell for row in rows for cell in row if cell)
    full = [row + [""] * (width - len(row)) for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in full]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])
