"""BERT's uncased WordPiece tokenizer, from the vocabulary that ships with the package."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# 30,522 entries, one a line: an entry's id is its line, from 0. See NOTICE for whose it is.
VOCABULARY = Path(__file__).parent / "data" / "bert-base-uncased-vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_MAX_WORD = 100  # characters; a longer word is one unknown token, as in BERT's own tokenizer


def load_tokenizer() -> Tokenizer:
    """Return the tokenizer, which frames a text with `[CLS]` and `[SEP]` and never cuts it.

    Markers like `[SEP]` inside a text are text.

    Raises:
        ConfigError: The vocabulary is damaged or missing.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415  # an extra, loaded when first needed
    from tokenizers.models import WordPiece  # noqa: PLC0415
    from tokenizers.normalizers import BertNormalizer  # noqa: PLC0415
    from tokenizers.pre_tokenizers import BertPreTokenizer  # noqa: PLC0415
    from tokenizers.processors import BertProcessing  # noqa: PLC0415

    ids = read_vocabulary()
    tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=_MAX_WORD))  # noqa: S106
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    return tokenizer


def read_vocabulary(path: Path = VOCABULARY) -> dict[str, int]:
    """Return the id of each entry, once the file's checksum is right."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{error.strerror}; reinstall firstlight", path=str(path)) from error
    if hashlib.sha256(data).hexdigest() != VOCABULARY_SHA256:
        raise ConfigError(
            "this is not the vocabulary that firstlight came with; reinstall firstlight", path=str(path)
        )
    return {entry: number for number, entry in enumerate(data.decode("utf-8").removesuffix("\n").split("\n"))}
