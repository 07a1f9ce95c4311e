"""Where sentences begin, without a model and without knowing the language."""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = ["sentence_starts", "sentences"]

# The first character stands by itself, so that it is looked for alone: five times as quick as trying all at
# every place. A run of terminators is tried once, from its first: the look-behind and the possessive
# quantifiers keep a million full stops linear.
_STOPS = ".!?…؟۔।॥։።။។"
_WIDE_STOPS = "。！？｡"
_SPACED_BY_PHRASE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_ENDS = (
    rf"(?<=[{_STOPS}])(?<![{_STOPS}][{_STOPS}])[{_STOPS}]*+(?P<stopped>)[\"'”’»)\]*_`]*+\s++"
    rf"|(?<=[{_WIDE_STOPS}])(?<![{_WIDE_STOPS}][{_WIDE_STOPS}])[{_WIDE_STOPS}]*+[」』”’）\"')]*+\s*+"
    r"|(?<=\r)\n?+[ \t]*+(?>\r\n|\n|\r)\s*+"  # a blank line
    r"|(?<=\n)[ \t]*+(?>\r\n|\n|\r)\s*+"
)
_BOUNDARY = re.compile(rf"[{_STOPS}{_WIDE_STOPS}\r\n](?:{_ENDS})")
# Where spaces end phrases, each of them is looked at too, which takes twice as long.
_PHRASES = re.compile(f"[{_SPACED_BY_PHRASE}]")
_PHRASE_BOUNDARY = re.compile(rf"[{_STOPS}{_WIDE_STOPS}\r\n ](?:{_ENDS}|(?<=[{_SPACED_BY_PHRASE}] ) *+)")
_ABBREVIATIONS = frozenset(
    [
        "al",
        "approx",
        "art",
        "bzw",
        "ca",
        "cf",
        "ch",
        "co",
        "corp",
        "dept",
        "dr",
        "ed",
        "eds",
        "eg",
        "e.g",
        "eq",
        "esp",
        "est",
        "etc",
        "fig",
        "figs",
        "gen",
        "i.e",
        "ie",
        "inc",
        "jr",
        "lt",
        "ltd",
        "m",
        "mm",
        "mr",
        "mrs",
        "ms",
        "no",
        "nos",
        "nr",
        "op",
        "p",
        "pp",
        "prof",
        "rev",
        "sec",
        "sen",
        "sr",
        "st",
        "str",
        "u.a",
        "univ",
        "usw",
        "v",
        "vgl",
        "vol",
        "vs",
        "z.b",
        "d.h",
        "resp",
    ]
)
_LAST_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*\Z")
_LONGEST_WORD = 16  # characters looked at before a full stop: longer than any abbreviation


def sentence_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the offsets inside `text[start:end]` at which a new sentence begins, `start` and `end` excluded.

    A sentence ends at a terminator of any script, after its closing quotes and the white space that follows,
    and at a blank line. `e.g.`, `Dr.`, initials, decimals, and a full stop before a small letter end none.

    Example:
        >>> text = "Ask Dr. Who. It is 3.14, e.g. here! 水。火。"
        >>> [text[a:b] for a, b in sentences(text)]
        ['Ask Dr. Who. ', 'It is 3.14, e.g. here! ', '水。', '火。']
    """
    stop = len(text) if end is None else end
    has_phrases = not text.isascii() and _PHRASES.search(text, max(start - 1, 0), stop)
    found = []
    for match in (_PHRASE_BOUNDARY if has_phrases else _BOUNDARY).finditer(text, start, stop):
        at = match.end()
        if at < stop and (match["stopped"] is None or _ends_sentence(text, start, match)):
            found.append(at)
    return found


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of `text` as (start, end); together they cover it."""
    edges = [0, *sentence_starts(text), len(text)]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    if text[match.end()].islower():
        return False
    at = match.start()
    if text[at : match.end("stopped")] != ".":
        return True
    word = _LAST_WORD.search(text, max(start, at - _LONGEST_WORD), at)
    if word is None:
        return True
    last = word[0]
    initial = len(last) == 1 and last.isalpha() and last.isupper() and last != "I"
    return not initial and last.casefold() not in _ABBREVIATIONS
