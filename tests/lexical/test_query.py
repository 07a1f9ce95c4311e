from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.texts import ENGLISH, LANGUAGES, any_text, glued, spaced, text

from firstlight.lexical import Index, Indexable, build_segment, parse_query, words
from firstlight.lexical.languages import LATIN_STEMMERS


def asked(question: str, *languages: str) -> list[str]:
    """Return the words that a question looks up."""
    return [term.word for term in parse_query(question, languages or ("en",)).terms]


def finds(question: str, body: str, language: str = "en") -> bool:
    index = Index([(build_segment([1], [Indexable(body, language=language)]), None)])
    return bool(len(index.search(parse_query(question, (language,)), depth=1).ids))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I drain a node?", "drain node"),
        ("what is the difference between pools and nodes", "difference pools nodes"),
        ("node's don't", "node's don't"),
        ("the", "the"),  # nothing else is left
        ("to be or not to be", "to be or not"),
        ("what is this", "what is this"),
        ('"the who" albums', "the who albums"),  # quoted
        ("“to be” pools", "to be pools"),
        ("„the“ pool and «an» idea", "the pool an idea"),
        ("what is IT support", "it support"),  # capitalised inside
        ("albums by The Who", "albums the who"),
        ("The pool", "pool"),  # a sentence begins so
        ("How Do I Drain The Node", "drain node"),  # in a title a capital says nothing
        ("WHAT IS THE POOL", "pool"),
        ("can I drain", "drain"),
    ],
)
def test_stop_words_are_dropped_unless_they_are_meant(question: str, expected: str) -> None:
    assert asked(question) == expected.split()


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("de", "Wie leere ich einen Knoten?", "leere knoten"),
        ("fr", "Comment vider un nœud ?", "vider noeud"),
        ("es", "¿Cómo vaciar el nodo?", "vaciar nodo"),
        ("ru", "Как очистить узел?", "очистить узел"),
    ],
)
def test_stop_words_of_the_corpus_languages_are_dropped(language: str, question: str, expected: str) -> None:
    assert asked(question, "en", language) == expected.split()


_SIGNS = [
    "*",
    "(",
    ")",
    "()",
    ":",
    "^",
    "^2",
    "~",
    "~1",
    "-",
    "--",
    "!",
    "+",
    "|",
    "&",
    "&&",
    "\\",
    "/",
    "[",
    "]",
    "{}",
    "<>",
    "'",
    "''",
    "“",
    "”",
    "„",
    "«",
    "»",
    "`",
    "%",
    "?",
    ";",
    "$",
    ".*",
    "\x00",
]


@pytest.mark.parametrize("sign", [*_SIGNS, '"', '""', '" "'])
def test_signs_are_text_and_never_syntax(sign: str) -> None:
    for question in (f"drain {sign} node", f"{sign} drain node{sign}", f"drain{sign} {sign} node"):
        assert set(asked(question)) - {"1", "2"} == {"drain", "node"}
        assert finds(question, "a drained node")


@pytest.mark.parametrize("operator", ["AND", "OR", "NOT", "NEAR", "TO", "and", "or", "not"])
def test_operators_of_other_engines_are_words(operator: str) -> None:
    question = f"{operator} drain {operator} node {operator}"
    assert {"drain", "node"} <= set(asked(question))
    index = Index([(build_segment([1, 2], [Indexable("drain"), Indexable("drain a node")]), None)])
    assert index.search(parse_query(question), depth=5).ids.tolist() == [2, 1]


@pytest.mark.parametrize(
    "question", ["title:node", "node^3", "-node", "+node", "node*", "(node", "node~2", '"node']
)
def test_a_prefix_or_suffix_of_query_languages_hides_no_word(question: str) -> None:
    assert "node" in asked(question)
    assert finds(question, "one node")


@pytest.mark.parametrize(
    "question", ['"drain', 'drain"', "“drain", "drain”", '"', '""', '"" ""', '" "', '"?!"']
)
def test_unbalanced_or_empty_quotes_are_plain_text(question: str) -> None:
    assert parse_query(question).phrases == ()


@pytest.mark.parametrize("quoted", ['"node pools"', "“node pools”", "„node pools“", "«node pools»"])
def test_balanced_quotes_of_any_kind_make_a_phrase(quoted: str) -> None:
    query = parse_query(f"drain {quoted}")
    assert [phrase.words for phrase in query.phrases] == [("node", "pools")]
    assert [term.word for term in query.terms] == ["drain", "node", "pools"]


def test_a_word_that_is_asked_again_counts_again() -> None:
    counts = {term.word: term.count for term in parse_query("node pool Nodes node").terms}
    assert counts == {"node": 3, "pool": 1}


def test_asking_twice_weighs_more_but_saturates() -> None:
    index = Index([(build_segment([1, 2], [Indexable("node"), Indexable("pool")]), None)])
    scores = [float(index.search(parse_query("node " * n), depth=1).scores[0]) for n in (1, 2, 1000)]
    assert scores[1] == pytest.approx(scores[0] * 9 * 2 / (8 + 2))  # k3 = 8
    assert scores[0] < scores[1] < scores[2] < scores[0] * 9


def test_a_word_is_looked_up_by_its_stem_in_each_language_of_the_corpus() -> None:
    (term,) = parse_query("Häuser", ("en", "de")).terms
    assert {"haus", "hauser"} <= set(term.variants)
    assert len(set(term.variants)) == len(term.variants)
    (same,) = parse_query("узлами", ("en", "de", "fr")).terms
    assert "узл" in same.variants


def test_without_languages_a_question_is_english() -> None:
    assert parse_query("draining", ()).terms == parse_query("draining").terms


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("getUserNames", "call getUserNames() twice"),
        ("user name", "call getUserNames() twice"),
        ("getusernames", "call getUserNames() twice"),
        ("node_id", "SELECT node_id FROM t"),
        ("node id", "SELECT node_id FROM t"),
        ("NODE_ID", "SELECT node_id FROM t"),
        ("node-id", "SELECT node_id FROM t"),
        ("v1.2.3", "since v1.2.3."),
        ("1.2.3", "since v1.2.3."),
        ("youtube", "on YouTube"),
        ("numpy", "with NumPy"),
        ("c++", "in C++."),
        ("C#", "in c#, mostly"),
        (".net", "on .NET 8"),
        ("20455", "port 20455"),
        ("e1234", "error E1234: no"),
        ("URL", "all URLs"),
        ("resume", "résumé"),
        ("résumé", "resume"),
        ("Strasse", "Straße"),
        ("file", "ﬁle"),
        ("東", "東京都"),
        ("京都", "東京都"),
    ],
)
def test_identifiers_are_found_by_their_parts_and_whole_in_any_case(question: str, body: str) -> None:
    assert finds(question, body)


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("NumPy", "with numpy"),
        ("YouTube", "on youtube"),
        ("GetUserName", "call getusername"),
    ],
)
def test_an_identifier_in_capitals_is_found_where_it_is_written_without(question: str, body: str) -> None:
    assert finds(question, body)


@given(any_text | glued | spaced, st.sampled_from(sorted(LATIN_STEMMERS)))
def test_any_text_is_a_question(question: str, language: str) -> None:
    query = parse_query(question, ("en", language))
    assert query.text == question
    assert all(term.variants and term.count >= 1 for term in query.terms)
    looked_up = [term.variants for term in query.terms]
    assert len(set(looked_up)) == len(looked_up)


@given(text, st.sampled_from(LANGUAGES))
def test_a_text_with_words_is_found_by_asking_for_all_of_it(body: str, language: str) -> None:
    assert finds(body, body, language) == any(True for _ in words(body, language))


@given(st.sampled_from(ENGLISH), st.sampled_from(ENGLISH))
def test_order_does_not_matter_to_what_is_looked_up(first: str, second: str) -> None:
    variants = [
        {term.variants for term in parse_query(f'"{a} {b}"').terms}
        for a, b in ((first, second), (second, first))
    ]
    assert variants[0] == variants[1]


def test_a_very_long_question_is_read_for_a_while() -> None:
    question = "drain " + " ".join(f"word{number}" for number in range(50_000))
    query = parse_query(question)
    assert query.text == question
    assert 100 < len(query.terms) < 10_000
    assert query.terms[0].word == "drain"
    assert len(parse_query("x" * 100_000).terms) == 1
    assert parse_query('"' * 50_000).terms == ()


def test_a_very_long_question_is_not_cut_within_a_word() -> None:
    for word in ("node", "drains", '"pool"'):
        assert len(parse_query(f"{word} " * 5000).terms) == 1


@pytest.mark.parametrize(
    ("asked", "kept"), [("v-if", "v if"), ("how to opt-out", "opt out"), ("a - b if", "b")]
)
def test_a_stop_word_within_a_hyphenated_word_is_looked_up(asked: str, kept: str) -> None:
    assert [term.word for term in parse_query(asked).terms] == kept.split()


def test_a_long_question_of_nothing_but_spaces_asks_nothing() -> None:
    assert parse_query(" " * 1_000_000).terms == ()
