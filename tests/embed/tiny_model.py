"""A tiny embedding model, made here: each token has its row of a table; the tokenizer knows a few words.

ONNX files are protocol buffers; the few messages that such a model needs are written by hand, so that the
tests need no package that does nothing else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "alpha", "beta", "gamma")
TABLE = np.array(
    [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 8], [0, 6, 0], [5, 0, 5]],
    np.float32,
)


def network(*, inputs: Sequence[str] = ("input_ids", "attention_mask"), rank: int = 3) -> bytes:
    """Return a model whose token vectors are rows of `TABLE`."""
    table = (
        b"".join(_number(1, size) for size in TABLE.shape)
        + _number(2, 1)
        + _text(8, "t")
        + _field(9, TABLE.tobytes())
    )
    gather = _text(1, "t") + _text(1, "input_ids") + _text(2, "last_hidden_state") + _text(4, "Gather")
    graph = _field(1, gather) + _text(2, "g") + _field(5, table)
    graph += b"".join(_field(11, _value(name, 7, 2)) for name in inputs)
    graph += _field(12, _value("last_hidden_state", 1, rank))
    return _number(1, 8) + _field(7, graph) + _field(8, _number(2, 17))


def tokenizer() -> str:
    """Return a tokenizer.json that cuts at 8 tokens and pads, as those of the hub often do."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import BertProcessing

    made = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.add_special_tokens(["[SEP]"])
    made.enable_truncation(8)
    made.enable_padding(length=8)
    text: str = made.to_str()
    return text


def files() -> dict[str, bytes]:
    """Return a whole model, as a repository of the hub holds it."""
    return {
        "onnx/model.onnx": network(),
        "tokenizer.json": tokenizer().encode(),
        "sentence_bert_config.json": config(max_seq_length=16, do_lower_case=False),
        "1_Pooling/config.json": config(
            word_embedding_dimension=3, pooling_mode_cls_token=False, pooling_mode_mean_tokens=True
        ),
    }


def config(**settings: Any) -> bytes:
    return json.dumps(settings).encode()


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _field(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _field(field, text.encode())


def _value(name: str, kind: int, rank: int) -> bytes:
    """A tensor of `rank` dimensions, each of any size."""
    shape = b"".join(_field(1, _text(2, f"{name}_{axis}")) for axis in range(rank))
    return _text(1, name) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))
