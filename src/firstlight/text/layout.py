"""Where a text may be cut: what the chunker knows of a document, in UTF-8 bytes.

Sizes are estimated from bytes and pyromark counts in bytes, so everything between parsing and the finished
chunks is in bytes; only the finished chunks are turned into code points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    Span: TypeAlias = tuple[int, int]

__all__ = ["BLOCK", "PAGE", "Layout", "encode", "merged", "plain_layout", "points"]

# The rank of a cut: the lower, the better. 1 to 6 are headings of that level.
PAGE = 1  # a form feed in plain text
BLOCK = 7  # between two blocks of the document; one more for every list or quote around it

# The first byte is looked for by itself: four times as quick as trying the alternatives at every place.
_BLANK_LINES = re.compile(
    rb"[\r\n\f](?:(?<=\f)"
    rb"|(?<=\r)\n?+(?>[ \t\v]*+(?>\r\n|\n|\r))++"
    rb"|(?<=\n)(?>[ \t\v]*+(?>\r\n|\n|\r))++)"
)
# The same where nothing but one of these ends a line and there are no form feeds: three times as quick again.
_OF_LF = re.compile(rb"\n(?>[ \t\v]*+\n)++")
_OF_CRLF = re.compile(rb"\r\n(?>[ \t\v]*+\r\n)++")
_FORM_FEED = 12


@dataclass(frozen=True, slots=True)
class Layout:
    """The places where a document may be cut, and the stretches in which it may not.

    Attributes:
        data: The whole document in UTF-8 (lone surrogates pass).
        start: Where its body begins.
        cuts: The beginnings of blocks, ascending; none inside an atom, none between a heading and its block.
        ranks: How good a cut each of them is: the lower, the better.
        atoms: What may not be split (code, tables), as (start, end), ascending and apart.
        glue: (start, end) from the first of some headings to the block after them; a cut at `end` would leave
            a heading at the end of a chunk.
        headings: (offset, level, plain text) of the headings outside lists and quotes.
    """

    data: bytes
    start: int
    cuts: list[int]
    ranks: list[int]
    atoms: list[Span] = field(default_factory=list)
    glue: list[Span] = field(default_factory=list)
    headings: list[tuple[int, int, str]] = field(default_factory=list)


def encode(text: str) -> bytes:
    """Return `text` in UTF-8; a lone surrogate becomes three bytes, as U+FFFD would."""
    return text.encode("utf-8", "surrogatepass")


def points(data: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """Return the offsets of bytes in `data` as offsets of code points."""
    found = {}
    if data.isascii():
        return {offset: offset for offset in offsets}
    last = count = 0
    for offset in sorted(set(offsets)):
        count += len(data[last:offset].decode("utf-8", "surrogatepass"))
        last = offset
        found[offset] = count
    return found


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return `spans` ascending and apart: those that overlap become one.

    Example:
        >>> merged([(4, 9), (0, 2), (5, 6), (9, 10)])
        [(0, 2), (4, 9), (9, 10)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def plain_layout(text: str, start: int = 0) -> Layout:
    """Return the layout of a text without markup: paragraphs part at blank lines, pages at form feeds."""
    data = encode(text)
    body = len(encode(text[:start]))
    if (of_one := _of_one(data, body)) is not None:
        cuts = [match.end() for match in of_one.finditer(data, body)]
        if cuts and cuts[-1] == len(data):
            cuts.pop()
        return Layout(data, body, cuts, [BLOCK] * len(cuts))
    ranks: dict[int, int] = {}
    for match in _BLANK_LINES.finditer(data, body):
        at = match.start() if data[match.start()] == _FORM_FEED else match.end()
        if body < at < len(data):
            ranks[at] = PAGE if data[at] == _FORM_FEED else BLOCK
    return Layout(data, body, list(ranks), list(ranks.values()))


def _of_one(data: bytes, body: int) -> re.Pattern[bytes] | None:
    """Return what finds the blank lines of a body with one kind of line end and no form feed."""
    if b"\f" in data:
        return None
    returns = data.count(b"\r", body)
    if not returns:
        return _OF_LF
    pairs = data.count(b"\r\n", body)
    return _OF_CRLF if returns == pairs == data.count(b"\n", body) else None
