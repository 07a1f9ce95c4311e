"""The blocks of a Markdown document: what they are and where, by CommonMark and GFM's tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.text.layout import encode, points

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Block", "RawBlock", "blocks", "line_end", "parse", "unify_line_ends"]

_HEADING_CHARACTERS = 200  # a heading is a label, though a setext one can be as long as a paragraph
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEAVES = {"Paragraph": "paragraph", "HtmlBlock": "html", "Item": "item"}
_NESTS = {"CodeBlock": "code", "Table": "table", "List": "list", "BlockQuote": "quote"}
_CONTAINERS = frozenset(("item", "list", "quote"))
_LF, _CR = 10, 13


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a Markdown document.

    Attributes:
        kind: `heading`, `paragraph`, `code`, `table`, `html`, `rule`, or a container: `quote`, `list`, `item`.
        start: The offset of its first line, the indentation and markers before the block included.
        end: The offset after its last line, that line's end included.
        depth: How many containers it is in.
        level: Of a heading, 1 to 6; else 0.
        text: Of a heading, its text without markup, at most 200 characters; else empty.
    """

    kind: str
    start: int
    end: int
    depth: int = 0
    level: int = 0
    text: str = ""


class RawBlock(NamedTuple):
    """A block as the parser sees it, in bytes; `line` is where its first line begins."""

    kind: str
    line: int
    start: int
    end: int
    depth: int
    level: int = 0
    text: str = ""


def blocks(text: str, start: int = 0) -> list[Block]:
    """Return the blocks of `text` from `start` on, in document order, a container before what it contains.

    The items of a tight list have no paragraphs of their own. Link reference definitions are no blocks.

    Example:
        >>> [(b.kind, b.start, b.end, b.text) for b in blocks("# A *b*\\n\\ntext\\n")]
        [('heading', 0, 8, 'A b'), ('paragraph', 9, 14, '')]
    """
    data = encode(text)
    body = len(encode(text[:start]))
    raw, _ = parse(text, data, start, body)
    lines = unify_line_ends(data)
    ends = [line_end(data, lines, block.end) for block in raw]
    at = points(data, [edge for block in raw for edge in (block.line,)] + ends)
    return [
        Block(b.kind, at[b.line], at[e], b.depth, b.level, b.text) for b, e in zip(raw, ends, strict=True)
    ]


def parse(
    text: str, data: bytes, start: int, body: int, *, inline_html: bool = False
) -> tuple[list[RawBlock], list[tuple[int, int]]]:
    """Return the blocks of `text[start:]`, and the ranges of its inline HTML if asked for, in bytes of `data`.

    Args:
        text: The document.
        data: The document in UTF-8.
        start: Where its body begins in `text`.
        body: Where its body begins in `data`.
        inline_html: Whether to collect inline HTML, which is rarely of interest.
    """
    source = text[start:]
    if len(data) != len(text) and _SURROGATE.search(source):
        source = _SURROGATE.sub("\ufffd", source)  # as many bytes
    lines = unify_line_ends(data)
    found: list[RawBlock] = []
    inline: list[tuple[int, int]] = []
    ends: list[int] = []
    line = body
    events = _parser().events_with_range(source)
    for event, span in events:
        if type(event) is str:
            if event != "Rule":
                continue
            kind = "rule"
            tag: Any = event
        else:
            tag = event.get("Start")
            if tag is None:
                if inline_html and "InlineHtml" in event:
                    inline.append((span["start"] + body, span["end"] + body))
                continue
            if type(tag) is str:
                if tag not in _LEAVES:
                    continue
                kind = _LEAVES[tag]
            else:
                name = next(iter(tag))
                if name == "Heading":
                    kind = "heading"
                elif name in _NESTS:
                    kind = _NESTS[name]
                else:
                    continue
        at = span["start"] + body
        end = span["end"] + body
        while ends and ends[-1] <= at:
            ends.pop()
        if at > line:
            line = at if lines[at - 1] == _LF else max(line, lines.rfind(b"\n", line, at) + 1)
        if kind == "heading":
            level, label = _heading(tag, events)
            found.append(RawBlock(kind, line, at, end, len(ends), level, label))
            continue
        found.append(RawBlock(kind, line, at, end, len(ends)))
        if kind in _CONTAINERS:
            ends.append(end)
    return found, inline


def unify_line_ends(data: bytes) -> bytes:
    """Return `data` with every carriage return as a line feed: the same length, and one byte to look for."""
    return data.replace(b"\r", b"\n") if b"\r" in data else data


def line_end(data: bytes, lines: bytes, end: int) -> int:
    """Return the offset after the line that `end` is in, or `end` if a line ends there.

    Args:
        data: The document in UTF-8.
        lines: The same with unified line ends.
        end: An offset in both.
    """
    if end == 0 or lines[end - 1] != _LF:
        end = lines.find(b"\n", end) + 1 or len(lines)
    if data[end - 1 : end] == b"\r" and data[end : end + 1] == b"\n":
        return end + 1
    return end


@cache
def _parser() -> Any:
    import pyromark  # noqa: PLC0415

    return pyromark.Markdown(options=pyromark.Options.ENABLE_TABLES)


def _heading(tag: Any, events: Iterator[Any]) -> tuple[int, str]:
    """Read the events of a heading up to its end; return its level and its plain text."""
    parts: list[str] = []
    for event, _ in events:
        if type(event) is str:
            parts.append(" ")
        elif "End" in event:
            if "Heading" in event["End"] and type(event["End"]) is dict:
                break
        else:
            parts.append(event.get("Text") or event.get("Code") or "")
    label = " ".join("".join(parts).split())
    return int(tag["Heading"]["level"][1]), label[:_HEADING_CHARACTERS]
