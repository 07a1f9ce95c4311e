from __future__ import annotations

import threading
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.texts import ENGLISH, FOREIGN, LANGUAGES, WORDS, any_text, pack_texts, spaced, text

from firstlight.lexical import ANALYSIS_VERSION, parse_query, words
from firstlight.lexical.analysis import fold, folded_words, spans, terms_of_many, word_terms

if TYPE_CHECKING:
    from pathlib import Path


def terms(written: str, language: str = "en") -> list[str]:
    """Return all terms of a text, in order."""
    return [term for word in words(written, language) for term in word.terms]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("20455", "20455"),
        ("E1234", "e1234"),
        ("1,000", "1 000"),
        ("3.14", "3 14 3.14"),
        ("v1.2.3", "v1 2 3 v1.2.3"),
        ("C++", "c c++"),
        ("C#", "c c#"),
        (".NET", "net .net"),
        ("node_id", "node id node_id"),
        ("__init__", "init"),
        ("_node_id_", "node id node_id"),
        ("2nodes_id", "2nodes id 2nodes_id"),  # with a digit: not stemmed
        ("getUserNames", "get user name getusernames"),
        ("HTTPServer", "http server httpserver"),
        ("HTTPServer_v2", "http server v2 httpserver_v2"),
        ("IPv6", "i pv6 ipv6"),
        ("YouTube", "you tube youtube"),
        ("IDs URLs APIs", "id ids url urls api apis"),
        ("sha256 h100s GPT4", "sha256 h100s gpt4"),  # with a digit: not stemmed
        ("0xDEADBEEF 9f86d081884c7d65", "0xdeadbeef 9f86d081884c7d65"),
        ("don't node's we'll l'avion", "don node we avion"),
        ("don’t l’État", "don etat"),
        ("O'Reilly rock'n'roll", "reilli rock roll"),
        ("I'll", "i ll"),  # two short parts: better both than none
        ("draining Drained DRAINS", "drain drain drain"),
        ("nationality Nodes", "nation node"),
    ],
)
def test_english_words_and_identifiers(written: str, expected: str) -> None:
    assert terms(written) == expected.split()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("résumé", "resum"),
        ("Straße", "strass"),
        ("STRASSE", "strass"),
        ("ﬁle", "file"),  # a ligature
        ("Ｆｕｌｌ", "full"),  # full width
        ("１２３", "123"),
        ("½", "1 2"),
        ("㎏", "kg"),
        ("™", "tm"),
        ("x²", "x2"),
        ("Ⅷ", "viii"),
        ("𝐀𝐁", "ab"),
        ("άνθρωπος ανθρωπος", "ανθρωπ ανθρωπ"),
        ("ёлка елка", "елк елк"),
        ("узлами узлы", "узл узл"),
        ("й и", "и и"),
        ("किताबें किताब", "किताब किताब"),
        ("हिन्दी", "हिन्द"),  # stemmed, its inner vowel signs kept
        ("東京都", "東 東京 京 京都 都"),
        ("機", "機"),
        ("がく", "が がく く"),  # a mark of kana is no accent
        ("ไทย", "ไ ไท ท ทย ย"),
        ("๑๒", "๑๒"),  # Thai digits are a number
        ("한국어", "한 한국 국 국어 어"),
        ("㍿", "株 式 会 社 株式 式会 会社"),
    ],
)
def test_words_of_other_scripts(written: str, expected: str) -> None:
    assert sorted(terms(written)) == sorted(expected.split())


@pytest.mark.parametrize(
    ("language", "written", "expected"),
    [
        ("de", "Häuser Hauses größer Größe", "haus haus gross gross"),
        ("fr", "l'école écoles nationaux", "ecol ecol national"),
        ("es", "canciones canción", "cancion cancion"),
        ("it", "l'amico gatti gatto", "amic gatt gatt"),
        ("sv", "hundarna hundar", "hund hund"),
        ("xx", "draining nodes", "draining nodes"),  # no stemmer: as it stands
        ("de", "Knoten_id v1.2 20455 узлами", "knot id knoten_id v1 2 v1.2 20455 узл"),  # the script tells
    ],
)
def test_words_of_other_languages(language: str, written: str, expected: str) -> None:
    assert terms(written, language) == expected.split()


@pytest.mark.parametrize("written", [*FOREIGN, "café's"])
@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_composed_and_decomposed_letters_are_the_same_term(written: str, language: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, written) for form in ("NFC", "NFD"))
    assert terms(composed, language) == terms(decomposed, language)


@pytest.mark.parametrize(
    ("composed", "other"),
    [
        ("がく", unicodedata.normalize("NFD", "がく")),
        ("ガク", unicodedata.normalize("NFD", "ガク")),
        ("ガク", "ｶﾞｸ"),  # half width: the mark is a character of its own
        ("한국어", unicodedata.normalize("NFD", "한국어")),
    ],
)
def test_decomposed_kana_and_hangul_are_found_as_composed(composed: str, other: str) -> None:
    assert set(terms(composed)) <= set(terms(other))


def test_the_terms_of_an_identifier_are_its_parts_then_its_whole() -> None:
    assert word_terms("getUserNames", "en") == ("get", "user", "name", "getusernames")
    assert word_terms("C++", "en") == ("c", "c++")
    assert word_terms("drain", "en") == ("drain",)


def test_a_very_long_run_is_found_by_its_beginning() -> None:
    assert terms("x" * 10_000) == terms("x" * 200) == ["x" * 128]


def test_the_version_of_the_analysis_names_that_of_unicode() -> None:
    assert unicodedata.unidata_version in ANALYSIS_VERSION


@given(any_text | spaced)
def test_folding_twice_is_folding_once(written: str) -> None:
    assert fold(fold(written)) == fold(written)


@given(st.sampled_from([*ENGLISH, *FOREIGN]), st.sampled_from(LANGUAGES))
def test_terms_of_a_term_stay_findable(written: str, language: str) -> None:
    """What is indexed is lower case and composed: a term can be typed."""
    for term in terms(written, language):
        assert term == term.casefold() == unicodedata.normalize("NFC", term)
        assert term


@given(text, st.sampled_from(LANGUAGES))
def test_no_term_is_empty_and_each_can_be_stored(written: str, language: str) -> None:
    for word in words(written, language):
        assert word.terms
        assert all(term and term.encode() for term in word.terms)


@given(st.lists(st.sampled_from(WORDS) | any_text.filter(bool), max_size=20), st.sampled_from(LANGUAGES))
def test_many_words_at_once_are_analysed_like_each_alone(written: list[str], language: str) -> None:
    cuts = [word[start:end] for word in written for start, end in spans(word)]
    assert terms_of_many(cuts, language) == [word_terms(cut, language) for cut in cuts]


def test_many_real_words_at_once_are_analysed_like_each_alone(data_pack: Path) -> None:
    texts = pack_texts(data_pack)
    cuts = sorted({found[start:end] for found in texts[::3] for start, end in spans(found)})
    for language in ("en", "de"):
        assert terms_of_many(cuts, language) == [word_terms(cut, language) for cut in cuts]


@given(text)
def test_more_text_after_a_space_changes_no_word_before_it(written: str) -> None:
    assert spans(written + " drain")[:-1] == spans(written)


def test_phrases_compare_words_without_case_accents_or_kind_of_apostrophe() -> None:
    assert folded_words("L’École, the ÉCOLE and Straße") == ["l'ecole", "the", "ecole", "and", "strasse"]
    assert folded_words("ﬁle Ｆｕｌｌ") == ["file", "full"]


def test_stemmers_are_safe_in_many_threads() -> None:
    expected = [word_terms.__wrapped__(word, "de") for word in WORDS]
    found: list[object] = []

    def analyse() -> None:
        found.append(
            all([word_terms.__wrapped__(word, "de") for word in WORDS] == expected for _ in range(20))
        )

    threads = [threading.Thread(target=analyse) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("GPUs", "GPU"),
        ("GPU", "GPUs"),
        ("GPUs", "gpus"),
        ("OSes", "OS"),
        ("Łódź", "Lodz"),
        ("smørrebrød", "smorrebrod"),
    ],
)
def test_plurals_of_acronyms_and_letters_with_strokes_are_found(written: str, asked: str) -> None:
    variants = {variant for term in parse_query(asked).terms for variant in term.variants}
    assert variants & set(word_terms(written, "en"))


def test_a_soft_hyphen_is_no_part_of_a_word() -> None:
    assert [word.terms for word in words("Daten\u00adbank", "de")] == [word_terms("Datenbank", "de")]
