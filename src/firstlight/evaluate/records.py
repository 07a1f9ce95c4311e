"""Files of one record a line: JSON Lines, TSV or CSV with a header, or without one as their reader knows."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.errors import DocumentError
from firstlight.text.read import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    Lines = Sequence[tuple[int, str]]
    Names = Mapping[str, frozenset[str]]
    Headless = Callable[[str], Sequence[str]]

# What people judge for their own documents is a thousand times smaller; public collections fit.
MOST_BYTES = 64 * 1024 * 1024


class Record(NamedTuple):
    """What one line says, by the names that its reader asked for."""

    line: int
    values: Mapping[str, str]


def read_records(path: Path, names: Names, *, headless: Headless) -> Iterator[Record]:
    """Yield the records of a file.

    Args:
        path: The file.
        names: By what a value is, what it may be called in a header or in JSON, in lower case.
        headless: Takes a line of a file without a header apart, in the order of `names`; raises a ValueError
            that says what is right.

    Raises:
        DocumentError: The file cannot be read, or a line is wrong.
    """
    try:
        lines = _lines(path)
        yield from _reader(lines, names, headless, is_csv=path.suffix.lower() == ".csv")
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", path=str(path)) from error
    except DocumentError as error:
        raise error.at(str(path)) from None


def _lines(path: Path) -> Lines:
    """Return the lines that say something, with their numbers."""
    with path.open("rb") as file:  # a pipe is fine: the user names it
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise DocumentError(f"is larger than {MOST_BYTES:,} bytes: take a sample of it")
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    # Not `splitlines`: a string in JSON may hold one of Unicode's line separators.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise DocumentError("is empty")
    return lines


def _reader(lines: Lines, names: Names, headless: Headless, *, is_csv: bool) -> Iterator[Record]:
    number, first = lines[0]
    if first.lstrip().startswith("{"):
        return _json_records(lines, names)
    if first.lstrip().startswith("["):
        raise DocumentError("is a JSON array; write one object a line instead", line=number)
    separator = "\t" if "\t" in first else ","
    columns = [name.strip().strip('"').lower() for name in first.split(separator)]
    places = {what: _place(columns, known) for what, known in names.items()}
    if None not in places.values():
        return _table_records(lines, separator, places)
    if is_csv:
        raise DocumentError(f"the first line has to name the columns, as '{','.join(names)}'", line=number)
    return _headless_records(lines, names, headless)


def _place(columns: Sequence[str], known: frozenset[str]) -> int | None:
    return next((place for place, name in enumerate(columns) if name in known), None)


def _json_records(lines: Lines, names: Names) -> Iterator[Record]:
    for number, line in lines:
        said = _json_object(line, number)
        values = {}
        for what, known in names.items():
            value = next((value for key, value in said.items() if key.lower() in known), None)
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                reason = f"needs a text or number called '{what}' ({' or '.join(sorted(known))})"
                raise DocumentError(reason, line=number)
            values[what] = str(value)
        yield Record(number, values)


def _json_object(line: str, number: int) -> Mapping[str, Any]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"is not a JSON object on one line: {error}", line=number) from None
    if not isinstance(said, dict):
        raise DocumentError("is not a JSON object on one line", line=number)
    return said


def _table_records(lines: Lines, separator: str, places: Mapping[str, int | None]) -> Iterator[Record]:
    for number, row in _rows(lines[1:], separator):
        values = {
            what: row[place] for what, place in places.items() if place is not None and place < len(row)
        }
        if len(values) < len(places):
            missing = " and ".join(f"'{what}'" for what in places if what not in values)
            raise DocumentError(f"has only {len(row)} of the header's columns: no {missing}", line=number)
        yield Record(number, values)


def _rows(lines: Lines, separator: str) -> Iterator[tuple[int, list[str]]]:
    if separator == "\t":  # TSV quotes nothing
        yield from ((number, line.split("\t")) for number, line in lines)
        return
    numbers = [number for number, _ in lines]
    rows = csv.reader((f"{line}\n" for _, line in lines), strict=True)
    begun = 0
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise DocumentError(f"is not CSV: {error}", line=numbers[begun]) from None
        if row is None:
            return
        yield numbers[begun], row
        begun = rows.line_num


def _headless_records(lines: Lines, names: Names, headless: Headless) -> Iterator[Record]:
    for number, line in lines:
        try:
            yield Record(number, dict(zip(names, headless(line), strict=True)))
        except ValueError as error:
            raise DocumentError(str(error), line=number) from None
