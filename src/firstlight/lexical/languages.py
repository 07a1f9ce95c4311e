"""Languages: which stemmer a word gets, which words carry no meaning, and what a text is written in."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache
from itertools import chain

from firstlight.lexical.stop_words import QUESTION_WORDS, STOP_WORDS

# ISO 639-1 code -> Snowball's name, for languages in the Latin script.
LATIN_STEMMERS = {
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
    "tr": "turkish",
}
# The first word of a letter's Unicode name -> Snowball's name, for scripts that tell the language.
SCRIPT_STEMMERS = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
    "ARMENIAN": "armenian",
}
_DETECTION_CHARACTERS = 200  # shorter texts say too little
_DETECTION_SAMPLE = 2000  # longer ones say no more
_SPOKEN_IN: dict[str, list[str]] = {}
for _code, _words in STOP_WORDS.items():
    for _word in _words:
        _SPOKEN_IN.setdefault(_word, []).append(_code)


@cache
def script(letter: str) -> str:
    """Return the script of a letter, as the first word of its Unicode name.

    Example:
        >>> script("ж"), script("a")
        ('CYRILLIC', 'LATIN')
    """
    return unicodedata.name(letter, "").partition(" ")[0]


@cache
def stemmer_name(letter: str, language: str) -> str | None:
    """Return the Snowball stemmer for words that begin with `letter` in a text of `language`."""
    found = script(letter)
    if found == "LATIN":
        return LATIN_STEMMERS.get(language)
    return SCRIPT_STEMMERS.get(found)


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of a text's Latin-script language, `en` when it is short or unsure.

    The language is the one whose function words make up the largest share of the text's words.

    Example:
        >>> detect_language("Der Knoten wird geleert, bevor er aus dem Verbund genommen wird. " * 4)
        'de'
    """
    if len(text) < _DETECTION_CHARACTERS:
        return "en"
    words = text[:_DETECTION_SAMPLE].lower().split()
    counts = Counter(chain.from_iterable([_SPOKEN_IN[word] for word in words if word in _SPOKEN_IN]))
    best, count = max(sorted(counts.items()), key=lambda pair: pair[1], default=("en", 0))
    # A language has to be plainly ahead of English: tables and code say little about either.
    return best if count * 10 >= len(words) and count > counts["en"] * 1.2 else "en"


def is_stop_word(word: str, language: str) -> bool:
    """Tell whether a folded word says nothing of what a question is about."""
    return word in STOP_WORDS.get(language, ()) or word in QUESTION_WORDS.get(language, ())
