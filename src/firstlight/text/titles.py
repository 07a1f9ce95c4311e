"""A document's title: what its front matter, its first heading or its name calls it."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firstlight.text.types import Value

__all__ = ["MAX_TITLE", "document_title", "file_stem", "first_heading", "without_anchor"]

MAX_TITLE = 200  # a title is indexed with every chunk of its document

# What can hide or be a heading of level 1, at the start of a line.
_LANDMARK = re.compile(
    r"^ {0,3}(?:(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)|(?P<comment><!--)"
    r"|<(?P<raw>pre|script|style|textarea)\b|#(?:[ \t]+(?P<atx>[^\n]*)|\n|\Z)|(?P<setext>=+)[ \t]*(?:\n|\Z))",
    re.MULTILINE | re.IGNORECASE,
)
_NOT_PARAGRAPH = re.compile(
    r"(?: {4}|\t| {0,3}(?:#{1,6}(?:[ \t]|\Z)|>|[-+*][ \t]|\d{1,9}[.)][ \t]|`{3}|~{3}|=+\s*\Z))"
)
_SETEXT_LINES = 8  # longer paragraphs over a line of `=` are no titles
# A lower heading that a text begins with, below comments and targets of links.
_OPENING = re.compile(
    r"(?>[ \t]*\n|[ \t]*<!--(?s:.*?)-->|[ \t]*<a\b[^<>]*></a>)*+(?<![^\n])"
    r"(?: {0,3}#{2,6}[ \t]+(?P<atx>[^\n]*)|(?P<setext>[^\n]++)\n {0,3}-+[ \t]*(?:\n|\Z))"
)
_ANCHOR = re.compile(r"(?<=\S)\s*\{#[^\s{}]+(?:\s[^{}]*)?\}\s*\Z")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_MARKUP = re.compile(r"(\*\*|__|`+)(?=\S)([^\n]*?\S)\1")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def document_title(path: str, fields: Mapping[str, Value], find_heading: Callable[[], str]) -> str:
    r"""Return the field `title`, else the heading found, else the file's stem; one line, bounded.

    Example:
        >>> document_title("ops/drain.md", {"title": "Drain\nit"}, str)
        'Drain it'
        >>> document_title("ops/drain.md", {}, str)
        'drain'
    """
    return _line(_scalar(fields.get("title"))) or _line(find_heading()) or _line(file_stem(path)) or path


def first_heading(body: str) -> str:
    r"""Return the text of the first level-1 heading of a Markdown text, or an empty string.

    Where there is none, a lower heading counts if the text begins with it.

    A pass over lines that begin like one, outside fences, comments and raw HTML: as CommonMark reads ordinary
    files, at a fraction of a parse.

    Example:
        >>> first_heading("```\n# no\n```\n# Drain a `node` #\n")
        'Drain a node'
        >>> first_heading("## Drain\n\nCordon it first.\n\n## Then\n")
        'Drain'
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n") if "\r" in body else body
    position = 0
    while match := _LANDMARK.search(text, position):
        position = match.end()
        if match["atx"] is not None:
            heading = _plain(_without_closing_hashes(match["atx"]))
            if heading:
                return heading
        elif match["setext"]:
            heading = _plain(_paragraph_above(text, match.start()))
            if heading:
                return heading
        elif match["fence"] or match["comment"] or match["raw"]:
            position = _end_of_block(text, match)
    return _opening_heading(text)


def without_anchor(heading: str) -> str:
    """Return a heading without the explicit anchor at its end.

    Example:
        >>> without_anchor("Slots {#slots}"), without_anchor("{#if}"), without_anchor("The {#if ...} block")
        ('Slots', '{#if}', 'The {#if ...} block')
    """
    return _ANCHOR.sub("", heading)


def _opening_heading(text: str) -> str:
    match = _OPENING.match(text)
    if match is None:
        return ""
    if match["atx"] is not None:
        return _plain(_without_closing_hashes(match["atx"]))
    return "" if _NOT_PARAGRAPH.match(match["setext"]) else _plain(match["setext"].strip())


def _end_of_block(text: str, match: re.Match[str]) -> int:
    """Return where a fence, comment or raw HTML block ends; an open one reaches to the end of the text."""
    if fence := match["fence"]:
        if fence[0] == "`" and "`" in match["info"]:
            return match.end()  # inline code
        close = re.compile(rf"^ {{0,3}}{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        found = close.search(text, match.end())
    else:
        closing = "-->" if match["comment"] else rf"</{match['raw']}>"
        found = re.compile(closing, re.IGNORECASE).search(text, match.end())
    return found.end() if found else len(text)


def _paragraph_above(text: str, underline: int) -> str:
    lines: list[str] = []
    end = underline - 1
    while end > 0 and len(lines) <= _SETEXT_LINES:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end]
        if not line.strip() or _NOT_PARAGRAPH.match(line):
            break
        lines.append(line.strip())
        end = start - 1
    return " ".join(reversed(lines)) if len(lines) <= _SETEXT_LINES else ""


def _without_closing_hashes(heading: str) -> str:
    heading = heading.rstrip(" \t")
    bare = heading.rstrip("#")
    return bare if not bare or bare[-1] in " \t" else heading


def _plain(heading: str) -> str:
    """Drop inline markup: emphasis, code, the targets of links, an explicit anchor."""
    if len(heading) > 10 * MAX_TITLE:
        heading = heading[: 10 * MAX_TITLE]
    heading = _LINK.sub(r"\1", without_anchor(heading))
    return _ESCAPE.sub(r"\1", _MARKUP.sub(r"\2", heading)).strip()


def _scalar(value: Value) -> str:
    if isinstance(value, date):  # and datetime
        return value.isoformat()
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _line(text: str) -> str:
    line = " ".join(text[: 10 * MAX_TITLE].split())
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1].rstrip()}…"


def file_stem(path: str) -> str:
    """Return a file's name without its folder and extension.

    Example:
        >>> file_stem("ops/drain.node.md"), file_stem(".profile")
        ('drain.node', '.profile')
    """
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
