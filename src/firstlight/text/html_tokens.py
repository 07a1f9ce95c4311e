"""HTML as a stream of tags and text, in linear time whatever it is made of.

A tree is not needed to read a page's text, and building one is what hostile pages attack: Lexbor takes 31 s
for 100,000 nested `div`s, 15 s for a tag with 80,000 attributes, 80 s for 80,000 `option`s.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Token", "attribute", "tokens"]

# Elements whose content is not markup: https://html.spec.whatwg.org/#parsing-html-fragments
_RAW = frozenset({"iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"})
# Elements that mark up words: without attributes they say nothing that plain text could keep.
_INLINE = frozenset(
    {
        *(
            "a",
            "abbr",
            "b",
            "bdi",
            "cite",
            "code",
            "del",
            "dfn",
            "em",
            "font",
            "i",
            "ins",
            "kbd",
            "mark",
            "q",
            "s",
        ),
        *("samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    }
)
_SIMPLE = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)>")
_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
_ATTRIBUTES = re.compile(r"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
_COMMENT_END = re.compile(r"--!?>")
# A number this long is no character, and Python refuses to convert thousands of digits.
_LONG_REFERENCE = re.compile(r"&#(?:\d{8,}|[xX][0-9a-fA-F]{7,});?")
# A tag whose quotes never close costs a look at the rest of the page. A page may have some.
_MAX_FAILURES = 32


class Token(NamedTuple):
    """A piece of a page: text, an opening tag or a closing tag.

    Attributes:
        kind: `text`, `open` or `close`; `raw` is an element with what it holds, unparsed.
        name: The element's name in lower case; empty for text.
        value: The decoded text, or the source of the attributes, or the content of a raw element.
        end: The offset in the source after it.
    """

    kind: str
    name: str
    value: str
    end: int


def tokens(source: str) -> Iterator[Token]:
    """Yield what a page consists of; comments, declarations and bare inline tags are left out."""
    position = failures = 0
    while (start := source.find("<", position)) >= 0:
        if start > position:
            yield Token("text", "", _decoded(source[position:start]), start)
        simple = _SIMPLE.match(source, start)
        if simple is not None and (name := simple[2].lower()) not in _RAW:  # most tags, told quickly
            position = simple.end()
            if name not in _INLINE:
                yield Token("close" if simple[1] else "open", name, "", position)
            continue
        match = _NAME.match(source, start)
        if match is None:
            position = _skip_declaration(source, start)
            if position == start:
                position = start + 1
                yield Token("text", "", "<", position)
            continue
        strict = _ATTRIBUTES.match(source, match.end()) if failures < _MAX_FAILURES else None
        failures += strict is None
        end = strict.end() if strict else source.find(">", match.end()) + 1
        if not end:  # the page ends within a tag
            return
        token = _tag(source, match, end)
        yield token
        position = token.end
    if position < len(source):
        yield Token("text", "", _decoded(source[position:]), len(source))


def attribute(source: str, name: str) -> str:
    """Return the value of an attribute in a tag's source, or an empty string.

    Example:
        >>> attribute(' src="a.png" alt="A &amp; B"', "alt")
        'A & B'
    """
    match = re.search(
        rf"""(?:^|[\s"'/]){name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", source, re.IGNORECASE
    )
    return _decoded(match[1] or match[2] or match[3] or "") if match else ""


def _tag(source: str, match: re.Match[str], end: int) -> Token:
    name = match[1].lower()
    if source[match.start() + 1] == "/":
        return Token("close", name, "", end)
    if name not in _RAW:
        return Token("open", name, source[match.end() : end - 1], end)
    close = re.compile(rf"</{name}(?=[\s/>])[^>]*>?", re.IGNORECASE).search(source, end)
    stop, after = close.span() if close else (len(source), len(source))
    return Token("raw", name, source[end:stop], after)


def _skip_declaration(source: str, start: int) -> int:
    """Return where a comment, doctype or processing instruction ends; `start` if there is none."""
    if source.startswith("<!--", start):
        for short in ("<!-->", "<!--->"):
            if source.startswith(short, start):
                return start + len(short)
        match = _COMMENT_END.search(source, start + 4)
        return match.end() if match else len(source)
    if source[start + 1 : start + 2] in ("!", "?") or source.startswith("</", start):
        end = source.find(">", start)
        return end + 1 if end >= 0 else len(source)
    return start


def _decoded(text: str) -> str:
    return unescape(_LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text
