"""JSON front matter, with the line of every field."""

from __future__ import annotations

import json
import re

from firstlight.errors import DocumentError
from firstlight.text.field_values import finite

__all__ = ["read_json_mapping"]

_SPACE = re.compile(r"[ \t\r\n]*")


def read_json_mapping(text: str) -> tuple[dict[str, object], dict[str, int], int]:
    """Return the fields of the JSON object at the start of `text`, the line of each, and where it ends.

    Numbers that are not finite stay text.

    Raises:
        DocumentError: It is not JSON, or a key is there twice; `error.line` says where.
    """
    fields: dict[str, object] = {}
    lines: dict[str, int] = {}
    position = 1
    try:
        while True:
            position = _skip(text, position)
            key, value, start, position = _member(text, position)
            line = _line(text, start)
            if key in fields:
                raise DocumentError(f"the key {key!r} is there twice, first on line {lines[key]}", line=line)
            fields[key], lines[key] = value, line
            position = _skip(text, position)
            if text[position : position + 1] == "}":
                return fields, lines, position + 1
            position = _expect(text, position, ",")
    except json.JSONDecodeError as error:
        reason = f"the JSON front matter is damaged: {error.msg}"
        raise DocumentError(reason, line=_line(text, error.pos)) from None
    except (RecursionError, ValueError) as error:  # nested too deeply, or a number too long
        reason = f"the JSON front matter cannot be read: {error}"
        raise DocumentError(reason, line=_line(text, position)) from None


def _member(text: str, position: int) -> tuple[str, object, int, int]:
    start = position
    key, position = _DECODER.raw_decode(text, start)
    if not isinstance(key, str):
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, start)
    position = _skip(text, _expect(text, _skip(text, position), ":"))
    value, position = _DECODER.raw_decode(text, position)
    return key, value, start, position


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _expect(text: str, position: int, char: str) -> int:
    if text[position : position + 1] != char:
        raise json.JSONDecodeError(f"Expecting {char!r}", text, position)
    return position + 1


def _line(text: str, position: int) -> int:
    return len(re.findall(r"\r\n|\n|\r", text[:position])) + 1


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in value if names.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=finite, parse_constant=str)
