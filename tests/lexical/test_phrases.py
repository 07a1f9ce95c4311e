from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.texts import ENGLISH, WORDS

from firstlight.lexical import Index, Indexable, build_segment, contains_phrases, parse_query
from firstlight.lexical.analysis import spans


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("drain a node", "How to drain a node.", True),
        ("drain a node", "Drain A NODE", True),
        ("drain a node", "drain: a\nnode", True),  # signs and lines are no words
        ("drain a node", "drain one node", False),
        ("drain a node", "drain a nodes", False),  # word for word: no stems
        ("drain a node", "a node drain", False),
        ("drain a node", "drain a", False),
        ("rain", "drain", False),  # whole words
        ("resume", "my Résumé", True),
        ("Straße 5", "in STRASSE 5", True),
        ("don't go", "I don’t go", True),
        ("node_id is", "the node_id is set", True),
        ("node id", "the node_id is set", False),
        ("京都", "東京都", True),
        ("東都", "東京都", False),
        ("機", "機器", True),
        ("ไทย", "ภาษาไทย", True),
        ("file", "a ﬁle", True),
    ],
)
def test_a_phrase_is_found_word_for_word(phrase: str, text: str, expected: bool) -> None:
    assert contains_phrases(text, parse_query(f'"{phrase}"')) is expected


def test_every_phrase_has_to_be_there() -> None:
    query = parse_query('"drain a" and "node pool"')
    assert contains_phrases("node pool: drain a", query)
    assert not contains_phrases("drain a node", query)


def test_without_phrases_every_text_will_do() -> None:
    assert contains_phrases("", parse_query("drain a node"))
    assert contains_phrases("", parse_query('"drain'))


def test_composed_and_decomposed_phrases_are_the_same() -> None:
    for word in ("résumé", "Häuser", "ёлка"):
        composed, decomposed = (unicodedata.normalize(form, word) for form in ("NFC", "NFD"))
        assert contains_phrases(f"a {composed} b", parse_query(f'"{decomposed} b"'))
        assert contains_phrases(f"a {decomposed} b", parse_query(f'"{composed} b"'))


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), st.data())
def test_any_run_of_a_texts_words_is_a_phrase_of_it(written: list[str], data: st.DataObject) -> None:
    text = " ".join(written)
    first = data.draw(st.integers(0, len(written) - 1))
    last = data.draw(st.integers(first + 1, len(written)))
    query = parse_query(f'"{" ".join(written[first:last])}"')
    assert len(query.phrases) == bool(spans(" ".join(written[first:last])))
    assert contains_phrases(text, query)


documents = st.lists(
    st.lists(st.sampled_from([w for w in ENGLISH if w != "YouTube"]), max_size=8), max_size=6
)


@given(
    documents,
    st.lists(st.sampled_from(["the", "node", "Node", "use", "it", "IT", "node_id", "C++"]), min_size=1),
)
def test_every_chunk_that_has_the_phrase_is_a_candidate(found: list[list[str]], phrase: list[str]) -> None:
    bodies = [" ".join(words) for words in found]
    bodies += [f"a {' '.join(phrase)} b", f"{' '.join(reversed(phrase))}"]
    index = Index([(build_segment(range(len(bodies)), [Indexable(body) for body in bodies]), None)])
    query = parse_query(f'"{" ".join(phrase)}" and more')
    having = {number for number, body in enumerate(bodies) if contains_phrases(body, query)}
    assert having
    assert set(index.phrase_candidates(query).tolist()) >= having


def test_a_chunk_that_writes_the_phrase_in_another_case_is_a_candidate() -> None:
    for phrase, body in (("NumPy", "import numpy"), ("numpy", "import NumPy")):
        query = parse_query(f'"{phrase}"')
        assert contains_phrases(body, query)
        assert Index([(build_segment([1], [Indexable(body)]), None)]).phrase_candidates(query).tolist() == [1]


def test_candidates_have_every_term_of_every_phrase() -> None:
    bodies = ["drain the node", "drain a pool", "the node", "pool node drain the"]
    index = Index([(build_segment([1, 2, 3, 4], [Indexable(body) for body in bodies]), None)])
    assert index.phrase_candidates(parse_query('"drain the"')).tolist() == [1, 4]
    assert index.phrase_candidates(parse_query('"drain" "pool"')).tolist() == [2, 4]
    assert index.phrase_candidates(parse_query('"nowhere the"')).tolist() == []
    assert index.phrase_candidates(parse_query("drain the node")).tolist() == []
