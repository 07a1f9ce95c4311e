"""Where a text may be cut without spoiling a character or a word."""

from __future__ import annotations

import unicodedata

from firstlight.lexical.characters import BIGRAM, character_class

_JOINERS = "\u200c\u200d"
_LONGEST = 64  # code points: a longer combined character is no character but a prank, and is cut


def is_whole(text: str, at: int) -> bool:
    r"""Say whether a cut at `at` leaves line ends and combined characters whole.

    This is Unicode's rule for grapheme clusters as far as it goes without tables: marks, joiners, emoji with
    their modifiers and tags, pairs of regional indicators, Hangul letters.

    Example:
        >>> [is_whole("e\u0301\r\n", at) for at in range(5)]
        [True, False, True, False, True]
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return after != "\n" or before != "\r"
    if before == "\u200d" or _extends(after):
        return False
    return not (_is_regional(before) and _is_regional(after) and _regionals_before(text, at) % 2)


def between_words(text: str, at: int) -> bool:
    """Say whether a cut at `at` is beside a space, or in a script that has none between its words."""
    if at <= 0 or at >= len(text):
        return True
    beside = text[at - 1 : at + 1]
    return is_whole(text, at) and any(one.isspace() or character_class(one) == BIGRAM for one in beside)


def outside_word(text: str, at: int) -> bool:
    """Say whether a cut at `at` leaves runs of letters and digits whole."""
    return between_words(text, at) or (
        is_whole(text, at) and not (_in_word(text[at - 1]) and _in_word(text[at]))
    )


def back_to_whole(text: str, at: int) -> int:
    """Return `at`, or the place before it where the combined character around it begins."""
    for place in range(at, max(at - _LONGEST, 0), -1):
        if is_whole(text, place):
            return place
    return 0 if at <= _LONGEST else at


def _extends(character: str) -> bool:
    return (
        unicodedata.category(character).startswith("M")
        or character in _JOINERS
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags, in flags of regions
        or "\u1160" <= character <= "\u11ff"  # Hangul vowels and final consonants
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regionals_before(text: str, at: int) -> int:
    count = 0
    while count < min(at, _LONGEST) and _is_regional(text[at - 1 - count]):
        count += 1
    return count


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
