"""XML as events, from bytes that nobody trusts: no document type, no entities but the five, no tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, Protocol
from xml.parsers import expat

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Handler", "XmlError", "parse"]

# Elements of these count, and not what applications add of their own; the second is the strict dialect's.
_NAMESPACES = (
    "http://schemas.openxmlformats.org/",
    "http://purl.oclc.org/ooxml/",
)
_FALLBACK = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_SEPARATOR = "\n"
_DEEPEST = 1000


class XmlError(Exception):
    """It is no XML, or holds what an office document never does."""


class Handler(Protocol):
    """Takes the elements of an office document, without their namespaces."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...  # noqa: D102
    def end(self, name: str) -> None: ...  # noqa: D102
    def text(self, text: str) -> None: ...  # noqa: D102


def parse(pieces: Iterable[bytes], handler: Handler) -> None:
    """Give the elements and the text of an XML document to `handler`, as they come.

    Of what is there in two versions (`mc:AlternateContent`), the second is left out.

    Raises:
        XmlError: It is no XML, has a document type, or is nested too deeply.
    """
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    events = _Events(handler)
    parser.buffer_text = True
    parser.StartElementHandler = events.start
    parser.EndElementHandler = events.end
    parser.CharacterDataHandler = events.text
    parser.StartDoctypeDeclHandler = _refuse  # without it there are no entities to expand, or to fetch
    try:
        for piece in pieces:
            parser.Parse(piece, False)  # expat's own
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise XmlError(f"its XML ends in line {error.lineno}: {expat.ErrorString(error.code)}") from None


def _refuse(*_: object) -> NoReturn:
    raise XmlError("its XML declares a document type, as no office document does")


class _Events:
    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._depth = 0
        self._skipped_from = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise XmlError(f"its XML is nested more than {_DEEPEST} deep")
        if self._skipped_from:
            return
        namespace, _, local = name.rpartition(_SEPARATOR)
        if namespace == _FALLBACK and local == "Fallback":
            self._skipped_from = self._depth
        elif namespace.startswith(_NAMESPACES):
            self._handler.start(local, {_local(key): value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        if not self._skipped_from:
            namespace, _, local = name.rpartition(_SEPARATOR)
            if namespace.startswith(_NAMESPACES):
                self._handler.end(local)
        elif self._skipped_from == self._depth:
            self._skipped_from = 0
        self._depth -= 1

    def text(self, text: str) -> None:
        if not self._skipped_from:
            self._handler.text(text)


def _local(name: str) -> str:
    return name.rpartition(_SEPARATOR)[2]
