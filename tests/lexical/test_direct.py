from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.texts import ENGLISH, LANGUAGES, WORDS, english, glued, pack_texts, spaced, text

from firstlight.lexical import Index, Indexable, Query, QueryTerm, build_segment, parse_query, score_texts
from firstlight.lexical.analysis import terms_of_many

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

QUESTIONS = [
    "How do I drain a node pool?",
    "using the use of used tools",
    "dying skies and the sky",
    "v1.2.3 getUserNames node_id 20455 0x",
    "what are trait objects in Rust?",
    "ERC-721 token transfer gas limit",
    "什么是黑豹队的防守",
    "ทีมใดชนะ",
    "C++ .NET C# it's YouTube",
    '"the pipeline" component yaml apiVersion',
    "Häuser résumé naïve Straße",
    "a i is s t",
]
_SUFFIXES = """
    s es ed ing er ers ly y ies ied ier iest ness nesses ful fully less ment ments able ably ible
    ibly al ally ation ations ational ator ize ized izing izer ive ively iveness ous ously ousness
    ity ities ism ist ists ance ances ence ences ant ent e est eed eedly edly ingly ying ie dom ship
    ogist li bli alism aliti fulli
"""


def of_an_index(query: Query, texts: Sequence[str], language: str, **constants: float) -> NDArray[np.float64]:
    """Return the score that an index of `texts` gives to each."""
    scores = np.zeros(len(texts))
    chunks = [Indexable(text, language=language) for text in texts]
    ranked = Index([(build_segment(range(len(texts)), chunks), None)], **constants).search(
        query, depth=len(texts) + 1
    )
    scores[ranked.ids] = ranked.scores
    return scores


def agree(query: Query, texts: Sequence[str], language: str, **constants: float) -> bool:
    direct = score_texts(query, texts, language=language, **constants)
    return direct.tobytes() == of_an_index(query, texts, language, **constants).tobytes()


@given(st.lists(text, max_size=6), text, st.sampled_from(LANGUAGES))
def test_texts_without_an_index_score_to_the_bit_as_with_one(
    texts: list[str], question: str, language: str
) -> None:
    assert agree(parse_query(question, (language,)), texts, language)


@given(st.lists(english | glued, max_size=6), st.lists(st.sampled_from(ENGLISH), min_size=1, max_size=3))
def test_english_texts_score_to_the_bit_as_with_an_index(texts: list[str], asked: list[str]) -> None:
    assert agree(parse_query(" ".join(asked)), texts, "en")


@given(st.lists(spaced, max_size=4), st.sampled_from(WORDS), st.permutations(LANGUAGES))
def test_questions_in_several_languages_score_to_the_bit_as_with_an_index(
    texts: list[str], asked: str, languages: list[str]
) -> None:
    assert agree(parse_query(asked, languages[:3]), texts, languages[0])


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_real_texts_score_to_the_bit_as_with_an_index(language: str, data_pack: Path) -> None:
    texts = pack_texts(data_pack)[:: 1 if language == "en" else 4]
    chunks = [Indexable(text, language=language) for text in texts]
    index = Index([(build_segment(range(len(texts)), chunks), None)])
    for question in QUESTIONS:
        query = parse_query(question, (language,))
        expected, ranked = np.zeros(len(texts)), index.search(query, depth=len(texts) + 1)
        expected[ranked.ids] = ranked.scores
        assert score_texts(query, texts, language=language).tobytes() == expected.tobytes(), question


@given(st.lists(spaced, min_size=1, max_size=4), st.sampled_from(WORDS))
def test_other_constants_score_to_the_bit_as_in_an_index(texts: list[str], asked: str) -> None:
    assert agree(parse_query(asked), texts, "en", k1=0.9, b=0.3)


def test_long_texts_and_many_texts_score_to_the_bit_as_in_an_index() -> None:
    long = "".join(f"node{number} pool drain, " for number in range(9000))
    for texts in ([long, "drain", long, ""], ["a drained pool", "", "nodes"] * 9000, [long * 3]):
        assert agree(parse_query("draining pools node17"), texts, "en")


def test_a_word_said_more_often_than_an_index_counts_scores_as_in_the_index() -> None:
    assert agree(parse_query("node"), ["node " * 70_000, "node pool"], "en")


def test_no_texts_and_no_terms_are_no_error() -> None:
    assert score_texts(parse_query("node"), []).tolist() == []
    assert score_texts(parse_query(""), ["node"]).tolist() == [0.0]
    assert score_texts(parse_query("node"), ["", "---"]).tolist() == [0.0, 0.0]


def stems_that_begin_otherwise(words: Iterable[str]) -> dict[str, list[str]]:
    """Return, by English stem, the words that do not simply begin as it does."""
    written = sorted(words)
    found: dict[str, list[str]] = {}
    for word, terms in zip(written, terms_of_many(written, "en"), strict=True):
        for stem in terms[:1]:
            if not word.startswith(stem[:5]):
                found.setdefault(stem, []).append(word)
    return found


def assert_all_found(stems: dict[str, list[str]]) -> None:
    for stem, words in stems.items():
        query = Query(stem, (QueryTerm(stem, (stem,)),))
        texts = [*words, *(word.upper() for word in words), *(f"x_{word}" for word in words)]
        missed = [text for text, score in zip(texts, score_texts(query, texts), strict=True) if not score]
        assert missed == [], stem


def test_no_real_english_word_is_overlooked_for_how_its_stem_begins(data_pack: Path) -> None:
    texts = [*pack_texts(data_pack), (data_pack / "long/moby_dick.txt").read_text("utf-8")]
    words = {word for text in texts for word in re.findall("[a-z]+", text.lower())}
    stems = stems_that_begin_otherwise(words)
    assert len(words) > 10_000
    assert len(stems) > 50
    assert_all_found(stems)


def test_no_beginning_with_any_suffixes_is_overlooked_for_how_its_stem_begins() -> None:
    consonants, vowels = ["", "b", "c", "d", "g", "gl", "l", "n", "s", "sk", "t", "tt", "y"], "aeiouy"
    beginnings = [a + v + b for a, v, b in product(consonants, vowels, consonants)]
    short = {beginning + suffix for beginning in beginnings for suffix in ["", *_SUFFIXES.split()]}
    known = (
        "dying lying tying idly gently ugly early only singly news howe atlas cosmos bias andes skis skies "
    )
    known += "inning outing canning herring earring proceed exceed succeed general communes arsenal using "
    long = {word + suffix for word in known.split() for suffix in ["", *_SUFFIXES.split()]}
    assert_all_found(stems_that_begin_otherwise(short | long))
