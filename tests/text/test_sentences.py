from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.text.sentences import sentence_starts, sentences


def _split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three? Four… Five.", 5),
        ("It costs 3.14, e.g. here, i.e. there, cf. Smith et al. 2020.", 1),
        ("Dr. Who met J. R. Tolkien. They talked.", 2),
        ("He said “stop.” Then he left.", 2),
        ("See v1.2.3. It is out.", 2),
        ("Wait... what? No.", 2),
        ("水は低きに流れる。火は？「熱い。」終わり", 4),
        ("यह एक है। यह दो है।", 2),
        ("สวัสดี ครับ", 2),
        ("no full stop\n\nanother paragraph", 2),
        ("no full stop\r\rbare returns", 2),
        ("one line\r\nthe next", 1),
        ("", 0),
        ("....", 1),
    ],
)
def test_sentences_end_where_readers_end_them(text: str, count: int) -> None:
    assert len(_split(text)) == count


@given(st.text(alphabet=st.sampled_from('aB.!?…。 \n\r"”)1é水ก😀'), max_size=200))
def test_sentences_cover_the_text(text: str) -> None:
    assert "".join(_split(text)) == text


@given(st.text(alphabet="aB. \n", max_size=60), st.integers(0, 30), st.integers(0, 30))
def test_a_window_has_starts_strictly_inside_it(text: str, start: int, size: int) -> None:
    end = min(len(text), start + size)
    assert all(start < at < end for at in sentence_starts(text, start, end))


@pytest.mark.parametrize("unit", [".", ". ", '."', '"', " ", "\n ", "a. ", "。", "ก ", "..a"])
def test_a_million_characters_are_no_trouble(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert all(0 < at < len(text) for at in sentence_starts(text))
