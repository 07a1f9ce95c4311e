"""The words of the text floor: what a document and a chunk are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime
    from typing import TypeAlias

    Scalar: TypeAlias = str | int | float | bool | date | datetime | None
    Value: TypeAlias = Scalar | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded document: its whole text, and where its body begins.

    Attributes:
        path: The name below the root.
        text: The decoded text, BOM excluded; every offset counts its code points.
        body_start: The offset at which the front matter ends; 0 without front matter.
        title: From the front matter, else the first heading of level 1, else a lower one that the body begins
            with, else the file's stem.
        fields: The front matter, dates normalised; empty without front matter.
        field_lines: The 1-based line of each top-level field.
    """

    path: str
    text: str
    body_start: int
    title: str
    fields: Mapping[str, Value] = field(default_factory=dict)
    field_lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `document.text[start:end] == text`, always.

    Attributes:
        index: Its position in the document, from 0.
        start: The offset of its first code point in the document.
        end: The offset after its last code point.
        line_start: The 1-based line of its first code point.
        line_end: The 1-based line of its last code point.
        headings: The heading path in force at its first block, outermost first.
        text: The passage itself.
        sections: Where it comes under another heading path than `headings`, as (offset in the document, path
            from there on): at headings after its first block, and in what it repeats of the chunk before.
    """

    index: int
    start: int
    end: int
    line_start: int
    line_end: int
    headings: tuple[str, ...]
    text: str
    sections: tuple[tuple[int, tuple[str, ...]], ...] = ()
