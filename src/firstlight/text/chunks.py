"""Chunks: a document's passages, whole blocks of 400 to 800 estimated tokens that overlap a little."""

from __future__ import annotations

import re
from bisect import bisect_left

from firstlight.text.layout import Layout, plain_layout, points
from firstlight.text.markdown import markdown_layout
from firstlight.text.split import free_zones, sentence_cuts, solids, split, word_starts
from firstlight.text.tokens import max_bytes, min_bytes
from firstlight.text.types import Chunk

__all__ = ["MAX_TOKENS", "MIN_TOKENS", "OVERLAP", "chunk_markdown", "chunk_text"]

MIN_TOKENS = 400
MAX_TOKENS = 800
OVERLAP = 0.12
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
    """Divide a Markdown document into chunks that cover it from `start` to its end.

    A chunk is an overlap with the chunk before it, then passages of its own. No chunk starts or ends inside code, a
    table (HTML tables, `<pre>`, `<script>` and `<style>` included) or between a heading and the block below it. What
    may not be split and is larger than `max_tokens` is one chunk, with its headings. Only the last chunk, or one beside
    something that may not be split, is smaller than `min_tokens` (which counts for no more than half of `max_tokens`).
    An edit changes the chunks around it and no others.

    `Chunk.headings` is the heading path in force at the first block of the chunk's own text, after the overlap: where
    that block is itself a heading, it is the path's last element. Headings in lists and quotes do not count.

    Args:
        text: The whole document.
        start: Where the body begins: the end of the front matter.
        min_tokens: The fewest estimated tokens of a chunk.
        max_tokens: The most estimated tokens of a chunk.
        overlap: The share of `max_tokens` that a chunk repeats, at most, of the one before: whole blocks or sentences.

    Returns:
        The chunks, in order; none for a body of nothing but white space.

    Raises:
        ValueError: An option is out of range.

    Example:
        >>> [(c.headings, c.text) for c in chunk_markdown("# Drain\\n\\nOne node at a time.\\n")]
        [(('Drain',), '# Drain\\n\\nOne node at a time.\\n')]
    """
    _check(min_tokens, max_tokens, overlap)
    if not text[start:].strip():
        return []
    return _chunks(text, markdown_layout(text, start), min_tokens, max_tokens, overlap)


def chunk_text(
    text: str,
    start: int = 0,
    *,
    min_tokens: int = MIN_TOKENS,
    max_tokens: int = MAX_TOKENS,
    overlap: float = OVERLAP,
) -> list[Chunk]:
    """Divide a plain text in the same way: its blocks are paragraphs, between blank lines, and pages.

    Example:
        >>> [c.text for c in chunk_text("# no heading\\n")]
        ['# no heading\\n']
    """
    _check(min_tokens, max_tokens, overlap)
    if not text[start:].strip():
        return []
    return _chunks(text, plain_layout(text, start), min_tokens, max_tokens, overlap)


def _check(min_tokens: int, max_tokens: int, overlap: float) -> None:
    if not 1 <= min_tokens <= max_tokens:
        raise ValueError(f"min_tokens must be between 1 and max_tokens ({max_tokens}), not {min_tokens}")
    if not 0 <= overlap < _MOST_OVERLAP:
        raise ValueError(f"overlap must be at least 0 and less than {_MOST_OVERLAP}, not {overlap}")


def _chunks(text: str, layout: Layout, min_tokens: int, max_tokens: int, overlap: float) -> list[Chunk]:
    largest = max_bytes(max_tokens)
    smallest = min(min_bytes(min_tokens), largest // 2)
    bounds = split(layout, smallest, largest)
    starts = _starts(layout, bounds, smallest, largest, int(largest * overlap))
    return build_chunks(text, layout, starts, bounds)


def build_chunks(text: str, layout: Layout, starts: list[int], bounds: list[int]) -> list[Chunk]:
    """Return the chunks that begin at `starts`, each with its own text between two of `bounds`."""
    at = points(layout.data, [*starts, *bounds])
    lines = _line_numbers(layout.data, [*starts, *bounds])
    paths = _heading_paths(layout, bounds[:-1])
    chunks = []
    for index, (begin, end) in enumerate(zip(starts, bounds[1:], strict=True)):
        first, last = at[begin], at[end]
        ended = layout.data[end - 1] in b"\r\n"
        chunks.append(
            Chunk(
                index=index,
                start=first,
                end=last,
                line_start=lines[begin],
                line_end=lines[end] - ended,
                headings=paths[index],
                text=text[first:last],
            )
        )
    return chunks


def _line_numbers(data: bytes, offsets: list[int]) -> dict[int, int]:
    """Return the 1-based line that begins or goes on at each of `offsets`; no offset parts a CR from its LF."""
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


def _heading_paths(layout: Layout, begins: list[int]) -> list[tuple[str, ...]]:
    """Return the heading path in force at the first block at or after each of `begins`."""
    paths = []
    path: list[tuple[int, str]] = []
    following = 0
    headings = layout.headings
    blank = _BLANK.match(layout.data, begins[0])
    for begin in [blank.end() if blank else begins[0], *begins[1:]]:
        while following < len(headings) and headings[following][0] <= begin:
            _, level, label = headings[following]
            while path and path[-1][0] >= level:
                path.pop()
            path.append((level, label))
            following += 1
        paths.append(tuple(label for _, label in path))
    return paths


def _starts(layout: Layout, bounds: list[int], smallest: int, largest: int, budget: int) -> list[int]:
    """Return where each chunk begins: at its own text, or up to `budget` bytes before it."""
    starts = [bounds[0]]
    if len(bounds) == 2:
        return starts
    solid = solids(layout)
    for index in range(1, len(bounds) - 1):
        previous, begin, end = bounds[index - 1 : index + 2]
        room = min(budget, largest - (end - begin))
        earliest = max(previous + 1, begin - room)
        start = _overlap_start(layout, solid, earliest, begin) if room > 0 else begin
        missing = smallest - (end - start)
        if missing > 0 and budget and end < bounds[-1]:
            start = _word_overlap(layout, solid, start, begin, missing, previous)
        starts.append(start)
    return starts


def _overlap_start(layout: Layout, solid: list[tuple[int, int]], earliest: int, begin: int) -> int:
    """Return the first block that begins at `earliest` or later, or the first sentence if that overlaps much more."""
    place = bisect_left(layout.cuts, earliest)
    block = layout.cuts[place] if place < len(layout.cuts) else begin
    block = min(block, begin)
    if 2 * (begin - block) >= begin - earliest:
        return block
    data = layout.data
    while data[earliest] & 0xC0 == 0x80:
        earliest += 1
    for start, end in free_zones(solid, earliest, block):
        cuts = sentence_cuts(data, start, end)
        if cuts:
            return cuts[0]
    return block


def _word_overlap(
    layout: Layout, solid: list[tuple[int, int]], start: int, begin: int, missing: int, previous: int
) -> int:
    """Return a word before `start` that makes up for the `missing` bytes of a chunk cut between words."""
    zones = free_zones(solid, max(previous, start - 2 * missing), start)
    cuts = [cut for zone in zones for cut in word_starts(layout.data, *zone) if cut <= start - missing]
    return cuts[-1] if cuts else start
