from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.text.blocks import blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    Spans = list[tuple[str, int, int]]


def _spans(text: str, start: int = 0) -> Spans:
    return [
        (block.kind, block.start, block.end)
        for block in blocks(text, start)
        if block.kind in ("code", "table", "html", "heading")
    ]


def _first_lines(text: str, spans: Spans) -> Spans:
    """Leave out the blank lines at the end of a block: parsers differ on whose they are."""
    return [(kind, start, start + len(text[start:end].rstrip(" \t\r\n>"))) for kind, start, end in spans]


def test_every_block_of_the_pack_is_where_another_parser_sees_it(
    pack_markdown: list[tuple[str, str, int]], oracle: Callable[[str], Spans]
) -> None:
    seen = 0
    for name, text, start in pack_markdown[::4]:
        body = text[start:]
        if "[^" in body:
            continue  # footnotes, which markdown-it-py leaves to a plug-in
        expected = _first_lines(body, oracle(body))
        assert _first_lines(body, _spans(body)) == expected, name
        seen += len(expected)
    assert seen > 1000


@pytest.mark.parametrize(
    "text",
    [
        "~~~\n```\n~~~\n",
        "````\n```\n````\nafter\n",
        "- a\n\n  ```py\n  x\n\n  y\n  ```\n\n  b\n",
        "> ```\n> x\nlazy\n",
        "> 1. | a | b |\n>    |---|---|\n>    | 1 | 2 |\n",
        "    code\n\n    more\n\ntext\n",
        "```\nunclosed\n\n# no heading\n",
        "a\r\rb\r\r```\rcode\r```\r\rc\r",
        "a\r\n\r\n```\r\ncode\r\n```\r\n\r\nc\r\n",
        "é 😀\n\n| 水 | b |\n|---|---|\n| 1 | 2 |\n\n# é *b* `c`\n",
        "<div>\n\n# heading\n\n</div>\n",
        "line\u2028separator\f\v\n\n```\nx\n```\n",
    ],
)
def test_blocks_in_odd_places_are_where_another_parser_sees_them(
    text: str, oracle: Callable[[str], Spans]
) -> None:
    assert _first_lines(text, _spans(text)) == _first_lines(text, oracle(text))


def test_headings_are_plain_text_of_a_bounded_length() -> None:
    text = "# A `code` *em* [link](x) ![image](y)\n\nSetext\ntwo lines\n===\n\n## " + "long " * 100
    assert [(b.level, b.text[:24]) for b in blocks(text) if b.kind == "heading"] == [
        (1, "A code em link image"),
        (1, "Setext two lines"),
        (2, "long long long long long"),
    ]
    assert max(len(block.text) for block in blocks(text)) <= 200


def test_containers_come_before_what_they_contain() -> None:
    found = [(block.kind, block.depth) for block in blocks("- a\n\n  > b\n")]
    assert found == [("list", 0), ("item", 1), ("paragraph", 2), ("quote", 2), ("paragraph", 3)]


def test_offsets_count_from_the_beginning_of_the_text() -> None:
    text = "---\ntitle: é\n---\n# One\n"
    assert [(block.kind, text[block.start : block.end]) for block in blocks(text, text.index("#"))] == [
        ("heading", "# One\n")
    ]


def test_lone_surrogates_are_text() -> None:
    assert [block.text for block in blocks("# a\ud800b\n")] == ["a\ufffdb"]


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("## Slots {#slots}\n", "Slots"),
        ("Slots *and* `v-slot` {#slots-and .wide}\n---\n", "Slots and v-slot"),
        ("## {#if}\n", "{#if}"),
        ("## The `{#if}`\n", "The {#if}"),
        ("## The {#if ...} block\n", "The {#if ...} block"),
    ],
)
def test_an_explicit_anchor_is_no_part_of_a_heading(source: str, label: str) -> None:
    assert [block.text for block in blocks(source)] == [label]
