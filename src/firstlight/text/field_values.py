"""What a field of the front matter may hold, whichever notation it was written in."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from math import isfinite
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError

if TYPE_CHECKING:
    from firstlight.text.types import Value

__all__ = ["INT64", "MAX_DEPTH", "checked", "field_value", "finite"]

MAX_DEPTH = 32  # of lists and mappings inside each other
INT64 = 1 << 63  # what SQLite and NumPy hold


def field_value(value: object, depth: int = MAX_DEPTH) -> Value:  # noqa: PLR0911 - one return a type
    """Bring one parsed value, nested at most `depth` deep, into the types that a field may have.

    Raises:
        DocumentError: It is nested too deeply, or holds what no text can.

    Example:
        >>> field_value([datetime(2024, 5, 1, 12), 1 << 64])
        [datetime.datetime(2024, 5, 1, 12, 0, tzinfo=datetime.timezone.utc), '18446744073709551616']
    """
    if isinstance(value, str):
        return checked(value)
    if isinstance(value, int):  # and bool
        return value if -INT64 <= value < INT64 else _spelt(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if value is None:
        return value
    if isinstance(value, (date, time)):
        return _day_or_instant(value)
    if depth == 0:
        raise DocumentError(f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        return {checked(str(key)): field_value(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [field_value(item, depth - 1) for item in value]
    raise DocumentError(f"a field cannot be a {type(value).__name__}")  # no reader yields one


def checked(value: str) -> str:
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


def finite(number: str) -> float | str:
    """Return a number as written in JSON or TOML, or its text where no float holds it."""
    value = float(number)
    return value if isfinite(value) else number
