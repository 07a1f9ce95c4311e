from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from tests.lexical.oracle import UNSPACED, WORD, slow_spans
from tests.lexical.texts import glued, pack_texts, text

from firstlight.lexical import words
from firstlight.lexical.analysis import spans, words_with
from firstlight.lexical.characters import character_class, classify, code_points

if TYPE_CHECKING:
    from pathlib import Path


def cut(found: str) -> list[str]:
    """Return the words of a text as they are written."""
    return [found[start:end] for start, end in spans(found)]


@given(text)
def test_words_are_what_reading_character_by_character_finds(found: str) -> None:
    assert spans(found) == slow_spans(found)


@given(glued)
def test_words_glued_to_signs_are_what_reading_character_by_character_finds(found: str) -> None:
    assert spans(found) == slow_spans(found)


def test_words_of_real_texts_are_what_reading_character_by_character_finds(data_pack: Path) -> None:
    for found in pack_texts(data_pack)[::2]:
        assert spans(found) == slow_spans(found)


@given(text)
def test_the_class_of_each_character_is_the_same_one_by_one_and_all_at_once(found: str) -> None:
    assert classify(code_points(found)).tolist() == [character_class(character) for character in found]


@given(text)
def test_no_letter_digit_or_mark_is_outside_all_words(found: str) -> None:
    covered = {position for start, end in spans(found) for position in range(start, end)}
    assert covered >= {
        position for position, character in enumerate(found) if character_class(character) in WORD | UNSPACED
    }


@given(text)
def test_words_stand_in_order_and_only_pairs_overlap(found: str) -> None:
    cuts = spans(found)
    assert cuts == sorted(set(cuts))
    whole = [(start, end) for start, end in cuts if character_class(found[start]) not in UNSPACED]
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(whole))


@given(text)
def test_offsets_are_those_of_the_text_as_given(found: str) -> None:
    kept = [(word.start, word.end) for word in words(found)]
    assert all(0 <= start < end <= len(found) for start, end in kept)
    assert set(kept) <= set(spans(found))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("v1.2.3 and 3.14.", ["v1.2.3", "and", "3.14"]),
        ("a.b e.g. end.Next", ["a", "b", "e", "g", "end", "Next"]),
        (".NET (.env) x.NET", [".NET", ".env", "x", "NET"]),
        ("don't 'quoted' l’avion", ["don't", "quoted", "l’avion"]),
        ("C++, g++; a+b C+ C+++ c++11", ["C++", "g++", "a", "b", "C", "C", "c", "11"]),
        ("C# F#. abc# # C## #1", ["C#", "F#", "abc", "C", "1"]),
        ("node_id __init__ _", ["node_id", "__init__", "_"]),
        (
            "well-known a/b a:b user@example.com",
            ["well", "known", "a", "b", "a", "b", "user", "example", "com"],
        ),
        ("हिन्दी", ["हिन्दी"]),  # its vowel signs are marks: they belong to the word
        ("cafe\u0301", ["cafe\u0301"]),
        ("東京都", ["東", "東京", "京", "京都", "都"]),
        ("東 京", ["東", "京"]),
        ("用Python写", ["用", "Python", "写"]),
        ("ไทย", ["ไ", "ไท", "ท", "ทย", "ย"]),
        ("한국", ["한", "한국", "국"]),
        ("か\u3099く", ["か\u3099", "か\u3099く", "く"]),  # a voicing mark completes its character
        ("\u1112\u1161\u11ab\u1100", ["\u1112\u1161\u11ab", "\u1112\u1161\u11ab\u1100", "\u1100"]),
        ("cafe\u0301's", ["cafe\u0301's"]),
        ("½ ™ ㎏ → ☃ 👍🏽", ["½", "™", "㎏"]),
        ("\ud800a\udfff", ["a"]),  # lone surrogates are no letters
        ("", []),
        ("... --- ***", []),
    ],
)
def test_a_text_is_cut_into_words(written: str, expected: list[str]) -> None:
    assert cut(written) == expected


@given(text, text)
def test_words_with_terms_are_those_of_all_that_have_one(found: str, asked: str) -> None:
    terms = {term for word in words(asked) for term in word.terms}
    assert list(words_with(terms, found)) == [word for word in words(found) if terms & set(word.terms)]
