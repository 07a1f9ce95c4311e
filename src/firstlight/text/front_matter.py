"""The fields that stand before a document's body: YAML, TOML or JSON, told apart by their fences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError
from firstlight.text.field_values import checked, field_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firstlight.text.types import Value

__all__ = ["MAX_CHARS", "FrontMatter", "split_front_matter"]

# Ten times the largest seen in practice. What is longer is a slip (a fence that closes far below) or an
# attack.
MAX_CHARS = 65_536

_EOL = r"(?:\r\n|\n|\r|\Z)"
_YAML_OPEN = re.compile(rf"---[ \t]*{_EOL}")
_YAML_CLOSE = re.compile(rf"(?<=[\r\n])(?:---|\.\.\.)[ \t]*{_EOL}")
_TOML_OPEN = re.compile(rf"\+\+\+[ \t]*{_EOL}")
_TOML_CLOSE = re.compile(rf"(?<=[\r\n])\+\+\+[ \t]*{_EOL}")
_JSON_OPEN = re.compile(r"\{[ \t]*(?:\r\n|\n|\r)\s*\"")
_LINE_END = re.compile(r"\r\n|\n|\r")
# What the first line with content must look like: perhaps a mapping, and surely one (damage is then an
# error).
_PERHAPS_MAPPING = re.compile(r"[{?!&\"']|(?:[^ \t#*>`|-]|-(?=[^ \t])).*?:(?:[ \t]|\Z)")
_SURELY_MAPPING = re.compile(r"[\w\"'][\w .\"'-]*:(?:[ \t]|\Z)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a document, the 1-based line of each, and the offset at which its body begins."""

    fields: Mapping[str, Value] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    end: int = 0


_NONE = FrontMatter()


def split_front_matter(text: str) -> FrontMatter:
    r"""Return the front matter at the start of `text`; its `end` is 0 without one.

    - YAML opens with a line `---` and closes with `---` or `...`, if a mapping lies between, or nothing at
      all; any other `---` is a thematic break.
    - TOML lies between two lines `+++`.
    - JSON is an object whose `{` stands alone on the first line, with a body after it.

    Values are `str`, `int`, `float`, `bool`, `date`, `None`, lists and dictionaries of them, and `datetime`
    in UTC (an instant without a zone is taken as UTC). Numbers that are not finite or not of 64 bits, and
    dates that no calendar has, stay the text they were written as.

    Raises:
        DocumentError: The front matter is damaged; `error.line` says where.

    Example:
        >>> matter = split_front_matter("---\ntitle: Drain\nreviewed: 2024-05-01\n---\n# Drain a node\n")
        >>> matter.fields
        {'title': 'Drain', 'reviewed': datetime.date(2024, 5, 1)}
        >>> matter.lines, matter.end
        ({'title': 2, 'reviewed': 3}, 42)
    """
    if text.startswith("---") and (match := _YAML_OPEN.match(text)):
        return _split_yaml(text, match.end())
    if text.startswith("+++") and (match := _TOML_OPEN.match(text)):
        return _split_toml(text, match.end())
    if text.startswith("{") and _JSON_OPEN.match(text):
        return _split_json(text)
    return _NONE


def _split_yaml(text: str, start: int) -> FrontMatter:
    close = _YAML_CLOSE.search(text, start)
    if close is None:
        return _NONE
    if close.start() == start:
        return FrontMatter(end=close.end())
    first = _first_content(text, start, close.start())
    if not _PERHAPS_MAPPING.match(first):
        return _NONE
    try:
        _check_size(close.start() - start, "---")
        pairs = _read_yaml(text[start : close.start()])
    except DocumentError:
        if text[start] in "\r\n" or not _SURELY_MAPPING.match(first):
            return _NONE  # prose between two thematic breaks
        raise
    return _NONE if pairs is None else _front_matter(*pairs, close.end())


def _read_yaml(source: str) -> tuple[dict[str, object], dict[str, int]] | None:
    # Documents without YAML never pay for its import.
    from firstlight.text.yaml_mapping import read_yaml_mapping  # noqa: PLC0415

    return read_yaml_mapping(source, first_line=2)


def _first_content(text: str, start: int, end: int) -> str:
    """Return the first line that is neither blank nor a comment."""
    position = start
    while position < end:
        match = _LINE_END.search(text, position, end)
        stop, following = match.span() if match else (end, end)
        content = text[position:stop].strip(" \t")
        if content and not content.startswith("#"):
            return content
        position = following
    return ""


def _split_toml(text: str, start: int) -> FrontMatter:
    close = _TOML_CLOSE.search(text, start)
    if close is None:
        raise DocumentError("the front matter that '+++' opens never closes: add a line '+++'", line=1)
    _check_size(close.start() - start, "+++")
    # Few documents need it.
    from firstlight.text.toml_mapping import read_toml_mapping  # noqa: PLC0415

    source = _LINE_END.sub("\n", text[start : close.start()])  # TOML knows no bare carriage return
    return _front_matter(*read_toml_mapping(source), close.end())


def _split_json(text: str) -> FrontMatter:
    # Few documents need it.
    from firstlight.text.json_mapping import read_json_mapping  # noqa: PLC0415

    fields, lines, end = read_json_mapping(text[: MAX_CHARS + 1])
    if end > MAX_CHARS:
        _check_size(end, "{")
    close = re.compile(rf"[ \t]*{_EOL}").match(text, end)
    if close is None or not text[close.end() :].strip():
        return _NONE  # a file that is one JSON object is data to search, not fields of nothing
    return _front_matter(fields, lines, close.end())


def _check_size(size: int, fence: str) -> None:
    if size > MAX_CHARS:
        reason = f"the front matter that '{fence}' opens is {size:,} characters long, over {MAX_CHARS:,}"
        raise DocumentError(f"{reason}: close it earlier, or put a blank line first", line=1)


def _front_matter(fields: Mapping[str, object], lines: Mapping[str, int], end: int) -> FrontMatter:
    values: dict[str, Value] = {}
    for name, value in fields.items():
        try:
            values[checked(name)] = field_value(value)
        except DocumentError as error:
            raise DocumentError(f"{name!a}: {error.reason}", line=lines.get(name, 1)) from None
    return FrontMatter(values, lines, end)
