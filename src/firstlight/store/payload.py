"""Front matter as JSON text that gives back the very same values: days and instants keep their type."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firstlight.text.types import Value

# A mapping with one of these as its only key is a value that JSON lacks; a key of the document's own that
# begins with "$" is written with a second one.
_DAY = "$day"
_INSTANT = "$instant"


def dump_payload(fields: Mapping[str, Value]) -> str:
    """Return `fields` as JSON text.

    Example:
        >>> dump_payload({"area": "ai", "last_verified": date(2026, 1, 31)})
        '{"area":"ai","last_verified":{"$day":"2026-01-31"}}'
    """
    return json.dumps(_tagged(fields), separators=(",", ":")) if fields else "{}"


def load_payload(text: str) -> dict[str, Value]:
    """Return what `dump_payload` was given.

    Example:
        >>> load_payload('{"last_verified":{"$day":"2026-01-31"}}')
        {'last_verified': datetime.date(2026, 1, 31)}
    """
    if "$" not in text:
        loaded: dict[str, Value] = json.loads(text)
        return loaded
    untagged: dict[str, Value] = json.loads(text, object_hook=_untagged)
    return untagged


def _tagged(value: Any) -> Any:
    if isinstance(value, datetime):
        return {_INSTANT: value.isoformat()}
    if isinstance(value, date):
        return {_DAY: value.isoformat()}
    if isinstance(value, dict):
        return {f"${key}" if key.startswith("$") else key: _tagged(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tagged(item) for item in value]
    return value


def _untagged(found: dict[str, Any]) -> Any:
    if len(found) == 1:
        if _DAY in found:
            return date.fromisoformat(found[_DAY])
        if _INSTANT in found:
            return datetime.fromisoformat(found[_INSTANT])
    return {key.removeprefix("$"): item for key, item in found.items()}
