"""Runs an embedding model in ONNX Runtime on the CPU: one text at a time, the same bits every time."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

from firstlight.embed.check import checked
from firstlight.embed.types import Limits
from firstlight.embed.windows import joined, token_units
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event
    from typing import Any, TypeAlias

    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    from firstlight.embed.types import Kind, Vectors

    Pooling: TypeAlias = Literal["mean", "cls"]

# A call takes about a tenth of a second for each text: after this many, whoever waits gets a turn.
_TEXTS_PER_THREAD = 8
_TOKENS_PER_TEXT = 512  # as `est_tokens` counts; a window's own count is what the model checks

_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no tokenizer takes


class Shape(NamedTuple):
    """What is known of a model before it runs; `max_tokens` counts the tokens that frame a text too."""

    dimensions: int
    max_tokens: int
    pooling: Pooling


class Source(Protocol):
    """Where a model comes from; each of these may read files, and is called once, when first needed."""

    def shape(self) -> Shape:
        """Return what the model's own files say of it."""
        ...

    def tokenizer(self) -> Tokenizer:
        """Return its tokenizer, which frames texts and does not cut them."""
        ...

    def network(self) -> bytes:
        """Return the ONNX model itself."""
        ...


class OnnxEmbedder:
    """An `Embedder` whose model runs in this process; any number of threads may share it.

    Texts go through the model one by one: batches are slower on a CPU, and padding would change the bits.
    Each run keeps to one thread, so that the bits do not depend on how many there are.
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str,
        fingerprint: str,
        languages: frozenset[str] | None = None,
        threads: int = 1,
    ) -> None:
        if threads < 1:
            raise ValueError(f"threads must be 1 or more, not {threads}")
        self.name = name
        self.fingerprint = fingerprint
        self.languages = languages
        self.limits = Limits(
            texts=_TEXTS_PER_THREAD * threads, tokens=_TEXTS_PER_THREAD * threads * _TOKENS_PER_TEXT
        )
        self.stop: Event | None = None
        self._threads = threads
        self._source = source
        self._lock = Lock()
        self._shape: Shape | None = None
        self._tokens: Tokenizer | None = None
        self._network: _Network | None = None

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._read_shape().dimensions

    @property
    def max_tokens(self) -> int:
        """The longest text that it takes, counting the tokens that frame it."""
        return self._read_shape().max_tokens

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return float32[n, d], a vector of unit length for each text, in their order.

        The model makes no difference between kinds; documents are given up once `stop` is set.

        Raises:
            ConfigError: The model or what runs it is not installed, or damaged.
            EmbeddingError: A text is longer than `max_tokens` (`too-large`): `split` cuts it. Or it was
                stopped.
        """
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        inputs = [self._ids(text, f"text {number} of {len(texts)}") for number, text in enumerate(texts, 1)]
        network = self._load()
        stop = self.stop if kind == "document" else None

        def run(ids: NDArray[np.int64]) -> NDArray[np.float64]:
            if stop is not None and stop.is_set():
                raise EmbeddingError(f"{self.name} was stopped")
            return network.run(ids)

        workers = min(self._threads, len(inputs))
        if workers == 1:
            rows = list(map(run, inputs))
        else:
            with ThreadPoolExecutor(workers) as pool:
                rows = list(pool.map(run, inputs))
        return checked(np.stack(rows), texts=len(texts), dimensions=self._read_shape().dimensions)

    def split(self, text: str) -> list[str]:
        """Cut `text` into windows that each fit; they put together are the text again."""
        encoded = self._encode(text)
        room = self._read_shape().max_tokens - self._tokenizer().num_special_tokens_to_add(is_pair=False)
        if len(encoded.ids) <= room:
            return [text]
        starts, sizes = token_units(encoded.word_ids, encoded.offsets, room)
        if len(starts) < 2:  # one character of many tokens
            return [text]
        # A window may have other tokens than it had inside the text, where a tokenizer looks past its words.
        return [part for window in joined(text, starts, sizes, room) for part in self.split(window)]

    def _ids(self, text: str, position: str) -> NDArray[np.int64]:
        ids = self._encode(text, framed=True).ids
        longest = self._read_shape().max_tokens
        if len(ids) > longest:
            raise EmbeddingError(
                f"{position} has {len(ids)} tokens, {self.name} takes {longest}: embed it in windows",
                kind="too-large",
            )
        return np.array([ids], np.int64)

    def _encode(self, text: str, *, framed: bool = False) -> Encoding:
        return self._tokenizer().encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=framed)

    def _read_shape(self) -> Shape:
        if self._shape is None:
            self._shape = self._source.shape()
        return self._shape

    def _tokenizer(self) -> Tokenizer:
        if self._tokens is None:
            with self._lock:
                if self._tokens is None:
                    self._tokens = self._source.tokenizer()
        return self._tokens

    def _load(self) -> _Network:
        if self._network is None:
            with self._lock:
                if self._network is None:
                    self._network = _Network(self._source.network(), self._read_shape(), self.name)
        return self._network


class _Network:
    """A session of ONNX Runtime."""

    def __init__(self, model: bytes, shape: Shape, name: str) -> None:
        import onnxruntime  # noqa: PLC0415  # an extra, loaded when first needed
        from onnxruntime.capi import onnxruntime_pybind11_state as errors  # noqa: PLC0415

        onnxruntime.disable_telemetry_events()
        self._errors: tuple[type[Exception], ...] = (  # which have no base of their own
            errors.Fail,
            errors.InvalidArgument,
            errors.InvalidGraph,
            errors.InvalidProtobuf,
            errors.NotImplemented,
            errors.RuntimeException,
        )
        self._shape = shape
        self._name = name
        try:
            self._session = onnxruntime.InferenceSession(
                model, _options(onnxruntime), providers=["CPUExecutionProvider"]
            )
        except self._errors as error:
            raise ConfigError(f"the model {name} cannot be loaded: {_line(error)}", key="embedder") from error
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._output = _tokens_output(self._session)
        unknown = self._inputs - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown or self._output is None:
            what = f"the input {min(unknown)!r}" if unknown else "no output with a vector for each token"
            raise ConfigError(
                f"the model {name} has {what}: no text embedding model of a known kind", key="embedder"
            )

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the pooled vector of a text; `ids` is int64[1, tokens]."""
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            (states,) = self._session.run([self._output], {name: feeds[name] for name in self._inputs})
        except self._errors as error:
            raise EmbeddingError(f"the model {self._name} failed: {_line(error)}", kind="refused") from error
        tokens: NDArray[np.float64] = states[0].astype(np.float64)
        pooled: NDArray[np.float64] = tokens[0] if self._shape.pooling == "cls" else tokens.mean(axis=0)
        return pooled


def _options(onnxruntime: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Folding constants is what pays; with fused operators too, all-MiniLM-L6-v2 ran 5 % slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # A plan of memory for each length of text would be kept for good, and saves nothing measurable. The arena
    # stays: it keeps what the longest texts took, where the allocator of C scatters more with every thread.
    options.enable_mem_pattern = False
    options.log_severity_level = 3  # errors, which are raised anyway
    return options


def _tokens_output(session: Any) -> str | None:
    """Return the name of the output that has a vector for each token."""
    return next((node.name for node in session.get_outputs() if len(node.shape) == 3), None)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
