"""What a terminal is given: plain text without control characters, and colour where it is wanted."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

__all__ = [
    "Style",
    "columns",
    "count",
    "duration",
    "is_terminal",
    "printable",
    "show",
    "style_for",
    "talk",
    "width",
]

# Where output goes into a pipe or a file, lines are wrapped as on a terminal of this width.
_PLAIN_COLUMNS = 100
_NARROWEST = 30

# What could move a cursor, colour a screen or reorder what is read: C0, DEL, C1, marks of direction, line and
# paragraph separators, and halves of surrogates (names that are not UTF-8 have them).
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return `text` with control characters written out, so that it cannot act on a terminal.

    Example:
        >>> printable("a\x1b[31mred\n")
        'a\\x1b[31mred\\n'
    """
    return _CONTROL.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    character = match.group()
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def width(text: str) -> int:
    """Return how many columns `text` takes.

    Example:
        >>> width("ab"), width("漢字"), width("e\u0301")
        (2, 4, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(character) in {"Mn", "Me", "Cf"} else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def count(number: int, noun: str) -> str:
    """Return a number and its noun.

    Example:
        >>> count(1, "file"), count(2000, "file")
        ('1 file', '2,000 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return a time as a person says it.

    Example:
        >>> duration(0.0123), duration(12.34)
        ('12 ms', '12.3 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


@dataclass(frozen=True, slots=True)
class Style:
    """Colour, or none: each method returns its text, dressed where `colour` is on."""

    colour: bool

    def strong(self, text: str) -> str:
        """Return a title."""
        return self._dressed("1", text)

    def faint(self, text: str) -> str:
        """Return what is beside the point."""
        return self._dressed("2", text)

    def lit(self, text: str) -> str:
        """Return a match."""
        return self._dressed("1;33", text)

    def warning(self, text: str) -> str:
        """Return what needs attention."""
        return self._dressed("33", text)

    def _dressed(self, codes: str, text: str) -> str:
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and text else text


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person reads `stream`."""
    return not stream.closed and stream.isatty()


def style_for(stream: TextIO) -> Style:
    """Return colour for a terminal, unless NO_COLOR or a dumb terminal says otherwise."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(wanted and is_terminal(stream))


def columns(stream: TextIO) -> int:
    """Return how wide `stream` is."""
    if not is_terminal(stream):
        return _PLAIN_COLUMNS
    try:
        found = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        found = 0
    return max(_NARROWEST, found or _PLAIN_COLUMNS)


def show(text: str) -> None:
    """Write a line of data to stdout; what the stream's encoding lacks is written as an escape."""
    _write(sys.stdout, text)


def talk(text: str) -> None:
    """Write a line to stderr, after all that stdout has been given; control characters are written out.

    Where stderr takes nothing more, the command goes on: what it is there for is on stdout.
    """
    sys.stdout.flush()
    with suppress(OSError):
        _write(sys.stderr, "\n".join(printable(line) for line in text.split("\n")))


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text + "\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
