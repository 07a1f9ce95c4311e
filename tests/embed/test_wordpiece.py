from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firstlight.embed.wordpiece import VOCABULARY, VOCABULARY_SHA256, load_tokenizer, read_vocabulary
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NOTICE = Path(__file__).resolve().parents[2] / "NOTICE"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    if find_spec("tokenizers") is None:
        pytest.skip("the extra 'local' is not installed")
    return load_tokenizer()


def test_the_vocabulary_is_the_one_that_the_notice_names() -> None:
    assert hashlib.sha256(VOCABULARY.read_bytes()).hexdigest() == VOCABULARY_SHA256
    assert VOCABULARY_SHA256 in NOTICE.read_text()
    assert VOCABULARY.name in NOTICE.read_text()


def test_an_entry_s_id_is_its_line() -> None:
    ids = read_vocabulary()
    assert len(ids) == 30_522
    assert [ids[entry] for entry in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the")] == [
        0,
        100,
        101,
        102,
        103,
        1996,
    ]


def test_a_damaged_vocabulary_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "vocab.txt"
    damaged.write_bytes(VOCABULARY.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(ConfigError, match="reinstall firstlight"):
        read_vocabulary(damaged)
    with pytest.raises(ConfigError, match="reinstall firstlight"):
        read_vocabulary(tmp_path / "missing.txt")


def test_texts_are_cut_as_bert_cuts_them(tokenizer: Tokenizer) -> None:
    # The ids that the model's own authors print for this sentence.
    assert tokenizer.encode("Hello, my dog is cute").ids == [101, 7592, 1010, 2026, 3899, 2003, 10140, 102]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Embeddings", ["em", "##bed", "##ding", "##s"]),
        ("Café NAÏVE", ["cafe", "naive"]),
        ("水山", ["水", "山"]),
        ("foo\0bar\ufffd", ["foo", "##bar"]),
        ("a" * 101, ["[UNK]"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_case_accents_and_scripts_are_handled_as_bert_handles_them(
    tokenizer: Tokenizer, text: str, tokens: list[str]
) -> None:
    assert tokenizer.encode(text, add_special_tokens=False).tokens == tokens


def test_a_marker_inside_a_text_is_text(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("[SEP]", add_special_tokens=False).tokens == ["[", "sep", "]"]


def test_a_long_text_is_not_cut_in_silence(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("word " * 5000).ids) == 5002
