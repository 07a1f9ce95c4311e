"""The documents of a layer: given as texts, and taken apart when somebody asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

from firstlight.text.document import parse_document

if TYPE_CHECKING:
    from typing import TypeAlias

    from firstlight.text.types import Document

    Given: TypeAlias = "str | ContextDocument"

__all__ = ["ContextDocument", "documents_of", "in_a_list"]

_BOM = "\ufeff"
# No text that was decoded from a file has these.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class ContextDocument:
    r"""A document that an agent carries.

    Nothing is done with its text before its `title` or its `text` is asked for, which raises a DocumentError
    where its front matter is damaged.

    Attributes:
        origin: Where it comes from, as it is cited: a path, or `doc-1`, `doc-2` and so on.
        is_file: Whether `origin` is a file's path, whose name says something of it.

    Example:
        >>> document = ContextDocument("ops/drain.md", "# Drain\n\nCordon it first.\n", is_file=True)
        >>> document.origin, document.title, len(document.text)
        ('ops/drain.md', 'Drain', 26)
    """

    origin: str
    given: str = field(repr=False)
    is_file: bool = field(default=False, repr=False)

    @cached_property
    def parsed(self) -> Document:
        """The document as the text floor has it; offsets of hits count the code points of its text."""
        text = self.given.removeprefix(_BOM)
        if not self.is_file and not _is_clean(text):
            # Character for character, so that offsets in the given text hold.
            text = _NO_TEXT.sub("\ufffd", text)
        return parse_document(self.origin, text)

    @property
    def title(self) -> str:
        """What its front matter or its first heading calls it, else its name."""
        return self.parsed.title

    @property
    def text(self) -> str:
        """Its text: of HTML what was extracted, of anything else all of it, the front matter too."""
        return self.parsed.text


def documents_of(given: Iterable[Given], *, before: int = 0) -> tuple[ContextDocument, ...]:
    """Return documents of what was given; texts are named `doc-1`, `doc-2`… by where they stand.

    Args:
        given: Texts, or documents of another layer.
        before: How many there are before them.

    Raises:
        TypeError: It is no list, or something in it is neither.
    """
    return tuple(
        each if isinstance(each, ContextDocument) else ContextDocument(f"doc-{number}", _text(each, number))
        for number, each in enumerate(in_a_list(given, "docs", "texts"), before + 1)
    )


def in_a_list(given: object, name: str, what: str) -> Iterable[object]:
    """Return what was given if it is a list of things, and not one of them.

    Raises:
        TypeError: It is a text, bytes, a path, a mapping, or nothing that can be gone through.
    """
    if isinstance(given, str | bytes | bytearray | PathLike | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of {what}, not a {type(given).__name__}: [{name}]")
    return given


def _is_clean(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _text(given: object, number: int) -> str:
    if isinstance(given, str):
        return given
    hint = "; ContextLayer.from_files reads files" if isinstance(given, PathLike) else ""
    raise TypeError(f"document {number} must be a text, not a {type(given).__name__}{hint}")
