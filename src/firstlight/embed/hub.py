"""`hf:ORG/NAME@REVISION`: an ONNX embedding model from the Hugging Face hub, pinned and kept on disk.

The files of one commit never change: once they are there, the network is not asked again.
"""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from firstlight.embed.download import download
from firstlight.embed.onnx import OnnxEmbedder, Shape
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from tokenizers import Tokenizer

_HUB = "https://huggingface.co"
_MODEL = re.compile(r"(?P<org>[A-Za-z0-9][\w.-]*)/(?P<name>[A-Za-z0-9][\w.-]*)", re.ASCII)
_REVISION = re.compile(r"[0-9a-f]{40}")

_NETWORKS = ("onnx/model.onnx", "model.onnx")  # the first that is there; quantised ones are not guessed at
_TOKENIZER = "tokenizer.json"
_LENGTH = "sentence_bert_config.json"
_POOLING = "1_Pooling/config.json"
_MAX_NETWORK = 2**31 - 1  # bytes: what one ONNX file can hold
_MAX_TOKENIZER = 1 << 26
_MAX_CONFIG = 1 << 20

_FRAME = 2  # tokens that most tokenizers put around a text
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}


def hub_embedder(
    model: str,
    *,
    folder: Path,
    allow_downloads: bool,
    threads: int = 1,
    languages: frozenset[str] | None = None,
) -> HubEmbedder:
    """Return the embedder of `ORG/NAME@REVISION`; nothing is fetched or loaded before its first use.

    Args:
        model: The model and the full hash of its commit.
        folder: Where models are kept.
        allow_downloads: Whether the user lets models be fetched.
        threads: How many texts go through the model at once.
        languages: The languages that it knows, where the user says so; None for all.

    Raises:
        ConfigError: The model is not pinned, or neither here nor allowed to be fetched, or the extra `local`
            is missing.
    """
    name, _, revision = model.partition("@")
    found = _MODEL.fullmatch(name)
    if not found or ".." in name:
        raise ConfigError(f"{name!r:.120} is no model of the hub: say hf:ORG/NAME@REVISION", key="embedder")
    if not _REVISION.fullmatch(revision):
        raise ConfigError(
            f"hf:{name} must be pinned to a commit, by all 40 digits of its hash: hf:{name}@REVISION; "
            f"the commits are listed at {_HUB}/{name}/commits/main",
            key="embedder",
        )
    if any(find_spec(package) is None for package in ("onnxruntime", "tokenizers")):
        raise ConfigError("models of the hub need an extra: pip install 'firstlight[local]'", key="embedder")
    files = _Files(name, revision, folder / f"{found['org']}--{found['name']}" / revision, allow_downloads)
    if not (allow_downloads or files.are_here()):
        raise ConfigError(
            f"hf:{name} is not on this machine, and may not be fetched: set allow_downloads = true in your "
            "own configuration, or FIRSTLIGHT_ALLOW_DOWNLOADS=1",
            key="embedder",
        )
    return HubEmbedder(files, name, revision, threads=threads, languages=languages)


class HubEmbedder(OnnxEmbedder):
    """An `Embedder` from the hub; looking at it fetches nothing: a size is 0 until its files are here."""

    def __init__(
        self, files: _Files, name: str, revision: str, *, threads: int, languages: frozenset[str] | None
    ) -> None:
        super().__init__(
            files, name=name, fingerprint=f"hf:{name}@{revision}/unit", languages=languages, threads=threads
        )
        self._files = files

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 until it is known."""
        return super().dimensions if self.is_here else 0

    @property
    def max_tokens(self) -> int:
        """The longest text that it takes; 0 until it is known."""
        return super().max_tokens if self.is_here else 0

    @property
    def is_here(self) -> bool:
        """Whether all its files are on this machine."""
        return self._files.are_here()

    def fetch(self) -> None:
        """Fetch what is not here yet; the first use would do it too.

        Raises:
            ConfigError: The model lacks a file, or the folder cannot be written.
            EmbeddingError: The hub cannot be reached, or answers with something else.
        """
        self._files.fetch()


class _Files:
    """A model's files, as they are kept on disk."""

    def __init__(self, name: str, revision: str, folder: Path, allow_downloads: bool) -> None:
        self._name = name
        self._revision = revision
        self._folder = folder
        self._allow_downloads = allow_downloads
        self._lock = Lock()
        self._here = False

    def are_here(self) -> bool:
        self._here = self._here or (
            self._network() is not None
            and all((self._folder / file).is_file() for file in (_TOKENIZER, _LENGTH, _POOLING))
        )
        return self._here

    def fetch(self) -> None:
        with self._lock:
            if self.are_here():
                return
            for file, size in ((_LENGTH, _MAX_CONFIG), (_POOLING, _MAX_CONFIG), (_TOKENIZER, _MAX_TOKENIZER)):
                if not self._have(file, size):
                    raise self._wrong(f"it has no {file}")
            self._read_shape()  # before the large file comes
            if not any(self._have(file, _MAX_NETWORK) for file in _NETWORKS):
                raise self._wrong(f"it has no {' and no '.join(_NETWORKS)}")

    def shape(self) -> Shape:
        self.fetch()
        return self._read_shape()

    def tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer  # noqa: PLC0415  # an extra, loaded when first needed

        self.fetch()
        try:
            tokenizer = Tokenizer.from_file(str(self._folder / _TOKENIZER))
        except Exception as error:  # the library raises nothing narrower
            raise self._wrong(f"its {_TOKENIZER} cannot be read ({error})") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # a marker like [SEP] inside a text is text
        return tokenizer

    def network(self) -> bytes:
        self.fetch()
        path = self._network()
        if path is None:  # deleted since
            raise self._wrong("its model is gone")
        return path.read_bytes()

    def _network(self) -> Path | None:
        return next((path for file in _NETWORKS if (path := self._folder / file).is_file()), None)

    def _have(self, file: str, max_bytes: int) -> bool:
        """Fetch a file unless it is here; False where the hub has none."""
        target = self._folder / file
        if target.is_file():
            return True
        if not self._allow_downloads:
            raise self._wrong(f"{file} is not here, and may not be fetched")
        base = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
        return download(f"{base}/{self._name}/resolve/{self._revision}/{file}", target, max_bytes=max_bytes)

    def _read_shape(self) -> Shape:
        pooling, length = self._json(_POOLING), self._json(_LENGTH)
        modes = [key for key, value in pooling.items() if key.startswith("pooling_mode_") and value is True]
        if len(modes) != 1 or modes[0] not in _POOLINGS:
            raise self._wrong(f"it pools by {', '.join(modes) or 'nothing'}, where mean or cls is known")
        dimensions, tokens = pooling.get("word_embedding_dimension"), length.get("max_seq_length")
        if not (isinstance(dimensions, int) and dimensions > 0):
            raise self._wrong(f"{_POOLING} does not say word_embedding_dimension")
        if not (isinstance(tokens, int) and tokens > _FRAME):
            raise self._wrong(f"{_LENGTH} does not say max_seq_length")
        return Shape(dimensions, tokens, "mean" if _POOLINGS[modes[0]] == "mean" else "cls")

    def _json(self, file: str) -> dict[str, Any]:
        try:
            found = json.loads((self._folder / file).read_bytes())
        except (OSError, ValueError) as error:
            raise self._wrong(f"its {file} cannot be read") from error
        if not isinstance(found, dict):
            raise self._wrong(f"its {file} is no table")
        return found

    def _wrong(self, reason: str) -> ConfigError:
        return ConfigError(
            f"hf:{self._name} cannot be used: {reason}; its files are kept in {self._folder}", key="embedder"
        )
