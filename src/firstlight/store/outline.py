"""A chunk's heading paths, as the column `headings` holds them: `[path, [[offset, path], ...]]` in JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    Path = tuple[str, ...]


class Outline(NamedTuple):
    """The heading path of a chunk, and where it comes under others; see `Chunk.sections`."""

    headings: Path
    sections: tuple[tuple[int, Path], ...] = ()

    def at(self, offset: int) -> Path:
        """Return the path in force at an offset in the document.

        Example:
            >>> outline = Outline(("Drain",), ((120, ("Drain", "Then")),))
            >>> outline.at(119), outline.at(120)
            (('Drain',), ('Drain', 'Then'))
        """
        return next((path for start, path in reversed(self.sections) if start <= offset), self.headings)


def dump_outline(headings: Sequence[str], sections: Sequence[tuple[int, Sequence[str]]]) -> str:
    """Return the value of the column.

    Example:
        >>> load_outline(dump_outline(["A"], [(7, ["A", "B"])]))
        Outline(headings=('A',), sections=((7, ('A', 'B')),))
    """
    return json.dumps((headings, sections), ensure_ascii=False)


def load_outline(value: str) -> Outline:
    """Return what the column holds; ValueError or TypeError where it was never written so."""
    headings, sections = json.loads(value)
    return Outline(tuple(headings), tuple((int(offset), tuple(path)) for offset, path in sections))
