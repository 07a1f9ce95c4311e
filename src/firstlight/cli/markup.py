"""Which characters of a passage are markup that its reader does without, and which are code."""

from __future__ import annotations

import re

__all__ = ["CODE", "HIDDEN", "TEXT", "marks", "plain"]

TEXT, HIDDEN, CODE = 0, 1, 2

# Each repetition but that of a block of code, which always ends, has a bound: no document makes this slow.
_FENCED = r"^[ \t>]*(?P<fence>```+|~~~+)[^`\n]*\n(?P<body>(?s:.*?))(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
_SPAN = r"(?<!`)(?P<ticks>`+)(?!`)[^\0]{1,300}?(?<!`)(?P=ticks)(?!`)"
_COMMENT = r"<!--[^\0]{0,1000}?-->"
_TAG = (
    r"</?(?:a|b|br|center|code|d[dlt]|del|details|div|em|fig\w+|font|hr|i|iframe|img|ins|kbd|li|mark|[ou]l|p"
    r"|picture|source|span|strong|su[bp]|summary|t[dhr]|table|tbody|thead|u|video)(?:[ \n/][^<>]{0,300})?>"
)
_ANCHOR = r"[ \t]*\{#[\w-]{1,100}\}"
_SHORTCODE = r"\{\{[<%][^\0]{0,300}?[%>]\}\}"
_DEFINITION = r"^ {0,3}\[[^\[\]\n]{1,100}\]:[ \t]+\S{1,500}(?:[ \t]+\"[^\"\n]{0,200}\")?[ \t]*$"
_LINK = (
    r"(?<![\w\]])!?\[(?P<label>[^\[\]]{1,300})\]"
    r"(?:\([^()\s]{0,500}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?(?:\s\"[^\"]{0,200}\")?\)|\[[^\[\]\n]{0,100}\])"
)
_MARKUP = re.compile(
    f"{_FENCED}|{_SPAN}|(?P<gone>{_COMMENT}|{_TAG}|{_ANCHOR}|{_SHORTCODE}|{_DEFINITION})|{_LINK}",
    re.MULTILINE,
)
_EMPHASIS = re.compile(r"[`*]")


def marks(text: str, start: int = 0, end: int | None = None) -> bytes:
    r"""Return for each character of `text[start:end]` whether it is text, hidden, or code.

    Of links the label stays; comments, HTML tags, anchors, definitions of links and the fences of code go.
    What stands before `start` decides whether `start` is inside of something.

    Example:
        >>> text = "See [nodes](nodes.md#drain).<br>"
        >>> "".join(c for c, mark in zip(text, marks(text)) if mark != HIDDEN)
        'See nodes.'
    """
    end = len(text) if end is None else end
    found = bytearray(len(text))
    for match in _MARKUP.finditer(text):
        if match.start() >= end:
            break
        if match["fence"]:
            _fill(found, HIDDEN, match.span())
            _fill(found, CODE, match.span("body"))
        elif match["gone"]:
            _fill(found, HIDDEN, match.span())
        elif match["label"]:
            _fill(found, HIDDEN, match.span())
            _fill(found, TEXT, match.span("label"))
    return bytes(found[start:end])


def _fill(found: bytearray, mark: int, span: tuple[int, int]) -> None:
    low, high = span
    found[low:high] = bytes([mark]) * (high - low)


def plain(text: str) -> str:
    """Return a heading without its markup.

    Example:
        >>> plain("`ref()` {#ref}")
        'ref()'
    """
    kept = "".join(character for character, mark in zip(text, marks(text), strict=True) if mark != HIDDEN)
    return _EMPHASIS.sub("", kept).strip()
