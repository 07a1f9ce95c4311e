"""What a document's rows were when they were written: SQLite notices damage to its pages, not to values."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from firstlight.store.documents import DocumentRow


def checksum(document: DocumentRow, chunks: Iterable[Sequence[object]]) -> int:
    """Return the checksum of a document's row and its chunks' rows.

    It leaves out what changes while the document stays (its file's stat, its recipe) and the texts, of which
    each row holds the hash.

    Args:
        document: The row; its own checksum does not count.
        chunks: The rows of its chunks by position, in the columns of `ChunkRow`, with or without the text.
    """
    found = zlib.crc32(repr((document.id, document.path, document.hash, *document[6:10])).encode())
    for chunk in chunks:
        found = zlib.crc32(repr(tuple(chunk[:10])).encode(), found)
    return found
