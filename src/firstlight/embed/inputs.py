"""What is embedded of a chunk: its document's title, its heading path, then its text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def input_text(title: str, headings: Sequence[str], text: str) -> str:
    r"""Return what is embedded of a chunk.

    Args:
        title: Its document's title; empty where that is only the file's name, so that a renamed file
            keeps its vectors.
        headings: Its heading path; the first heading is left out where it says the title once more.
        text: Its text.

    Example:
        >>> input_text("Drain", ("Drain", "Before"), "Cordon it first.\n")
        'Drain\nBefore\nCordon it first.\n'
    """
    above = [title, *(headings[1:] if headings[:1] == (title,) else headings)]
    return "\n".join([*filter(None, above), text])


def input_hash(text: str) -> bytes:
    """Return the sha256 of an input text: what vectors are kept by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
