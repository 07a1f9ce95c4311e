"""What each character is to the analysis: part of a word, a script written without spaces, a joiner.

The classes are worked out once per distinct character that occurs, so that reading ASCII costs no table
of the whole of Unicode. They follow the running Python's Unicode database.
"""

from __future__ import annotations

import string
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

OTHER = 0
LOWER = 1  # a to z
UPPER = 2  # A to Z
LETTER = 3  # every other letter or number
DIGIT = 4  # 0 to 9
MARK = 5  # combining marks, and `_`
BIGRAM = 6  # scripts without spaces between words: found by overlapping pairs of characters
EXTENDER = 7  # completes the character before it: a voicing mark, the vowel of a Hangul syllable
DOT = 8
APOSTROPHE = 9
PLUS = 10
HASH = 11
_UNKNOWN = 255
_MOSTLY_LATIN = 8  # one of so many characters beyond Latin-1 is dear to look up by itself

# Blocks rather than scripts: the standard library knows no scripts, and these blocks hold nothing else.
_BIGRAM_BLOCKS = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Hangul jamo
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark and zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x3035),  # kana repeat marks
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x3130, 0x318F),  # Hangul compatibility jamo
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han A
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul jamo A
    (0xA9E0, 0xA9FF),  # Burmese B
    (0xAA60, 0xAA7F),  # Burmese A
    (0xAC00, 0xD7FF),  # Hangul, jamo B
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFFDC),  # half-width Katakana and Hangul
    (0x1AFF0, 0x1B16F),  # kana supplements
    (0x20000, 0x323AF),  # Han B to H
)
_EXTENDER_BLOCKS = (
    (0x1160, 0x11FF),  # Hangul vowels and finals
    (0x3099, 0x309A),  # kana voicing marks
    (0xD7B0, 0xD7FF),  # Hangul vowels and finals, extended
    (0xFF9E, 0xFF9F),  # half-width voicing marks
    (0xFFC2, 0xFFDC),  # half-width Hangul vowels
)
_SINGLE = {".": DOT, "'": APOSTROPHE, "\u2019": APOSTROPHE, "+": PLUS, "#": HASH, "_": MARK}
INVISIBLE = "\u00ad\u200c\u200d\u2060"  # soft hyphen, joiners: within a word, and no part of it
_SINGLE |= dict.fromkeys(INVISIBLE, MARK)
_SINGLE |= dict.fromkeys(string.digits, DIGIT)
_SINGLE |= dict.fromkeys(string.ascii_lowercase, LOWER) | dict.fromkeys(string.ascii_uppercase, UPPER)


def character_class(character: str) -> int:
    """Return the class of one character, the definition that everything else follows.

    Example:
        >>> [character_class(c) for c in "a7_語. "] == [LOWER, DIGIT, MARK, BIGRAM, DOT, OTHER]
        True
    """
    if character in _SINGLE:
        return _SINGLE[character]
    category = unicodedata.category(character)
    if category[0] not in "LNM":
        return _class_of_symbol(character)
    code = ord(character)
    # Thai digits and their like are words, not text to be paired.
    if category != "Nd" and any(first <= code <= last for first, last in _BIGRAM_BLOCKS):
        return EXTENDER if any(first <= code <= last for first, last in _EXTENDER_BLOCKS) else BIGRAM
    return MARK if category[0] == "M" else LETTER


def _class_of_symbol(character: str) -> int:
    """A symbol that stands for letters (™, ㎏, ㍿) is read as those letters."""
    letters = unicodedata.normalize("NFKC", character)
    if letters == character or not any(part.isalnum() for part in letters):
        return OTHER
    return BIGRAM if all(character_class(part) == BIGRAM for part in letters) else LETTER


_LATIN = bytes(character_class(chr(code)) for code in range(0x100))


def _initial_table() -> NDArray[np.uint8]:
    table = np.full(0x110000, _UNKNOWN, np.uint8)
    table[:0x100] = np.frombuffer(_LATIN, np.uint8)
    return table


_TABLE = _initial_table()


def classify(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return the class of each code point in `codes`.

    Example:
        >>> classify(code_points("v1.2")).tolist()
        [1, 4, 8, 4]
    """
    wide = np.flatnonzero(codes > 0xFF)
    if len(wide) > len(codes) // _MOSTLY_LATIN:
        return _look_up(codes)
    # As bytes: a table of numbers would be asked with eight bytes for each character.
    classes = np.frombuffer(bytearray(codes.astype(np.uint8)).translate(_LATIN), np.uint8)
    if len(wide):
        classes[wide] = _look_up(codes[wide])
    return classes


def _look_up(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    classes = _TABLE.take(codes)
    unknown = classes == _UNKNOWN
    if unknown.any():
        for code in set(codes[unknown].tolist()):
            _TABLE[code] = character_class(chr(code))
        classes = _TABLE.take(codes)
    return classes


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the code points of `text`.

    Example:
        >>> code_points("é語").tolist()
        [233, 35486]
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
