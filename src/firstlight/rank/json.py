"""Values as JSON has them: the same output for the same input, and never NaN."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime
from typing import Any

_DECIMALS = 6  # beyond them, sums differ between machines


def rounded(score: float) -> float | None:
    """Return a score as it is shown; None for NaN and infinity."""
    return round(float(score), _DECIMALS) if math.isfinite(score) else None


def plain(value: Any) -> Any:
    """Return a payload's value in JSON's own types.

    A date becomes its ISO form, a date-time the instant in UTC, bytes base64, NaN and infinity None; keys of
    mappings become strings, and anything unknown its `str`.

    Example:
        >>> plain({"seen": date(2024, 5, 1), "share": float("nan"), 2024: ("a", True)})
        {'seen': '2024-05-01', 'share': None, '2024': ['a', True]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, AbstractSet):
        return sorted((plain(inner) for inner in value), key=str)
    return _scalar(value)


def _scalar(value: Any) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return _date(value) if isinstance(value, date) else str(value)


def _date(day: date) -> str:
    return _instant(day) if isinstance(day, datetime) else day.isoformat()


def _instant(moment: datetime) -> str:
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:  # within a day of the year 1 or 9999: as it was written
        return moment.isoformat()
    return moment.isoformat().replace("+00:00", "Z")
