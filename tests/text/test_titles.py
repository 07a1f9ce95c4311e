"""What a document is called."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from firstlight.errors import DocumentError
from firstlight.text.front_matter import split_front_matter
from firstlight.text.read import decode
from firstlight.text.titles import MAX_TITLE, document_title, first_heading

if TYPE_CHECKING:
    from pathlib import Path

    from firstlight.text.types import Value


@pytest.mark.parametrize(
    ("body", "heading"),
    [
        ("# A\n", "A"),
        ("text\n\n   #  A  ##  \n", "A"),
        ("## B\n\n# A", "A"),
        ("## B {#b}\n\n### C\n", "B"),
        ("\n\n   ###  B  ##\ntext\n", "B"),
        ("<!-- Old\n# headings -->\n\n<a id='b'></a>\n\n## B\n", "B"),
        ("B\n---\n\ntext\n", "B"),
        ("\r\n## B\r\n", "B"),
        ("- B\n---\n", ""),
        ("text\n\n## B\n", ""),
        ("    ## code\n", ""),
        ("<!-- ## B", ""),
        ("# {#if}\n", "{#if}"),
        ("A\n===\n", "A"),
        ("text\n\nA\nb\n=\n", "A b"),
        ("#\n\n# A\n", "A"),
        ("#A\n\n    # code\n\n\\# B\n\n> # quoted\n\n- # listed\n", ""),
        ("```\n# a\n```\n# A\n", "A"),
        ("~~~~\n# a\n~~~\n# b\n~~~~~\n# A\n", "A"),
        ("```\n# never closed\n", ""),
        ("``` inline ``` code\n# A\n", "A"),
        ("<!--\n# a\n-->\n\n# A\n", "A"),
        ("<pre>\n# a\n\n# b\n</pre>\n\n# A\n", "A"),
        ("===\n# A\n", "A"),
        ("- item\n===\n# A\n", "A"),
        ("a\rb\r\r# A\rtext\r", "A"),
        ("a\r\n\r\n# A\r\n", "A"),
        ("# A #hash\n", "A #hash"),
        ("# `code` **bold** [link](http://x/(y)) ![pic](z) {#anchor}\n", "code bold link pic"),
        ("# C\\# \\*x\\*\n", "C# *x*"),
        ("# A " + " " * 300_000 + "#\n", "A"),
    ],
)
def test_the_first_heading_of_level_one_or_the_one_that_a_text_begins_with(body: str, heading: str) -> None:
    assert first_heading(body) == heading


@pytest.mark.parametrize(
    "body",
    [
        *(
            "# " + "`" * 300_000,
            "# " + "[" * 300_000,
            "# " + " " * 300_000 + "x",
            "`" * 300_000,
            "=\n" * 100_000,
        ),
        *(
            "> x\n=\n" * 50_000,
            "<!-- -->\n" * 50_000,
            "```\n```\n" * 50_000,
            "``` `\n" * 50_000,
            "#\n" * 100_000,
            "x" * 300_000 + "\n-",
            "<a " * 100_000,
            "<a></a>\n<!-- " * 50_000,
        ),
    ],
)
def test_hostile_headings_are_read_in_time(body: str) -> None:
    assert len(document_title("a.md", {}, lambda: first_heading(body))) <= MAX_TITLE


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"title": "T"}, "T"),
        ({"title": "  a\n b  "}, "a b"),
        ({"title": 7}, "7"),
        ({"title": date(2024, 1, 1)}, "2024-01-01"),
        ({"title": ""}, "H"),
        ({"title": ["a"]}, "H"),
        ({"title": None}, "H"),
        ({"title": True}, "H"),
        ({}, "H"),
    ],
)
def test_the_field_comes_before_the_heading(fields: dict[str, Value], title: str) -> None:
    assert document_title("a/b.md", fields, lambda: "H") == title


@pytest.mark.parametrize(
    ("path", "title"), [("a/b.c.md", "b.c"), ("README", "README"), (".md", ".md"), ("x/ .md", "x/ .md")]
)
def test_the_stem_comes_last(path: str, title: str) -> None:
    assert document_title(path, {}, str) == title


@given(st.text(), st.text())
def test_a_title_is_one_bounded_line(field: str, heading: str) -> None:
    title = document_title("a.md", {"title": field}, lambda: heading)
    assert 0 < len(title) <= MAX_TITLE
    assert len(title.splitlines()) == 1


_INVISIBLE = re.compile(r"\A(?:\s*\n|<!--.*?-->|<a\b[^<>]*></a>)+", re.DOTALL)


def oracle(body: str) -> str:
    tokens = MarkdownIt("commonmark").parse(body)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h1" and opening.level == 0 and inline.content:
            return first_heading(f"# {inline.content}".replace("\n", " "))
    tokens = MarkdownIt("commonmark").parse(_INVISIBLE.sub("", body))
    if [token.type for token in tokens[:1]] == ["heading_open"]:
        return first_heading(f"# {tokens[1].content}".replace("\n", " "))
    return ""


def test_real_files_agree_with_a_full_parse(data_pack: Path) -> None:
    files = [*(data_pack / "md").rglob("*.md")][::7]
    files += [*(data_pack / "adversarial" / "synthetic" / "headings").rglob("*.md")]
    for file in files:
        try:
            text = decode(file.read_bytes())
            body = text[split_front_matter(text).end :]
        except DocumentError:
            continue
        assert first_heading(body) == oracle(body), file
