"""An HTML page as readable text, with Markdown's headings, lists, tables and fences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from firstlight.text.html_tokens import Token, attribute, tokens

__all__ = ["Page", "declared_encoding", "extract_html"]

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    {
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "center",
            "details",
            "dialog",
            "div",
            "fieldset",
        ),
        *("figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "main", "p"),
        *("section", "summary", "dl", "dt", "dd", "ol", "ul", "menu", "option", "li"),
        *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
    }
)
# What a page shows around its content, or shows in pictures.
_DROPPED = frozenset(
    ("audio", "canvas", "datalist", "nav", "noscript", "object", "select", "svg", "template", "video")
)
_LISTS = frozenset(("ol", "ul", "menu"))
_MAX_LIST_DEPTH = 8  # deeper lists stay at this indentation: spaces must not outgrow the text
_SPACES = re.compile(r"[ \t\n\r\f]+")
# A table that holds these is there for the layout: as one Markdown table it could never be split.
_LAYOUT = re.compile(r"<(?:h[1-6]|pre|[ou]l|form)\b", re.IGNORECASE)
_TABLE_EDGE = re.compile(r"<(/?)table\b", re.IGNORECASE)
# Text at the start of a line that Markdown would take for a heading, a fence or a block of HTML.
_MARKDOWN = re.compile(r"^(?=#{1,6}(?:[ \t]|$)|`{3}|~{3}|<(?:[!?]|pre|script|style|textarea))", re.MULTILINE)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_BROWSER_NAMES = {"iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252"}


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a page, and its title: `<title>`, else the first `<h1>`, else an empty string."""

    text: str
    title: str


def extract_html(source: str) -> Page:
    r"""Return the readable text of an HTML page.

    Scripts, styles, navigation and pictures are left out. Blocks are separated by blank lines; `pre` is kept
    to the character inside a fence; data tables become pipe tables.

    Example:
        >>> page = extract_html("<title>Nodes</title><h1>Drain</h1><p>Cordon&nbsp;it<br>first.")
        >>> page.title, page.text
        ('Nodes', '# Drain\n\nCordon\xa0it\nfirst.\n')
    """
    reader = _Reader(source)
    for token in tokens(source):
        reader.take(token)
    reader.finish()
    return Page(reader.joined(), reader.title or reader.first_h1)


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that an HTML file declares near its start, as browsers understand it."""
    match = _CHARSET.search(data[:2048])
    if match is None or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return None
    name = match[1].decode("ascii").lower()
    return None if name.startswith("utf") else _BROWSER_NAMES.get(name, name)


class _Reader:
    """Collects blocks from tokens; it holds only what is open right now, never a tree."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.title = ""
        self.first_h1 = ""
        self.blocks: list[str] = []
        self.lines: list[str] = []  # of the block that is open, before its last line break
        self.inline: list[str] = []
        self.heading = 0
        self.lists: list[int] = []  # the next number of each open list; -1 for bullets
        self.bullet = ""
        self.in_pre = False
        self.pre: list[str] = []
        self.language = ""
        self.in_table = False  # a table of data; those for the layout are read as blocks
        self.rows: list[list[str]] = []
        self.dropped = ""
        self.dropped_depth = 0
        self.never_closed: set[str] = set()

    def take(self, token: Token) -> None:
        if self.dropped:
            self._inside_dropped(token)
        elif token.kind == "text":
            self._text(token.value)
        elif token.kind == "raw":
            if token.name == "title" and not self.title:
                self.title = " ".join(unescape(token.value[:2000]).split())
        elif token.name in _DROPPED:
            self._drop(token)
        elif self.in_pre:
            self._inside_pre(token)
        elif self.in_table:
            self._inside_table(token)
        else:
            self._tag(token)

    def finish(self) -> None:
        if self.in_pre:
            self._end_pre()
        if self.in_table:
            self._end_table()
        self._flush()

    def joined(self) -> str:
        return "".join(self.blocks) + "\n" if self.blocks else ""

    def _text(self, text: str) -> None:
        if self.in_pre:
            self.pre.append(text.replace("\r\n", "\n"))
        else:
            self.inline.append(text)

    def _drop(self, token: Token) -> None:
        """Begin to leave out an element, if it ever closes: a page must not vanish after a stray tag."""
        name = token.name
        if name == "nav" and not (self.in_pre or self.in_table):
            self._flush()
        if token.kind == "close" or token.value.endswith("/") or name in self.never_closed:
            return
        if re.compile(rf"</{name}\b", re.IGNORECASE).search(self.source, token.end):
            self.dropped, self.dropped_depth = name, 1
        else:
            self.never_closed.add(name)

    def _inside_dropped(self, token: Token) -> None:
        if token.name == self.dropped:
            self.dropped_depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if self.dropped_depth == 0:
                self.dropped = ""

    def _tag(self, token: Token) -> None:
        name, opens = token.name, token.kind == "open"
        if name == "br":
            self.lines.append("".join(self.inline))
            self.inline.clear()
        elif name == "img":
            self.inline.append(attribute(token.value, "alt"))
        elif name in _HEADINGS:
            self._flush()
            self.heading = _HEADINGS[name] if opens else 0
        elif name == "pre" and opens:
            self._flush()
            self.in_pre, self.pre, self.language = True, [], _language(token.value)
        elif name in _BLOCKS:
            self._block(token)

    def _block(self, token: Token) -> None:
        name, opens = token.name, token.kind == "open"
        if self.heading and name in ("div", "summary"):
            self.inline.append(" ")
            return
        self._flush()
        self.heading = 0
        if name in _LISTS:
            if opens:
                self.lists.append(1 if name == "ol" else -1)
            elif self.lists:
                self.lists.pop()
            self.bullet = ""
        elif name == "li":
            self.bullet = self._next_bullet() if opens else ""
        elif name == "table" and opens and self._is_data(token.end):
            self.in_table, self.rows = True, []

    def _next_bullet(self) -> str:
        if not self.lists or self.lists[-1] < 0:
            return "- "
        self.lists[-1] += 1
        return f"{self.lists[-1] - 1}. "

    def _flush(self) -> None:
        """End the block of text that is being collected, if there is one."""
        if not self.inline and not self.lines:
            return
        lines = [_SPACES.sub(" ", line).strip(" ") for line in (*self.lines, "".join(self.inline))]
        self.inline.clear()
        self.lines.clear()
        text = "\n".join(lines).strip("\n")
        if not text:
            return
        if self.heading:
            text = " ".join(text.split("\n"))
            if self.heading == 1 and not self.first_h1:
                self.first_h1 = text
            self._emit(f"{'#' * self.heading} {text}")
        else:
            self._emit(_MARKDOWN.sub(r"\\", text), indent=True)

    def _emit(self, block: str, *, indent: bool = False) -> None:
        depth = min(len(self.lists), _MAX_LIST_DEPTH) if indent else 0
        tight = bool(self.bullet) and depth > 0
        if depth:
            outer, inner = " " * (4 * (depth - 1)), " " * (4 * depth)
            lines = block.split("\n")
            first = f"{outer}{self.bullet}" if self.bullet else inner
            block = "\n".join(
                [f"{first}{lines[0]}", *(f"{inner}{line}" if line else "" for line in lines[1:])]
            )
        elif self.bullet and indent:
            block = f"- {block}"
        self.bullet = ""
        if self.blocks:
            self.blocks.append("\n" if tight and _is_item(self.blocks[-1]) else "\n\n")
        self.blocks.append(block)

    def _inside_pre(self, token: Token) -> None:
        if token.name == "pre" and token.kind == "close":
            self._end_pre()
        elif token.name == "br":
            self.pre.append("\n")
        elif token.name == "code" and not self.pre:
            self.language = self.language or _language(token.value)
        elif token.name in _BLOCKS and self.pre and not self.pre[-1].endswith("\n"):
            self.pre.append("\n")

    def _end_pre(self) -> None:
        text = "".join(self.pre).removeprefix("\n").rstrip("\n")
        self.in_pre = False
        if text.strip():
            longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
            fence = "`" * (longest + 1)
            self._emit(f"{fence}{self.language}\n{text}\n{fence}", indent=True)

    def _is_data(self, start: int) -> bool:
        """Tell whether the table that begins at `start` holds data: neither tables nor a page's blocks."""
        edge = _TABLE_EDGE.search(self.source, start)
        if edge is None or not edge[1]:
            return False
        return _LAYOUT.search(self.source, start, edge.start()) is None

    def _inside_table(self, token: Token) -> None:
        name, opens = token.name, token.kind == "open"
        if name == "table":
            self._end_table()
        elif name == "tr" or (name in ("td", "th") and not self.rows and opens):
            self._end_cell()
            self.rows.append([])
        if name in ("td", "th"):
            self._end_cell()
            if opens and self.rows:
                self.rows[-1].append("")
        elif name == "img":
            self.inline.append(attribute(token.value, "alt"))
        elif name in _BLOCKS or name == "br":
            self.inline.append(" ")

    def _end_cell(self) -> None:
        """Put the text collected so far where it belongs: into the last cell, or before the table."""
        text = _SPACES.sub(" ", "".join(self.inline)).strip(" ")
        self.inline.clear()
        if not text:
            return
        if self.rows and self.rows[-1]:
            cell = self.rows[-1]
            cell[-1] = f"{cell[-1]} {text}".strip()
        else:
            self._emit(_MARKDOWN.sub(r"\\", text), indent=True)

    def _end_table(self) -> None:
        self._end_cell()
        rows = [row for row in self.rows if any(row)]
        self.in_table = False
        if rows:
            lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
            lines.insert(1, f"|{' --- |' * len(rows[0])}")
            self._emit("\n".join(lines), indent=True)


def _is_item(block: str) -> bool:
    return re.match(r" *(?:- |\d+\. )", block) is not None


def _language(attributes: str) -> str:
    match = re.search(r"(?:language|lang|highlight-source)-([\w+#.-]{1,30})", attribute(attributes, "class"))
    return match[1] if match else ""
