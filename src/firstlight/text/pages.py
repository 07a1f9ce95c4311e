"""Pages: a long plain text in pieces for a digest, without overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.text.chunks import build_chunks
from firstlight.text.layout import plain_layout
from firstlight.text.split import split
from firstlight.text.tokens import max_bytes

if TYPE_CHECKING:
    from firstlight.text.types import Chunk

__all__ = ["CHUNK_TOKENS", "split_pages"]

CHUNK_TOKENS = 1200


def split_pages(text: str, chunk_tokens: int = CHUNK_TOKENS) -> list[Chunk]:
    """Divide a text at form feeds, else between paragraphs, sentences, words; the pieces are the text.

    A piece has at most `chunk_tokens` estimated tokens (but always a code point), and about half of that or
    more unless it is the last. A text of nothing but white space has no pieces.

    Args:
        text: The text.
        chunk_tokens: The most estimated tokens of a piece.

    Raises:
        ValueError: `chunk_tokens` is below 1.

    Example:
        >>> [page.text for page in split_pages("One sentence. Another one.", chunk_tokens=5)]
        ['One sentence. ', 'Another one.']
    """
    if chunk_tokens < 1:
        raise ValueError(f"chunk_tokens must be at least 1, not {chunk_tokens}")
    if not text.strip():
        return []
    layout = plain_layout(text)
    largest = max_bytes(chunk_tokens)
    bounds = split(layout, max(1, largest // 2), largest)
    return build_chunks(text, layout, bounds[:-1], bounds)
