"""What the styles and lists of a DOCX mean: which paragraphs are headings, and how lists are numbered."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Numbering", "Style", "Styles"]

_HEADING = re.compile(r"heading ([1-9])\Z", re.IGNORECASE)
_MOST_ANCESTORS = 20  # a style that is based on itself, in a circle, ends here
_BODY_LEVEL = 9  # the outline level of what is no heading
_BULLETS = frozenset(("bullet", "none", "picture"))


class Style(NamedTuple):
    """What a paragraph's style, or the paragraph itself, says.

    Attributes:
        level: Of a heading, 1 to 6; 0 of what is none; None where it is not said.
        list_id: Which list it belongs to; "0" is none; None where it is not said.
        depth: How deep in the list it is; None where it is not said.
    """

    level: int | None = None
    list_id: str | None = None
    depth: int | None = None

    def over(self, other: Style) -> Style:
        """Return what holds where `self` is said above `other`."""
        return Style(
            other.level if self.level is None else self.level,
            other.list_id if self.list_id is None else self.list_id,
            other.depth if self.depth is None else self.depth,
        )


def outline_level(value: str) -> int:
    """Return the heading level of an outline level: 0 is the first, 9 is none.

    Example:
        >>> outline_level("0"), outline_level("7"), outline_level("9"), outline_level("x")
        (1, 6, 0, 0)
    """
    number = int(value) if value.isascii() and value.isdigit() and len(value) < 4 else _BODY_LEVEL
    return 0 if number >= _BODY_LEVEL else min(number + 1, 6)


def small_number(value: str) -> int:
    """Return a depth in a list, within bounds."""
    return min(int(value), 8) if value.isascii() and value.isdigit() and len(value) < 4 else 0


class Styles:
    """The styles of a document, by their ids; takes the events of `styles.xml`."""

    def __init__(self) -> None:
        self._styles: dict[str, Style] = {}
        self._bases: dict[str, str] = {}
        self._id = ""
        self._style = Style()

    def of(self, name: str) -> Style:
        """Return what the style with this id says, or those that it is based on."""
        found = Style()
        for _ in range(_MOST_ANCESTORS):
            if name not in self._styles:
                break
            found = found.over(self._styles[name])
            name = self._bases.get(name, "")
        return found

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: D102
        value = attributes.get("val", "")
        if name == "style":
            self._id, self._style = attributes.get("styleId", ""), Style()
        elif name == "name":
            if match := _HEADING.match(value):
                self._style = self._style._replace(level=min(int(match[1]), 6))
            elif value.lower() == "title":
                self._style = self._style._replace(level=1)
        elif name == "basedOn":
            self._bases[self._id] = value
        elif name == "outlineLvl" and self._style.level is None:
            self._style = self._style._replace(level=outline_level(value))
        elif name == "numId":
            self._style = self._style._replace(list_id=value)
        elif name == "ilvl":
            self._style = self._style._replace(depth=small_number(value))

    def end(self, name: str) -> None:  # noqa: D102
        if name == "style":
            self._styles[self._id] = self._style
            self._id = ""

    def text(self, text: str) -> None:
        """There is none."""


class Numbering:
    """Which lists have numbers, and what comes next in each; takes the events of `numbering.xml`."""

    def __init__(self) -> None:
        self._formats: dict[tuple[str, int], str] = {}  # of the abstract lists
        self._abstract: dict[str, str] = {}  # of each list
        self._next: dict[tuple[str, int], int] = {}
        self._outer = self._list = ""
        self._depth = 0

    def marker(self, list_id: str, depth: int) -> str:
        """Return what goes before the next item of a list."""
        for key in [key for key in self._next if key[0] == list_id and key[1] > depth]:
            del self._next[key]  # deeper items begin anew under the next one
        kind = self._formats.get((self._abstract.get(list_id, ""), depth), "bullet")
        if kind in _BULLETS:
            return "- "
        number = self._next.get((list_id, depth), 1)
        self._next[list_id, depth] = number + 1
        return f"{number}. "

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: D102
        if name == "abstractNum":
            self._outer = attributes.get("abstractNumId", "")
        elif name == "num":
            self._list = attributes.get("numId", "")
        elif name == "lvl":
            self._depth = small_number(attributes.get("ilvl", ""))
        elif name == "numFmt" and not self._list:
            self._formats[self._outer, self._depth] = attributes.get("val", "")
        elif name == "abstractNumId":
            self._abstract[self._list] = attributes.get("val", "")

    def end(self, name: str) -> None:  # noqa: D102
        if name == "num":
            self._list = ""

    def text(self, text: str) -> None:
        """There is none."""
