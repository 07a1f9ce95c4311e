"""What the tests of the text floor share: another parser's opinion, and the pack's documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ORACLE = MarkdownIt("commonmark").enable("table")
_KINDS = {
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "html_block": "html",
    "heading_open": "heading",
}

Spans = list[tuple[str, int, int]]


def line_offsets(text: str) -> list[int]:
    """Return where each line begins, and where the text ends."""
    starts = [match.start() for match in _LINE.finditer(text) if match.start() < len(text)]
    return [*starts, len(text)]


def blocks_by_markdown_it(text: str) -> Spans:
    """Return (kind, start, end) of code, tables, HTML blocks and headings, whole lines, in code points."""
    offsets = line_offsets(text)
    found = []
    for token in _ORACLE.parse(text):
        kind = _KINDS.get(token.type)
        if kind and token.map:
            first, last = (min(line, len(offsets) - 1) for line in token.map)
            found.append((kind, offsets[first], offsets[last]))
    return found


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], Spans]:
    """The blocks of a Markdown text according to markdown-it-py."""
    return blocks_by_markdown_it


@pytest.fixture(scope="session")
def pack_markdown(data_pack: Path) -> list[tuple[str, str, int]]:
    """The documents of the pack that decode: name, text, end of the front matter."""
    from firstlight.errors import DocumentError
    from firstlight.text import decode, split_front_matter

    found = []
    for folder in ("md", "adversarial"):
        for path in sorted((data_pack / folder).rglob("*.md*")):
            try:
                text = decode(path.read_bytes())
                found.append((path.name, text, split_front_matter(text).end))
            except DocumentError:
                continue
    return found
