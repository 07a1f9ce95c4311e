"""Server-sent events, read as the WHATWG's HTML standard says (section 9.2), from bytes cut anywhere."""

from __future__ import annotations

import codecs
from typing import NamedTuple

__all__ = ["MAX_EVENT", "Event", "EventParser", "OversizedEventError"]

# A longer event is no piece of an answer: a token comes in some hundred bytes.
MAX_EVENT = 4 * 2**20


class OversizedEventError(ValueError):
    """A line or an event is longer than `MAX_EVENT`."""


class Event(NamedTuple):
    """One event: its lines of data, joined, and its type."""

    data: str
    type: str = "message"


class EventParser:
    r"""Takes bytes as they come and gives the events that they complete.

    Args:
        most: How many bytes a line, or the data of an event, may have.

    Example:
        >>> parser = EventParser()
        >>> parser.feed(b": hello\r\ndata: on"), parser.feed(b"e\rdata:two\n\n: bye")
        ([], [Event(data='one\ntwo', type='message')])
    """

    def __init__(self, *, most: int = MAX_EVENT) -> None:
        self._most = most
        self._line: list[bytes] = []  # the pieces of a line that has not ended
        self._line_size = 0
        self._after_cr = False  # a LF that comes next belongs to the CR before it
        self._first = True
        self._data: list[str] = []
        self._data_size = 0
        self._type = ""

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that end in `piece`; what the stream's end leaves unfinished is no event.

        Raises:
            OversizedEventError: A line or an event is too long.
        """
        events: list[Event] = []
        if not piece:
            return events
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
            self._after_cr = False
        for part in piece.splitlines(keepends=True):  # of bytes: at CR, LF and CRLF, and nowhere else
            self._line_size += len(part)
            self._check(self._line_size)
            self._line.append(part)
            if part.endswith((b"\n", b"\r")):
                self._end_line(events)
                self._after_cr = part.endswith(b"\r")
            else:
                self._after_cr = False
        return events

    def _end_line(self, events: list[Event]) -> None:
        line = b"".join(self._line).rstrip(b"\r\n")
        self._line.clear()
        self._line_size = 0
        if self._first:
            line = line.removeprefix(codecs.BOM_UTF8)
            self._first = False
        if line:
            self._field(line)
            return
        if self._data:
            events.append(Event("\n".join(self._data), self._type or "message"))
        self._data, self._data_size, self._type = [], 0, ""

    def _field(self, line: bytes) -> None:
        # Neither line end is part of a character in UTF-8: a line decodes alone as it does in the stream.
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data_size += len(line)
            self._check(self._data_size)
            self._data.append(value)
        elif name == "event":
            self._type = value

    def _check(self, size: int) -> None:
        if size > self._most:
            raise OversizedEventError(f"an event of more than {self._most:,} bytes")
