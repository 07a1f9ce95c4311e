"""TOML front matter, with the line of every field."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError
from firstlight.text.field_values import MAX_DEPTH, finite

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_toml_mapping"]

# tomllib takes quadratic time for these: 5 s for 20,000 parts.
_DEEP_KEY = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}")
_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
_KEY = re.compile(r"\s*(\[\[?)?\s*[\"']?([^\"'=.\[\]]+?)[\"']?\s*[=.\]]")


def read_toml_mapping(source: str) -> tuple[dict[str, object], dict[str, int]]:
    """Return the fields of the TOML that begins on line 2, its lines ended by LF, and the line of each.

    Numbers that are not finite stay text.

    Raises:
        DocumentError: It is not TOML, or nested too deeply; `error.line` says where.
    """
    if deep := _DEEP_KEY.search(source):
        line = 2 + source.count("\n", 0, deep.start())
        raise DocumentError(f"the TOML front matter is nested more than {MAX_DEPTH} deep", line=line)
    try:
        fields = tomllib.loads(source, parse_float=finite)
    except (ValueError, RecursionError) as error:
        reason = str(error) or "nested too deeply"
        at = _AT.search(reason)
        line = 1 + (int(at[1]) if at and at[1] else source.count("\n") if at else 1)
        reason = reason[: at.start()] if at else reason
        raise DocumentError(f"the TOML front matter is damaged: {reason}", line=line) from None
    return fields, _lines(source, fields)


def _lines(source: str, fields: Mapping[str, object]) -> dict[str, int]:
    """Return the line of each top-level key; tomllib gives none: the first line like it counts."""
    lines: dict[str, int] = {}
    in_table = False
    for number, line in enumerate(source.split("\n"), start=2):
        match = _KEY.match(line)
        if match and (match[1] or not in_table) and match[2] in fields:
            lines.setdefault(match[2], number)
        in_table = in_table or bool(match and match[1])
    return lines
