"""The blocks of a Markdown document: by CommonMark with GFM's tables and footnotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from firstlight.text.layout import encode, points
from firstlight.text.titles import without_anchor

if TYPE_CHECKING:
    from collections.abc import Iterator

    RawBlock = tuple[str, int, int, int, int, int, str]

__all__ = ["Block", "blocks", "inline_html", "line_end", "parse", "unify_line_ends"]

_HEADING_CHARACTERS = 200  # a heading is a label, though a setext one can be as long as a paragraph
_BARE_CR = re.compile(r"\r(?!\n)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS = {  # of pyromark's tags; the others are inline, or parts of tables
    "Paragraph": "paragraph",
    "Heading": "heading",
    "CodeBlock": "code",
    "Table": "table",
    "HtmlBlock": "html",
    "Rule": "rule",
    "List": "list",
    "Item": "item",
    "BlockQuote": "quote",
    "FootnoteDefinition": "footnote",
}
_CONTAINERS = frozenset(("footnote", "item", "list", "quote"))
_LF = 10


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a Markdown document.

    Attributes:
        kind: `heading`, `paragraph`, `code`, `table`, `html`, `rule`, or a container: `quote`, `list`,
            `item`, `footnote`.
        start: The offset of its first line, the indentation and markers before the block included.
        end: The offset after its last line, that line's end included.
        depth: How many containers it is in.
        level: Of a heading, 1 to 6; else 0.
        text: Of a heading, its text without markup and explicit anchor, at most 200 characters; else empty.
    """

    kind: str
    start: int
    end: int
    depth: int = 0
    level: int = 0
    text: str = ""


def blocks(text: str, start: int = 0) -> list[Block]:
    r"""Return the blocks of `text` from `start` on, in document order, a container before what it contains.

    The items of a tight list have no paragraphs of their own. Link reference definitions are no blocks.

    Example:
        >>> [(b.kind, b.start, b.end, b.text) for b in blocks("# A *b*\n\ntext\n")]
        [('heading', 0, 8, 'A b'), ('paragraph', 9, 14, '')]
    """
    data = encode(text)
    body = len(encode(text[:start]))
    raw = parse(text, data, start, body)
    lines = unify_line_ends(data)
    ends = [line_end(data, lines, end) for _, _, _, end, *_ in raw]
    at = points(data, [line for _, line, *_ in raw] + ends)
    return [
        Block(kind, at[line], at[end], depth, level, label)
        for (kind, line, _, _, depth, level, label), end in zip(raw, ends, strict=True)
    ]


def parse(text: str, data: bytes, start: int, body: int) -> list[RawBlock]:
    """Return the blocks of `text[start:]`, which is `data[body:]` in UTF-8.

    A block is (kind, start of its first line, start, end, depth, level, text), in bytes of `data`; tuples,
    because a folder has as many of them as lines.
    """
    lines = unify_line_ends(data)
    found: list[RawBlock] = []
    ends: list[int] = []  # of the containers around here
    line = body
    events = _events(text, start)
    for event, span in events:
        if type(event) is dict:
            tag = event.get("Start")
            if tag is None:
                continue
            kind = _KINDS.get(tag if type(tag) is str else next(iter(tag)))
        else:
            tag, kind = None, _KINDS.get(event)
        if kind is None:
            continue
        at, end = span["start"] + body, span["end"] + body
        while ends and ends[-1] <= at:
            ends.pop()
        if at > line:
            line = at if lines[at - 1] == _LF else max(line, lines.rfind(b"\n", line, at) + 1)
        if tag is not None and kind == "heading":
            found.append((kind, line, at, end, len(ends), int(tag["Heading"]["level"][1]), _label(events)))
            continue
        found.append((kind, line, at, end, len(ends), 0, ""))
        if kind in _CONTAINERS:
            ends.append(end)
    return found


def inline_html(text: str, start: int, body: int) -> list[tuple[int, int]]:
    """Return the ranges of the HTML tags inside paragraphs of `text[start:]`, in bytes, `body` added."""
    return [
        (span["start"] + body, span["end"] + body)
        for event, span in _events(text, start)
        if type(event) is dict and "InlineHtml" in event
    ]


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


def _events(text: str, start: int) -> Iterator[tuple[Any, dict[str, int]]]:
    source = text[start:]
    if "\r" in source:
        source = _BARE_CR.sub("\n", source)  # ends no line of a fence in pyromark 0.10
    if not source.isascii() and _SURROGATE.search(source):
        source = _SURROGATE.sub("\ufffd", source)  # as many bytes
    return _parser().events_with_range(source)  # type: ignore[no-any-return]


@cache
def _parser() -> Any:  # pyromark is imported when the first document is parsed
    import pyromark  # noqa: PLC0415

    options = pyromark.Options
    return pyromark.Markdown(options=options.ENABLE_TABLES | options.ENABLE_FOOTNOTES)


def _label(events: Iterator[tuple[Any, dict[str, int]]]) -> str:
    """Read the events of a heading up to its end; return its text without markup."""
    parts: list[str] = []
    ends_in_code = False
    for event, _ in events:
        if type(event) is str:
            parts.append(" ")
        elif "Text" in event:
            parts.append(event["Text"])
            ends_in_code = False
        elif "Code" in event:
            parts.append(event["Code"])
            ends_in_code = True
        elif type(event.get("End")) is dict and "Heading" in event["End"]:
            break
    text = " ".join("".join(parts).split())
    return (text if ends_in_code else without_anchor(text))[:_HEADING_CHARACTERS]
