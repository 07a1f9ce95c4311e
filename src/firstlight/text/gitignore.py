"""What `.gitignore` files say of one path: git's rules, as one regular expression a file.

Rules are judged by the path itself, never by the folders above it: whoever walks does not enter a folder that
is ignored, which is how git forbids to include a file again below one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Rules", "parse_rules"]

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "a-fA-F0-9",
}
_ONE, _ANY = "[^/]", "[^/]*"
_FOLDERS = "(?:[^/]+/)*"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one ignore file, for paths below its folder.

    Attributes:
        files: Matches a file's path; the number of the group that took part is the rule.
        folders: The same for a folder's path, without a trailing slash.
        ignores: Whether rule i ignores (or, with `!`, includes again).
    """

    files: re.Pattern[str]
    folders: re.Pattern[str]
    ignores: tuple[bool, ...]

    def decide(self, path: str, *, folder: bool = False) -> bool | None:
        """Return whether the last rule that matches `path` ignores it; None without one.

        Example:
            >>> rules = parse_rules(["*.md", "!keep.md", "out/"])
            >>> rules.decide("a/b.md"), rules.decide("a/keep.md"), rules.decide("out")
            (True, False, None)
            >>> rules.decide("out", folder=True)
            True
        """
        match = (self.folders if folder else self.files).fullmatch(_as_bytes(path))
        if match is None or match.lastindex is None:
            return None
        return self.ignores[match.lastindex - 1]


def parse_rules(lines: Iterable[str]) -> Rules | None:
    """Return the rules in `lines`, or None where there are none."""
    rules = [rule for line in lines if (rule := _parse_line(line)) is not None]
    if not rules:
        return None
    rules.reverse()  # the last rule that matches wins: an alternation takes its first
    files = "|".join(f"{regex}()" if not only_folders else "(?!)()" for regex, _, only_folders in rules)
    folders = "|".join(f"{regex}()" for regex, _, _ in rules)
    flags = re.DOTALL
    return Rules(
        re.compile(files, flags), re.compile(folders, flags), tuple(ignore for _, ignore, _ in rules)
    )


def _parse_line(line: str) -> tuple[str, bool, bool] | None:
    line = _as_bytes(_strip_spaces(line.removesuffix("\n").removesuffix("\r")))
    if not line or line.startswith("#"):
        return None
    ignore = not line.startswith("!")
    pattern = line if ignore else line[1:]
    only_folders = pattern.endswith("/")
    if only_folders:
        pattern = pattern[:-1]
    regex = _translate(pattern)
    return None if regex is None else (regex, ignore, only_folders)


def _as_bytes(text: str) -> str:
    """Return one character per byte: to git, `?` is a byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def _strip_spaces(line: str) -> str:
    """Drop trailing spaces, but not one that a backslash escapes."""
    stripped = line.rstrip(" ")
    slashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if slashes % 2 and len(stripped) < len(line) else stripped


@lru_cache(maxsize=1024)
def _translate(pattern: str) -> str | None:
    """Return a regular expression for full paths, or None for a pattern that never matches."""
    if not pattern:
        return None
    if "/" not in pattern:
        name = _component(pattern)
        return None if name is None else f"{_FOLDERS}{name}"
    parts = _split(pattern.removeprefix("/"))
    regexes = [part if part == "**" else _component(part) for part in parts]
    if not all(regexes):  # malformed, or an empty component, which no path has
        return None
    return _join([regex for regex in regexes if regex])


def _split(pattern: str) -> list[str]:
    """Split at slashes, but not within a bracket expression or after a backslash."""
    parts, begin, position = [], 0, 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "/":
            parts.append(pattern[begin : position - 1])
            begin = position
        elif char == "\\":
            position += 1
        elif char == "[" and (found := _bracket(pattern, position)) is not None:
            position = found[1]
    return [*parts, pattern[begin:]]


def _join(parts: list[str]) -> str:
    """Join components; the runs between two `**` take their first place, which is enough, in linear time."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part != "**":
            runs[-1].append(part)
        elif len(runs) == 1 or runs[-1]:
            runs.append([])
    if len(runs) == 1:
        return "/".join(runs[0])
    first, *middle, last = ("/".join(run) for run in runs)
    regex = f"{first}/" if first else ""
    for run in middle:
        regex += f"(?>(?:[^/]+/)*?{run}/)"
    return regex + (f"{_FOLDERS}{last}" if last else ".+")


def _component(pattern: str) -> str | None:
    """Translate what lies between two slashes; None if it can match nothing."""
    pieces: list[str] = [""]  # between stars
    position = 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == "*":
            if len(pieces) == 1 or pieces[-1]:
                pieces.append("")
        elif char == "?":
            pieces[-1] += _ONE
        elif char == "[":
            found = _bracket(pattern, position)
            if found is None:
                return None
            pieces[-1] += found[0]
            position = found[1]
        elif char == "\\":
            if position == len(pattern):
                return None
            pieces[-1] += re.escape(pattern[position])
            position += 1
        else:
            pieces[-1] += re.escape(char)
    return _stars(pieces)


def _stars(pieces: list[str]) -> str:
    """Put stars between pieces; every star but the last takes the least it can, and keeps it."""
    first, *others = pieces
    if not others:
        return first
    middle = "".join(f"(?>{_ANY}?{piece})" for piece in others[:-1])
    return f"{first}{middle}{_ANY}{others[-1]}" if first or middle or others[-1] else f"{_ONE}+"


def _bracket(pattern: str, start: int) -> tuple[str, int] | None:
    """Translate a bracket expression whose `[` is just before `start`; None if it never closes."""
    position = start
    negated = pattern[position : position + 1] in ("!", "^")
    position += negated
    members: list[str] = []
    begin = position
    while position < len(pattern):
        char = pattern[position]
        if char == "]" and position > begin:
            return _char_class(members, negated=negated), position + 1
        if char == "[" and (name := re.compile(r"\[:(\w*):\]").match(pattern, position)):
            if name[1] not in _POSIX_CLASSES:
                return None
            members.append(_POSIX_CLASSES[name[1]])
            position = name.end()
            continue
        low, position = _member(pattern, position)
        if low is None:
            return None
        if pattern[position : position + 1] == "-" and pattern[position + 1 : position + 2] not in ("", "]"):
            high, position = _member(pattern, position + 1)
            if high is None:
                return None
            if low <= high:
                members.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            members.append(re.escape(low))
    return None


def _member(pattern: str, position: int) -> tuple[str | None, int]:
    if pattern[position] == "\\":
        position += 1
    return (pattern[position], position + 1) if position < len(pattern) else (None, position)


def _char_class(members: list[str], *, negated: bool) -> str:
    if negated:
        return f"[^/{''.join(members)}]"
    return f"(?!/)[{''.join(members)}]" if members else "(?!)"
