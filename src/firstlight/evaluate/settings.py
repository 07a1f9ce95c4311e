"""Writes the weight into a folder's `firstlight.toml`, and leaves every other byte of it as it is."""

from __future__ import annotations

import copy
import os
import re
import tomllib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstlight.corpus.places import CONFIG_NAME, read_small
from firstlight.corpus.trust import is_trusted, trust
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOM = b"\xef\xbb\xbf"
# Each place that is tried means reading the whole file once more.
_MOST_TRIES = 50
_KEY = r"""["']?hybrid["']?"""
_VALUE = re.compile(r"""(?:\bweight\b["']?[ \t]*=[ \t]*)([+\-\w.]+)""")
_HEADER = re.compile(rf"^[ \t]*\[[ \t]*{_KEY}[ \t]*\][^\n]*$", re.MULTILINE)
_DOTTED = re.compile(rf"^([ \t]*){_KEY}[ \t]*\.[^\n]*$", re.MULTILINE)
_INLINE = re.compile(rf"^[ \t]*{_KEY}[ \t]*=[ \t]*\{{[ \t]*(\}}?)", re.MULTILINE)


def save_weight(folder: str | Path, weight: float) -> Path:
    """Write `weight` into `folder`'s settings and return their file.

    The file is replaced as a whole, so that a crash leaves the old one. A folder that was trusted stays so.

    Raises:
        ConfigError: The file cannot be read or written, or is a link; or the weight is none.
    """
    file = Path(os.path.realpath(folder)) / CONFIG_NAME
    if not 0 <= weight <= 1:
        raise ConfigError(f"must be a number from 0 to 1, not {weight}", path=str(file), key="hybrid.weight")
    if file.is_symlink():
        raise ConfigError(f"is a link, and may belong to others; {_by_hand(weight)}", path=str(file))
    try:
        before = _read(file)
        was_trusted = before is not None and is_trusted(folder, content=before)
        after = _edited(before or b"", weight, file)
        if after != before:
            _replace(file, before, after)
            if was_trusted:
                trust(folder)
    except OSError as error:
        reason = f"cannot be written: {error.strerror}; {_by_hand(weight)}"
        raise ConfigError(reason, path=str(file)) from error
    return file


def with_weight(text: str, weight: float) -> str:
    r"""Return TOML that says `hybrid.weight = weight`, and else the same to the letter.

    Raises:
        ValueError: The text is no TOML, or says it in a way that is not understood.

    Example:
        >>> with_weight("[hybrid]\nweight = 0.5  # by feel\n", 0.35)
        '[hybrid]\nweight = 0.35  # by feel\n'
        >>> with_weight('language = "de"\n', 0.35)
        'language = "de"\n\n[hybrid]\nweight = 0.35\n'
    """
    old = tomllib.loads(text)
    wanted = _wanted(old, weight)
    if _same(old, wanted):
        return text
    for tried in islice(_edits(text, old, repr(weight)), _MOST_TRIES):
        # What looks like a key may stand in a string or a comment: what the file says then is the proof.
        try:
            if _same(tomllib.loads(tried), wanted):
                return tried
        except tomllib.TOMLDecodeError:
            continue
    raise ValueError("sets it in a way that is not understood")


def _wanted(old: dict[str, Any], weight: float) -> dict[str, Any]:
    wanted = copy.deepcopy(old)
    table = wanted.setdefault("hybrid", {})
    if not isinstance(table, dict):
        raise ValueError("has a 'hybrid' that is no table")  # noqa: TRY004  # a value is wrong, no argument
    table["weight"] = weight
    return wanted


def _edits(text: str, old: dict[str, Any], value: str) -> Iterator[str]:
    """Yield the text with the weight at each place where it may belong."""
    end = "\r\n" if "\r\n" in text else "\n"
    line = f"weight = {value}"
    if "weight" in old.get("hybrid", {}):
        for found in _VALUE.finditer(text):
            yield text[: found.start(1)] + value + text[found.end(1) :]
        return
    for found in _HEADER.finditer(text):
        at = found.start() + len(found[0].removesuffix("\r"))
        yield f"{text[:at]}{_line_end(text, found, end)}{line}{text[at:]}"
    for found in _INLINE.finditer(text):
        at = found.start(1)
        yield f"{text[:at]}{line}{' ' if found[1] else ', '}{text[at:]}"
    for found in _DOTTED.finditer(text):
        own = f"{found[1]}hybrid.{line}{_line_end(text, found, end)}"
        yield text[: found.start()] + own + text[found.start() :]
    gap = "" if not text or text.endswith(end * 2) else end if text.endswith("\n") else end * 2
    yield f"{text}{gap}[hybrid]{end}{line}{end}"


def _line_end(text: str, line: re.Match[str], usual: str) -> str:
    """Return how a line ends; the last one of a file may not end at all."""
    if line.end() == len(text):
        return usual
    return "\r\n" if line[0].endswith("\r") else "\n"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)  # NaN too is what it was


def _read(file: Path) -> bytes | None:
    try:
        return read_small(file)
    except FileNotFoundError:
        return None


def _edited(data: bytes, weight: float, file: Path) -> bytes:
    mark = _BOM if data.startswith(_BOM) else b""
    try:
        return mark + with_weight(data[len(mark) :].decode(), weight).encode()
    except ValueError as error:  # not UTF-8, not TOML, or not understood
        reason = "is not UTF-8" if isinstance(error, UnicodeError) else str(error)
        raise ConfigError(f"{reason}; {_by_hand(weight)}", path=str(file)) from error


def _replace(file: Path, before: bytes | None, after: bytes) -> None:
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(fresh, flags, 0o666), "wb") as handle:
            if before is not None:
                os.fchmod(handle.fileno(), file.stat().st_mode & 0o7777)
            handle.write(after)
            handle.flush()
            os.fsync(handle.fileno())
        if _read(file) != before:
            raise ConfigError("was changed by somebody else just now; try again", path=str(file))
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def _by_hand(weight: float) -> str:
    return f"write it by hand: weight = {weight!r} under [hybrid]"
