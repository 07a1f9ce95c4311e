"""What every chunking has to keep, checked on a document from its text, its blocks and its chunks alone."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firstlight.text.types import Chunk, Document

__all__ = ["broken_invariants", "whole_blocks"]


def whole_blocks(document: Document) -> list[tuple[int, int]]:
    """Return the blocks of a Markdown document that may not be split: code, tables, raw HTML."""
    from firstlight.text.layout import points
    from firstlight.text.markdown import markdown_layout

    layout = markdown_layout(document.text, document.body_start)
    at = points(layout.data, sorted({offset for atom in layout.atoms for offset in atom}))
    return [(at[start], at[end]) for start, end in layout.atoms]


def broken_invariants(
    document: Document, whole: Sequence[tuple[int, int]], chunks: Sequence[Chunk], *, max_tokens: int
) -> Iterator[tuple[int, str]]:
    """Yield (line, reason) for whatever is wrong with `chunks`; a sound chunking yields nothing.

    Args:
        document: The document.
        whole: Its blocks that may not be split, as (start, end), in order.
        chunks: Its chunks, in order.
        max_tokens: What a chunk has at most, unless a block in it that may not be split has more.
    """
    for chunk in chunks:
        yield from (
            (chunk.line_start, reason) for reason in _chunk_faults(document, chunk, whole, max_tokens)
        )
    yield from _cover_faults(document, chunks)


def _chunk_faults(
    document: Document, chunk: Chunk, whole: Sequence[tuple[int, int]], max_tokens: int
) -> Iterator[str]:
    if document.text[chunk.start : chunk.end] != chunk.text:
        yield f"chunk {chunk.index} is not the slice {chunk.start}..{chunk.end} of its document"
    if chunk.start >= chunk.end:
        yield f"chunk {chunk.index} is empty"
    for offset in (chunk.start, chunk.end):
        around = _around(whole, offset)
        if around is not None and document.text[offset : around[1]].strip():
            yield f"chunk {chunk.index} is cut at {offset}, inside a block of code or a table"
    tokens = est_tokens(chunk.text)
    if tokens > max_tokens and not _holds_a_large_block(document, chunk, whole, max_tokens):
        yield f"chunk {chunk.index} has {tokens:,} estimated tokens, over {max_tokens:,}"


def _around(whole: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """Return the block that `offset` lies strictly within."""
    at = bisect_right(whole, (offset, -1)) - 1
    return whole[at] if at >= 0 and whole[at][0] < offset < whole[at][1] else None


def _holds_a_large_block(
    document: Document, chunk: Chunk, whole: Sequence[tuple[int, int]], max_tokens: int
) -> bool:
    return any(
        chunk.start <= start and end <= chunk.end and est_tokens(document.text[start:end]) > max_tokens // 2
        for start, end in whole
    )


def _cover_faults(document: Document, chunks: Sequence[Chunk]) -> Iterator[tuple[int, str]]:
    """Nothing of the body but white space may be outside every chunk, and chunks go forward."""
    edge = document.body_start
    for chunk in chunks:
        if document.text[edge : chunk.start].strip():
            yield chunk.line_start, f"the text before chunk {chunk.index}, from {edge}, is in no chunk"
        edge = max(edge, chunk.end)
    if document.text[edge:].strip():
        line = chunks[-1].line_end if chunks else 1
        yield line, f"the text after {edge} is in no chunk"
    for before, after in pairwise(chunks):
        if after.start <= before.start or after.end <= before.end:
            yield after.line_start, f"chunk {after.index} does not go on after chunk {before.index}"
