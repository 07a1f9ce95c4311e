from __future__ import annotations

import re
import time
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.text.blocks import blocks
from firstlight.text.chunks import chunk_markdown, chunk_text
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from firstlight.text.types import Chunk

    Oracle = Callable[[str], list[tuple[str, int, int]]]

_LINE_END = re.compile(r"\r\n|\r|\n")


def check_cover(text: str, start: int, chunks: Sequence[Chunk]) -> None:
    """Slices are exact, in order, and cover everything; lines are counted in LF, CRLF and CR."""
    if not text[start:].strip():
        assert chunks == []
        return
    assert (chunks[0].start, chunks[-1].end) == (start, len(text))
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    for before, after in pairwise(chunks):
        assert before.start < after.start <= before.end < after.end
    ends = [match.end() for match in _LINE_END.finditer(text)]
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.line_start == 1 + bisect_right(ends, chunk.start)
        assert chunk.line_end == 1 + bisect_right(ends, chunk.end - 1)


def unsplittable(text: str, start: int, oracle: Oracle) -> list[tuple[int, int]]:
    """Return the code and tables, Markdown's and HTML's, that another parser finds."""
    found = []
    opened: list[int] = []
    for kind, first, last in oracle(text[start:]):
        body = text[first + start : last + start]
        if kind in ("code", "table") or (
            kind == "html" and re.search("<(pre|script|style|table)", body, re.IGNORECASE)
        ):
            found.append((first + start, first + start + len(body.rstrip(" \t\r\n>"))))
        if kind == "html":
            for tag in re.finditer(r"<!--.*?(?:-->|\Z)|<(/?)table\b", body, re.IGNORECASE | re.DOTALL):
                if tag[1] == "":
                    opened.append(first + start + tag.start())
                elif tag[1] and opened:
                    found.append((opened.pop(), first + start + tag.end()))
    return sorted(found)


def check_boundaries(text: str, start: int, chunks: Sequence[Chunk], atoms: list[tuple[int, int]]) -> None:
    """No chunk starts or ends inside code or a table; sizes are within bounds but beside them."""
    edges = sorted({edge for chunk in chunks for edge in (chunk.start, chunk.end)})
    for first, last in atoms:
        inside = [edge for edge in edges if first < edge < last]
        assert not inside, (text[first:last], inside)
    own = start
    for chunk in chunks:
        size = est_tokens(chunk.text)
        near = [text[a:b] for a, b in atoms if a <= chunk.end + 400 and b >= own - 400]
        assert size <= 800 or any(est_tokens(atom) > 600 for atom in near)
        assert size >= 400 or chunk is chunks[-1] or near
        own = chunk.end


def check_headings(text: str, chunks: Sequence[Chunk], atoms: list[tuple[int, int]]) -> None:
    for chunk in chunks[:-1]:
        ended = chunk.end - len(chunk.text) + len(chunk.text.rstrip())
        last = chunk.text.rstrip().rpartition("\n")[2]
        if any(a < ended <= b for a, b in atoms):
            continue
        assert not re.match(r"#{1,6} \w", last), last


@pytest.mark.parametrize("share", range(4))
def test_every_file_of_the_pack_is_chunked_exactly_and_whole(
    pack_markdown: list[tuple[str, str, int]], oracle: Oracle, share: int
) -> None:
    for name, text, start in pack_markdown[share::4]:
        chunks = chunk_markdown(text, start)
        check_cover(text, start, chunks)
        if len(chunks) > 1:
            atoms = unsplittable(text, start, oracle)
            check_boundaries(text, start, chunks, atoms)
            if name != "20000_headings.md":
                check_headings(text, chunks, atoms)


def test_plain_text_of_the_pack_is_chunked_within_bounds(data_pack: Path) -> None:
    text = (data_pack / "long" / "moby_dick.txt").read_bytes().decode()
    chunks = chunk_text(text)
    check_cover(text, 0, chunks)
    assert all(400 <= est_tokens(chunk.text) <= 800 for chunk in chunks[:-1])
    shared = sum(a.end - b.start for a, b in pairwise(chunks))
    assert 0.08 <= shared / len(text) <= 0.2


_PROSE = st.builds(
    lambda words, times: " ".join(words * times) + ".",
    st.lists(
        st.sampled_from(["word", "Ünïcode", "水", "😀", "e\u0301", "`x`", "ends.", "a*b*c", "<b>"]),
        min_size=1,
    ),
    st.integers(1, 40),
)
_LINES = st.builds(
    lambda lines, times: "\n".join(lines * times),
    st.lists(
        st.sampled_from(["x = 1", "", "# no", "~~", "```py", "| a | b |", "é😀"]), min_size=1, max_size=6
    ),
    st.integers(1, 30),
)
_TABLE = st.builds(
    lambda cell, rows: "\n".join(["| a | b |", "|---|:-:|", *[f"| {cell} | 水 |"] * rows]),
    st.sampled_from(["cell", "`x`", "😀 " * 9]),
    st.integers(1, 60),
)
_LEAF = st.one_of(
    _PROSE,
    _TABLE,
    st.builds("{} {}".format, st.sampled_from(["#", "##", "####"]), st.sampled_from(["A", "B `c`", "水"])),
    _LINES.map(lambda body: f"~~~\n{body}\n~~~"),
    _LINES.map(lambda body: f"`````py\n{body}\n`````"),
    _LINES.map(lambda body: "    " + body.replace("\n", "\n    ")),
    _TABLE.map(lambda rows: f"<table>\n<tr><td>\n\n{rows}\n\n</td></tr>\n</table>"),
    _LINES.map(lambda body: f"<pre>\n{body}\n</pre>"),
    st.sampled_from(["---", "<!-- note -->", "<details>", "</details>", "<table>", "[a]: /b", "Setext\n==="]),
)


def _indented(body: str, marker: str) -> str:
    return marker + body.replace("\n", "\n" + " " * len(marker))


_BLOCK = st.recursive(
    _LEAF,
    lambda inner: st.one_of(
        inner.map(lambda body: "> " + body.replace("\n", "\n> ")),
        st.builds(_indented, inner, st.sampled_from(["- ", "1. ", "* "])),
        st.lists(inner, min_size=1, max_size=4).map("\n\n".join),
    ),
    max_leaves=4,
)
_MARKDOWN = st.builds(
    lambda blocks, unclosed, ending, last: ("\n\n".join(blocks) + unclosed).replace("\n", ending) + last,
    st.lists(_BLOCK, max_size=14),
    st.sampled_from(["", "\n\n```\nunclosed", "\n\n> ~~~\n> a\nlazy"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "\n", "\r\n\r\n", "  "]),
)


@settings(max_examples=80)
@given(_MARKDOWN)
def test_generated_markdown_is_chunked_exactly_and_whole(oracle: Oracle, text: str) -> None:
    chunks = chunk_markdown(text)
    check_cover(text, 0, chunks)
    check_boundaries(text, 0, chunks, unsplittable(text, 0, oracle))


@settings(max_examples=80)
@given(_MARKDOWN, st.integers(1, 30), st.integers(30, 90), st.floats(0, 0.49))
def test_any_sizes_in_range_cover_the_text(text: str, least: int, most: int, overlap: float) -> None:
    check_cover(text, 0, chunk_markdown(text, min_tokens=least, max_tokens=most, overlap=overlap))
    chunks = chunk_text(text, min_tokens=least, max_tokens=most, overlap=overlap)
    check_cover(text, 0, chunks)
    assert all(est_tokens(chunk.text) <= most for chunk in chunks)


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "---\na: 1\n---\n"])
def test_a_blank_body_has_no_chunks(blank: str) -> None:
    assert chunk_markdown(blank, len(blank)) == chunk_text(blank, len(blank)) == []
    assert chunk_markdown(blank.replace("---\na: 1\n---\n", "")) == []


def test_a_block_that_may_not_be_split_is_one_chunk_whatever_its_size() -> None:
    prose = "A sentence of some words. " * 70 + "\n\n"
    for body in ("```\n" + "x = 1\n" * 3000 + "```\n\n", "| a |\n|---|\n" + "| 1 |\n" * 3000 + "\n"):
        chunks = chunk_markdown(prose + "## Long\n\n" + body + prose)
        assert sum(body.strip() in chunk.text for chunk in chunks) == 1
        (whole,) = (chunk for chunk in chunks if body.strip() in chunk.text)
        assert whole.headings == ("Long",)
        assert est_tokens(whole.text) < est_tokens(body) + 10


def test_sections_merge_until_they_are_large_enough_and_split_at_the_highest_heading() -> None:
    section = "### Small\n\n" + "Some words of text. " * 20 + "\n\n"
    text = "# One\n\n" + section * 5 + "# Two\n\n" + section * 5
    chunks = chunk_markdown(text, overlap=0)
    assert [chunk.text.startswith(("# One", "# Two")) for chunk in chunks] == [True, True]
    assert [chunk.headings for chunk in chunks] == [("One",), ("Two",)]


def test_the_heading_path_is_that_of_the_first_block_after_the_overlap() -> None:
    part = "Some words that make a sentence. " * 60 + "\n\n"
    text = "\n\n# A `b`\n\n" + part + "## C *d*\n\n" + part + "# E\n\n" + part + "> # quoted\n\n" + part
    paths = [chunk.headings for chunk in chunk_markdown(text)]
    assert paths == [("A b",), ("A b", "C d"), ("E",), ("E",)]


def test_headings_inside_a_chunk_have_their_own_paths() -> None:
    text = "é\n\n# A\n\nText.\n\n## B {#b}\n\nText.\n\n# C\n\nText.\n"
    (chunk,) = chunk_markdown(text)
    assert chunk.headings == ()
    assert chunk.sections == ((3, ("A",)), (15, ("A", "B")), (33, ("C",)))
    assert text[15:19] == "## B"
    (chunk,) = chunk_markdown(text[3:])
    assert (chunk.headings, chunk.sections) == (("A",), ((12, ("A", "B")), (30, ("C",))))


def naive_path(headings: Sequence[tuple[int, int, str]], offset: int) -> tuple[str, ...]:
    path: list[tuple[int, str]] = []
    for start, level, label in headings:
        if start <= offset:
            path = [*(pair for pair in path if pair[0] < level), (level, label)]
    return tuple(label for _, label in path)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            ["# A", "## B", "### C", "## D\n\n#### E", "Words of some text. " * 9, "Ein Sätzchen. " * 40]
        ),
        min_size=1,
        max_size=40,
    )
)
def test_a_chunk_knows_the_heading_path_of_all_its_text(parts: list[str]) -> None:
    text = "\n\n".join(parts) + "\n"
    headings = [(block.start, block.level, block.text) for block in blocks(text) if block.level]
    for chunk in chunk_markdown(text, min_tokens=60, max_tokens=120):
        for offset in range(chunk.start, chunk.end):
            if not text[offset].isspace():
                path = [path for at, path in ((chunk.start, chunk.headings), *chunk.sections) if at <= offset]
                assert path[-1] == naive_path(headings, offset)


def test_long_lists_are_split_between_items_and_never_in_their_code() -> None:
    item = "- An item with a line of text that says something\n\n  ```\n  code\n  ```\n\n"
    chunks = chunk_markdown(item * 200, overlap=0)
    assert len(chunks) > 4
    assert all(chunk.text.startswith("- An item") for chunk in chunks)
    tight = chunk_markdown("- An item with a line of text\n" * 400, overlap=0)
    assert all(chunk.text.startswith("- An item") for chunk in tight)


def test_prose_without_paragraphs_is_split_at_sentences_then_at_words() -> None:
    chunks = chunk_markdown("One sentence follows another here. " * 300, overlap=0)
    assert len(chunks) > 3
    assert all(chunk.text.startswith("One sentence") for chunk in chunks)
    chunks = chunk_markdown("word another " * 2000, overlap=0)
    assert all(chunk.text.startswith(("word ", "another ")) for chunk in chunks)


def test_overlaps_are_whole_blocks_or_sentences() -> None:
    text = "\n\n".join(f"Paragraph {n} begins. It goes on for a while, then ends." for n in range(400))
    chunks = chunk_markdown(text)
    assert all(chunk.text.startswith("Paragraph") for chunk in chunks)
    shares = [a.end - b.start for a, b in pairwise(chunks)]
    assert all(0 < share <= 0.12 * 800 * 3.3 for share in shares)


def test_plain_chunks_between_long_words_are_not_too_small() -> None:
    for size in range(90, 700, 17):
        text = ("word " * 9 + "x" * size + " ") * 60
        assert all(400 <= est_tokens(chunk.text) <= 800 for chunk in chunk_text(text)[:-1])


def test_headings_without_text_stay_bounded() -> None:
    chunks = chunk_markdown("# heading\n" * 5000)
    assert all(est_tokens(chunk.text) <= 800 for chunk in chunks)


def test_a_table_tag_that_never_closes_binds_only_its_own_block() -> None:
    chunks = chunk_markdown("<table>\n\n" + "Some words of text. " * 20 + "\n\n" + "Other words. " * 600)
    assert all(est_tokens(chunk.text) <= 800 for chunk in chunks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_tokens": 0}, "min_tokens must be between 1 and max_tokens"),
        ({"min_tokens": 900}, r"min_tokens must be between 1 and max_tokens \(800\), not 900"),
        ({"max_tokens": 0, "min_tokens": 0}, "between 1 and"),
        ({"overlap": -0.1}, r"at least 0 and less than 0\.5"),
        ({"overlap": 0.5}, r"at least 0 and less than 0\.5"),
        ({"overlap": float("nan")}, r"at least 0 and less than 0\.5"),
    ],
)
def test_options_out_of_range_are_refused_with_the_range(options: dict[str, float], message: str) -> None:
    for chunk in (chunk_markdown, chunk_text):
        with pytest.raises(ValueError, match=message):
            chunk("text", **options)  # type: ignore[arg-type]


_UNITS = {
    "lines": "one line\n",
    "paragraphs": "one paragraph\n\n",
    "words": "word ",
    "one word": "x",
    "backticks": "`",
    "spaced backticks": "` ",
    "headings": "# h\n\ntext\n\n",
    "bare headings": "# h\n",
    "items": "- item\n",
    "rows": "| a |\n|---|\n| 1 |\n\n",
    "fences": "```\nx\n```\n",
    "open tables": "<table>\n\n",
    "inline tables": "a <table></table> ",
    "comments": "a <!-- ",
    "quotes": "> quoted\n>\n",
    "blank lines": "\n",
    "returns": "a\r",
    "full stops": "a. ",
}


@pytest.mark.parametrize("name", _UNITS)
def test_time_grows_with_the_text_no_faster(name: str) -> None:
    unit = _UNITS[name]

    def seconds(size: int) -> float:
        text = "start " + unit * (size // len(unit)) + " end"
        best = float("inf")
        for _ in range(2):
            begun = time.process_time()
            chunk_markdown(text)
            best = min(best, time.process_time() - begun)
        return best

    assert seconds(320_000) < 16 * 4 * max(seconds(20_000), 0.002)


@pytest.mark.parametrize("depth", [60, 600])
def test_deep_nesting_is_chunked(depth: int) -> None:
    nested = "".join("  " * level + f"- item {level}\n" for level in range(depth))
    for text in (nested * 3, ">" * depth + " quoted\n", "- " * depth + "x\n"):
        check_cover(text, 0, chunk_markdown(text))
