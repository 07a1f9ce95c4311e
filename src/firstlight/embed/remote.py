"""What the embedders over HTTP share: what their models are called, and vectors that have been checked."""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from firstlight.embed.attempts import Attempts, Patience
from firstlight.embed.check import checked
from firstlight.embed.failures import Asked, LaterError, ShutOutError
from firstlight.embed.http import Connections
from firstlight.embed.limits import MAX_TEXTS, PROVIDERS, model_facts
from firstlight.embed.pace import Pace
from firstlight.embed.types import Limits
from firstlight.errors import EmbeddingError
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from firstlight.embed.limits import Model, Prefixes
    from firstlight.embed.types import Kind, Vectors

_T = TypeVar("_T")
# Seconds for a provider to say what it serves: no work, and fingerprints are read while somebody waits.
_TELL_TIMEOUT = 1.5
_REST = 10.0
# What a provider says of its model stays below.
_LONGEST_NAME = 200
_MOST_TOKENS = 10_000_000


class Served(NamedTuple):
    """What a provider says that it serves; empty or 0 where it does not say."""

    model: str
    revision: str = ""
    pooling: str = ""
    max_tokens: int = 0
    texts: int = 0

    def is_sound(self) -> bool:
        """Whether these can be a model's names and limits."""
        names = (self.model, self.revision, self.pooling)
        return (
            all(isinstance(name, str) and len(name) <= _LONGEST_NAME for name in names)
            and all(map(str.isprintable, names))
            and 0 <= self.max_tokens <= _MOST_TOKENS
            and self.texts >= 0
        )


class RemoteEmbedder(ABC):
    """An embedder behind HTTP; thread-safe. Nothing is sent before it is first needed.

    A batch of documents is tried again where that may help, at the pace that the provider asks for. A
    question has one attempt, and waits for no batch.

    Args:
        model: What the provider calls the model.
        base_url: Where the provider is.
        key: Sent as a bearer token; never shown.
        dimensions: How long vectors shall be, of a model that offers several lengths.
        prefixes: What goes before documents and questions; the known ones of the model, where this is None.
        revision: The model's exact version; where it is given, the provider is not asked for it.
        timeout: Seconds that one attempt at a batch may take, from the name lookup to the last byte.
        query_timeout: The same for a question; whoever asks it may go on without the answer much earlier.
        retries: How often a batch is tried again.
        backoff: Seconds before the first of those, and the most before any; in between they double. What the
            provider asks for comes first, up to a minute.
        proxy: A proxy to go through; the environment's are not looked at.
        pace: Shared with other embedders of the same account.
        stop: Ends batches, waiting or under way, within a fraction of a second; an attribute, too.

    Raises:
        ConfigError: The address is none, or the key would travel where anybody can read it.
    """

    kind: ClassVar[str]

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        key: str | None = None,
        dimensions: int | None = None,
        prefixes: Prefixes | None = None,
        revision: str | None = None,
        timeout: float = Patience().timeout,
        query_timeout: float = Patience().query_timeout,
        retries: int = Patience().retries,
        backoff: tuple[float, float] = Patience().backoff,
        proxy: str | None = None,
        pace: Pace | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.stop = stop
        self._model, self._option, self._given_prefixes = model, dimensions, prefixes
        self._has_key = key is not None
        self._connections = Connections(base_url, key=key, proxy=proxy)
        patience = Patience(timeout, query_timeout, retries, backoff)
        self._attempts = Attempts(self._connections, pace or Pace(), patience)
        self._dimensions = 0
        self._rests_until, self._rests_for = 0.0, ""
        self._served = None if revision is None or not model else Served(model, revision)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    @property
    def name(self) -> str:
        """What a person calls the model: its provider and its name there."""
        return f"{self.kind}:{self._known.model}"

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 until it is known."""
        return self._dimensions or self._option or self._facts.dimensions

    @property
    def max_tokens(self) -> int:
        """The longest text that the model takes, less what is put before it."""
        return (self._known.max_tokens or self._facts.max_tokens) - est_tokens(self._prefixes.document)

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that the model knows; None where that is not known."""
        return self._facts.languages

    @property
    def limits(self) -> Limits:
        """What one call takes."""
        provider = PROVIDERS[self.kind]
        return Limits(min(self._known.texts or provider.texts, MAX_TEXTS), provider.tokens)

    @property
    def fingerprint(self) -> str:
        """What makes two vectors comparable; asks the provider once, where it tells the model's revision.

        Raises:
            EmbeddingError: The provider cannot be asked.
        """
        served = self._identify("query")
        parts = {
            "revision": served.revision,
            "pooling": served.pooling,
            "dimensions": self._option or "",
            "prefix": _digest(self._prefixes) if any(self._prefixes) else "",
        }
        return ";".join([f"{self.kind}:{served.model}", *(f"{k}={v}" for k, v in parts.items() if v)])

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return float32[n, d], a vector of unit length for each text, in their order.

        Raises:
            EmbeddingError: The texts cannot be embedded; its `kind` says whether later might be better.
        """
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        self._identify(kind)
        prefix = self._prefixes.query if kind == "query" else self._prefixes.document
        path, content = self._request([prefix + text for text in texts])
        # A lone surrogate, as broken text may hold one, is no character that JSON can send.
        body = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
        if len(texts) > self.limits.texts or len(body) > PROVIDERS[self.kind].bytes:
            raise EmbeddingError(f"{self.name} takes fewer or shorter texts in one call", kind="too-large")

        def read(answer: Any) -> Vectors:
            return checked(self._vectors(answer), texts=len(texts), dimensions=self.dimensions)

        vectors = self._ask(path, body, read, kind)
        self._dimensions = vectors.shape[1]
        return vectors

    def close(self) -> None:
        """Close the connections that are kept."""
        self._connections.close()

    @abstractmethod
    def _request(self, texts: list[str]) -> tuple[str, dict[str, object]]:
        """Return where texts are sent, and what is sent."""

    @abstractmethod
    def _vectors(self, answer: Any) -> object:
        """Return the vectors of an answer, in the order of the texts."""

    def _ask_served(self, kind: Kind) -> Served:  # noqa: ARG002  # those that can be asked are
        """Return what the provider serves."""
        return Served(self._model)

    def _ask(
        self,
        path: str,
        body: bytes | None,
        read: Callable[[Any], _T],
        kind: Kind,
        timeout: float | None = None,
    ) -> _T:
        asked = Asked(self.name, self.kind, self._model, self._has_key)
        return self._attempts.ask(path, body, read, asked=asked, kind=kind, stop=self.stop, timeout=timeout)

    def _tell(self, path: str, read: Callable[[Any], _T], kind: Kind) -> _T:
        """Ask what is served; where that had no answer, a person does not wait for it again for a while."""
        if kind == "query" and time.monotonic() < self._rests_until:
            raise EmbeddingError(
                f"{self.name} did not answer a moment ago: {self._rests_for}", kind="unavailable"
            )
        try:
            return self._ask(path, None, read, kind, _TELL_TIMEOUT)
        except LaterError as later:
            self._rests_until = time.monotonic() + _REST
            self._rests_for = str(later).removeprefix(self.name).lstrip(": ")
            raise

    def _identify(self, kind: Kind) -> Served:
        if self._served is None:
            served = self._ask_served(kind)
            if not served.is_sound():
                raise ShutOutError(f"{self.name}: what it says that it serves is no model; check base_url")
            self._served = served
        return self._served

    @property
    def _known(self) -> Served:
        return self._served or Served(self._model)

    @property
    def _facts(self) -> Model:
        return model_facts(self._known.model)

    @property
    def _prefixes(self) -> Prefixes:
        return self._facts.prefixes if self._given_prefixes is None else self._given_prefixes


def _digest(prefixes: Prefixes) -> str:
    return hashlib.sha256("\0".join(prefixes).encode()).hexdigest()[:12]
