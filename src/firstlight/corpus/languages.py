"""Whether a model knows what a passage, or a question, is written in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from firstlight.lexical.languages import is_stop_word, script

if TYPE_CHECKING:
    from collections.abc import Collection

# The first word of a letter's Unicode name -> the languages that are written so, where not in Latin letters.
_WRITTEN_IN = {
    "ARABIC": {"ar", "fa", "ur"},
    "ARMENIAN": {"hy"},
    "BENGALI": {"bn"},
    "CJK": {"zh", "ja"},
    "CYRILLIC": {"bg", "ru", "sr", "uk"},
    "DEVANAGARI": {"hi", "mr", "ne"},
    "GREEK": {"el"},
    "HANGUL": {"ko"},
    "HEBREW": {"he"},
    "HIRAGANA": {"ja"},
    "KATAKANA": {"ja"},
    "KHMER": {"km"},
    "LAO": {"lo"},
    "MYANMAR": {"my"},
    "TAMIL": {"ta"},
    "THAI": {"th"},
}
_SAMPLE = 1000  # characters; a passage is hardly ever in several scripts


def is_known(text: str, language: str, known: Collection[str] | None) -> bool:
    """Tell whether a passage is in a language that a model knows.

    Args:
        text: The passage.
        language: What its document is in, as far as it is in Latin letters.
        known: The model's languages; None for all.

    Example:
        >>> is_known("漢字かな", "en", {"en"}), is_known("Drain the node", "en", {"en"})
        (False, True)
    """
    if known is None:
        return True
    written = Counter(script(letter) for letter in text[:_SAMPLE] if letter.isalpha())
    if not written:
        return True
    most = max(sorted(written.items()), key=lambda pair: pair[1])[0]
    if most == "LATIN":
        return language in known
    return not _WRITTEN_IN.get(most, set()).isdisjoint(known)


def question_language(text: str, spoken: Collection[str]) -> str:
    """Return which of the languages of a corpus a question in Latin letters is in, by its function words.

    A question is too short for more: without such a word it is in the first of them, English before others.

    Args:
        text: The question.
        spoken: The languages of the corpus, the most frequent first.

    Example:
        >>> question_language("wie wird der Knoten geleert", ("en", "de"))
        'de'
        >>> question_language("node pool", ("de", "en"))
        'en'
    """
    words = text.casefold().split()
    order = sorted(spoken, key=lambda language: language != "en")
    if not order:
        return "en"
    return max(order, key=lambda language: sum(is_stop_word(word, language) for word in words))
