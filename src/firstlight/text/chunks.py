"""Chunks: a document's passages, whole blocks of 400 to 800 estimated tokens that overlap a little."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from firstlight.text.layout import plain_layout, points
from firstlight.text.markdown import markdown_layout
from firstlight.text.overlap import overlapping_starts
from firstlight.text.split import split
from firstlight.text.tokens import MAX_TOKENS, MIN_TOKENS, OVERLAP, max_bytes, min_bytes
from firstlight.text.types import Chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from firstlight.text.layout import Layout

__all__ = ["build_chunks", "chunk_markdown", "chunk_text"]

_MOST_OVERLAP = 0.5  # from here on a chunk would be mostly another's text

_BLANK = re.compile(rb"\s*")


def chunk_markdown(
    text: str,
    start: int = 0,
    *,
    min_tokens: int = MIN_TOKENS,
    max_tokens: int = MAX_TOKENS,
    overlap: float = OVERLAP,
) -> list[Chunk]:
    r"""Divide a Markdown document into chunks that cover it from `start` to its end.

    A chunk is an overlap with the chunk before it, then text of its own. No chunk starts or ends inside code
    or a table (HTML tables, `<pre>`, `<script>` and `<style>` included), none ends with a heading. What may
    not be split and is larger than `max_tokens` is one chunk, with its headings. Only the last chunk, or one
    beside something that may not be split, is smaller than `min_tokens` (which counts for no more than half
    of `max_tokens`). An edit changes the chunks around it and no others.

    `Chunk.headings` is the heading path in force at the first block of the chunk's own text, after the
    overlap: where that block is itself a heading, it is the path's last element; where that text begins
    inside a block, it is that block's path. Headings in lists and quotes do not count. `Chunk.sections` has
    the other paths that its text comes under.

    Args:
        text: The whole document.
        start: Where the body begins: the end of the front matter.
        min_tokens: The fewest estimated tokens of a chunk.
        max_tokens: The most estimated tokens of a chunk.
        overlap: What a chunk repeats of the one before at most, in whole blocks or sentences, as a share of
            `max_tokens`.

    Returns:
        The chunks, in order; none for a body of nothing but white space.

    Raises:
        ValueError: An option is out of range.

    Example:
        >>> [(c.headings, c.text) for c in chunk_markdown("# Drain\n\nOne node at a time.\n")]
        [(('Drain',), '# Drain\n\nOne node at a time.\n')]
    """
    return _chunks(markdown_layout, text, start, sizes=(min_tokens, max_tokens), overlap=overlap)


def chunk_text(
    text: str,
    start: int = 0,
    *,
    min_tokens: int = MIN_TOKENS,
    max_tokens: int = MAX_TOKENS,
    overlap: float = OVERLAP,
) -> list[Chunk]:
    r"""Divide a plain text in the same way: its blocks are paragraphs, between blank lines, and pages.

    Example:
        >>> [(c.headings, c.text) for c in chunk_text("# no heading\n")]
        [((), '# no heading\n')]
    """
    return _chunks(plain_layout, text, start, sizes=(min_tokens, max_tokens), overlap=overlap)


def build_chunks(text: str, layout: Layout, starts: list[int], bounds: list[int]) -> list[Chunk]:
    """Return the chunks that begin at `starts`, each with its own text between two of `bounds`."""
    at = points(layout.data, [*starts, *bounds, *(offset for offset, _, _ in layout.headings)])
    lines = _line_numbers(layout.data, starts + bounds)
    outline = _Outline(layout)
    return [
        Chunk(
            index=index,
            start=at[begin],
            end=at[end],
            line_start=lines[begin],
            line_end=lines[end] - (layout.data[end - 1] in b"\r\n"),
            headings=outline.at(own),
            text=text[at[begin] : at[end]],
            sections=tuple((at[offset], path) for offset, path in outline.sections(begin, own, end)),
        )
        for index, (begin, own, end) in enumerate(zip(starts, bounds, bounds[1:], strict=False))
    ]


def _chunks(
    read: Callable[[str, int], Layout], text: str, start: int, *, sizes: tuple[int, int], overlap: float
) -> list[Chunk]:
    least, most = sizes
    if not 1 <= least <= most:
        raise ValueError(f"min_tokens must be between 1 and max_tokens ({most}), not {least}")
    if not 0 <= overlap < _MOST_OVERLAP:
        raise ValueError(f"overlap must be at least 0 and less than {_MOST_OVERLAP}, not {overlap}")
    if not text[start:].strip():
        return []
    layout = read(text, start)
    largest = max_bytes(most)
    smallest = min(min_bytes(least), largest // 2)
    bounds = split(layout, smallest, largest)
    starts = overlapping_starts(
        layout, bounds, smallest=smallest, largest=largest, budget=int(largest * overlap)
    )
    return build_chunks(text, layout, starts, bounds)


def _line_numbers(data: bytes, offsets: list[int]) -> dict[int, int]:
    """Return the 1-based line at each of `offsets`, none of which parts a CR from its LF."""
    found = {}
    returns = b"\r" in data
    last, line = 0, 1
    for offset in sorted(set(offsets)):
        line += data.count(b"\n", last, offset)
        if returns:
            line += data.count(b"\r", last, offset) - data.count(b"\r\n", last, offset)
        last = offset
        found[offset] = line
    return found


class _Outline:
    """The heading paths of a document, in bytes of its layout."""

    def __init__(self, layout: Layout) -> None:
        self._offsets = [offset for offset, _, _ in layout.headings]
        self._paths = list(_paths(layout))
        blank = _BLANK.match(layout.data, layout.start)
        self._first_block = blank.end() if blank else layout.start

    def at(self, offset: int) -> tuple[str, ...]:
        """Return the path in force at the first block at or after `offset`."""
        before = bisect_right(self._offsets, max(offset, self._first_block))
        return self._paths[before - 1] if before else ()

    def sections(self, begin: int, own: int, end: int) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield where a chunk comes under another path than that of its own text's first block."""
        if not self._offsets:
            return
        usual = self.at(own)
        differs = False
        first, last = (bisect_right(self._offsets, max(each, self._first_block)) for each in (begin, end - 1))
        changes = zip(self._offsets[first:last], self._paths[first:last], strict=True)
        for offset, path in ((begin, self.at(begin)), *changes):
            differs = differs or path != usual
            if differs:
                yield offset, path


def _paths(layout: Layout) -> Iterator[tuple[str, ...]]:
    path: list[tuple[int, str]] = []
    for _, level, label in layout.headings:
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, label))
        yield tuple(label for _, label in path)
