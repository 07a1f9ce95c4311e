"""HTML that may not be split: `<table>` and `<pre>`, across the blank lines that end an HTML block."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["matched_spans"]

# An unclosed comment runs to the end of its piece, so that a million of them are read once.
_TAG = re.compile(rb"<!--(?:.*?-->|.*)|<(/?)(table|pre)\b", re.IGNORECASE | re.DOTALL)


def matched_spans(data: bytes, pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return (start, end) from each opening tag to its closing one, in the HTML `pieces` of `data`.

    A tag that never closes spans nothing: one stray `<table>` must not make the rest of a document
    unsplittable.
    """
    opened: dict[bytes, list[int]] = {b"table": [], b"pre": []}
    spans: list[tuple[int, int]] = []
    for start, end in pieces:
        for match in _TAG.finditer(data, start, end):
            name = match[2]
            if name is None:
                continue
            stack = opened[name.lower()]
            if not match[1]:
                stack.append(match.start())
            elif stack:
                spans.append((stack.pop(), match.end()))
    return spans
