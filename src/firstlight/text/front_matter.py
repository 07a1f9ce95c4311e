"""The fields that stand before a document's body: YAML, TOML or JSON, told apart by their fences."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from math import isfinite
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firstlight.text.types import Value

__all__ = ["MAX_CHARS", "MAX_DEPTH", "FrontMatter", "split_front_matter"]

# Ten times the largest seen in practice. What is longer is a slip (a fence that closes far below) or an
# attack.
MAX_CHARS = 65_536
MAX_DEPTH = 32
_INT64 = 1 << 63  # what SQLite and NumPy hold

_EOL = r"(?:\r\n|\n|\r|\Z)"
_YAML_OPEN = re.compile(rf"---[ \t]*{_EOL}")
_YAML_CLOSE = re.compile(rf"(?<=[\r\n])(?:---|\.\.\.)[ \t]*{_EOL}")
_TOML_OPEN = re.compile(rf"\+\+\+[ \t]*{_EOL}")
_TOML_CLOSE = re.compile(rf"(?<=[\r\n])\+\+\+[ \t]*{_EOL}")
_JSON_OPEN = re.compile(r"\{[ \t]*(?:\r\n|\n|\r)\s*\"")
# tomllib takes quadratic time for these: 5 s for 20,000 parts.
_TOML_DEEP_KEY = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}")
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
    import tomllib  # noqa: PLC0415 - few documents need it

    source = _LINE_END.sub("\n", text[start : close.start()])  # TOML knows no bare carriage return
    if deep := _TOML_DEEP_KEY.search(source):
        line = 2 + source.count("\n", 0, deep.start())
        raise DocumentError(f"the TOML front matter is nested more than {MAX_DEPTH} deep", line=line)
    try:
        fields = tomllib.loads(source, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        reason = str(error) or "nested too deeply"
        at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", reason)
        line = 1 + (int(at[1]) if at and at[1] else source.count("\n") if at else 1)
        reason = reason[: at.start()] if at else reason
        raise DocumentError(f"the TOML front matter is damaged: {reason}", line=line) from None
    return _front_matter(fields, _toml_lines(source, fields), close.end())


def _toml_lines(source: str, fields: Mapping[str, object]) -> dict[str, int]:
    """Return the line of each top-level key; tomllib gives none: the first line like it counts."""
    lines: dict[str, int] = {}
    in_table = False
    for number, line in enumerate(source.split("\n"), start=2):
        match = re.match(r"\s*(\[\[?)?\s*[\"']?([^\"'=.\[\]]+?)[\"']?\s*[=.\]]", line)
        if match and (match[1] or not in_table) and match[2] in fields:
            lines.setdefault(match[2], number)
        in_table = in_table or bool(match and match[1])
    return lines


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
            values[_checked(name)] = _value(value, MAX_DEPTH)
        except DocumentError as error:
            raise DocumentError(f"{name!a}: {error.reason}", line=lines.get(name, 1)) from None
    return FrontMatter(values, lines, end)


def _value(value: object, depth: int) -> Value:  # noqa: PLR0911 - one return a type
    """Bring one parsed value into the types that a field may have."""
    if isinstance(value, str):
        return _checked(value)
    if isinstance(value, int):  # and bool
        return value if -_INT64 <= value < _INT64 else _spelt(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if value is None:
        return value
    if isinstance(value, (date, time)):
        return _day_or_instant(value)
    if depth == 0:
        raise DocumentError(f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        return {_checked(str(key)): _value(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_value(item, depth - 1) for item in value]
    raise DocumentError(
        f"a field cannot be a {type(value).__name__}"
    )  # pragma: no cover - no reader yields one


def _checked(value: str) -> str:
    """Refuse what escapes can smuggle into a string, and no text can hold."""
    if "\0" in value:
        raise DocumentError("a string holds a NUL")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise DocumentError("a string holds half of a surrogate pair") from None
    return value


def _spelt(value: int) -> str:
    return str(value) if value.bit_length() < 1024 else hex(value)  # str is quadratic, and limited


def _day_or_instant(value: date | time) -> Value:
    if not isinstance(value, datetime):
        return value if isinstance(value, date) else value.isoformat()
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:  # within hours of year 1 or 9999
        return value.isoformat()


def _finite(number: str) -> float | str:
    value = float(number)
    return value if isfinite(value) else number
