"""Which fields a filter asks about, and whether there are such fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.errors import FilterError
from firstlight.rank.filters.nodes import And, Not, Or

if TYPE_CHECKING:
    from collections.abc import Collection

    from firstlight.rank.filters.nodes import Filter

_LISTED = 60  # names in one message


def fields(where: Filter) -> set[str]:
    """Return the names of the fields that a filter asks about."""
    match where:
        case And(parts) | Or(parts):
            return {name for part in parts for name in fields(part)}
        case Not(part):
            return fields(part)
        case _:
            return {where.field}


def check_fields(where: Filter, known: Collection[str]) -> None:
    """Refuse a filter about fields that no document has.

    Args:
        where: The filter.
        known: The names of all fields. `owner` covers `owner.name`, unless `known` spells out what is in it.

    Raises:
        FilterError: It names the unknown fields, near names, and the known ones.

    Example:
        >>> from firstlight.rank.filters.nodes import Exists
        >>> check_fields(Exists("aera"), ["area", "tags"])
        Traceback (most recent call last):
        firstlight.errors.FilterError: unknown field 'aera' (did you mean 'area'?). The fields are: area, tags
    """
    unknown = sorted(name for name in fields(where) if not _is_known(name, known))
    if not unknown:
        return
    told = "; ".join(_unknown(name, known) for name in unknown)
    raise FilterError(f"{told}{_listing(known)}")


def _is_known(name: str, known: Collection[str]) -> bool:
    if name in known or any(other.startswith(f"{name}.") for other in known):
        return True
    above = name.rpartition(".")[0]
    while above:
        if above in known:
            return not any(other.startswith(f"{above}.") for other in known)
        above = above.rpartition(".")[0]
    return False


def _unknown(name: str, known: Collection[str]) -> str:
    import difflib  # noqa: PLC0415  # only where something is wrong

    by_lower = {other.lower(): other for other in sorted(known)}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"unknown field {name!r}" + (f" (did you mean {by_lower[close[0]]!r}?)" if close else "")


def _listing(known: Collection[str]) -> str:
    if not known:
        return "; no document has any field"
    names = sorted(known)
    more = f", and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f". The fields are: {', '.join(names[:_LISTED])}{more}"
