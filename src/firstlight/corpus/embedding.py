"""Which embedder a corpus has, with what belongs to it: the vector cache, and questions' own vectors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from firstlight.corpus.places import VECTOR_CACHE_NAME, state_root
from firstlight.embed.installed import local_is_installed
from firstlight.embed.spec import Access, Spec, make_embedder, parse_spec
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from firstlight.corpus.config import Config
    from firstlight.embed.cache import VectorCache
    from firstlight.embed.question import QuestionEmbedder
    from firstlight.embed.types import Embedder
    from firstlight.store.embedders import EmbedderRow

VARIABLE = "FIRSTLIGHT_EMBEDDER"


class Embedding(NamedTuple):
    """An embedder in use.

    Attributes:
        spec: What names it, in settings and on the command line.
        embedder: The model; loaded, or asked, on first use.
        cache: The user's vector cache.
        question: What embeds questions, within a time.
        is_remote: Whether texts leave the machine's own process: they cost, and count against a budget.
        given: What `open_embedding` makes it of: the spec, or the object.
    """

    spec: str
    embedder: Embedder
    cache: VectorCache
    question: QuestionEmbedder
    is_remote: bool
    given: str | Embedder

    def close(self) -> None:
        """Let go of the cache, and of the embedder where it was made here; what was given is its owner's."""
        self.cache.close()
        close = getattr(self.embedder, "close", None)
        if close is not None and isinstance(self.given, str):
            close()

    def fingerprint(self) -> str:
        """Return what makes the embedder's vectors comparable, fit to be stored.

        Raises:
            ConfigError: It is no such thing.
            EmbeddingError: The provider cannot be asked for it.
        """
        from firstlight.embed.described import is_text  # noqa: PLC0415  # a search by words needs it not

        found = self.embedder.fingerprint
        if not is_text(found):
            raise ConfigError(f"the fingerprint of {self.embedder.name} has to be a text", key="embedder")
        return found

    def made(self, recorded: EmbedderRow) -> bool:
        """Whether the vectors of the index are this embedder's.

        A provider that is down cannot say which revision it serves; it is taken for the one of its name.
        """
        try:
            return recorded.fingerprint == self.embedder.fingerprint
        except EmbeddingError:
            return recorded.spec == self.spec

    def check_recorded(self, recorded: EmbedderRow | None) -> None:
        """Refuse vectors of another model than this one.

        Raises:
            ConfigError: The index has another embedder's vectors; the message says how to change to this one.
        """
        if recorded is not None and not self.made(recorded):
            raise ConfigError(
                f"the index has vectors of {recorded.name} ('{recorded.spec}'), which say nothing beside "
                f"those of {self.embedder.name}: `firstlight migrate --to {self.spec}` makes them anew, "
                f'while the old ones serve; or set embedder = "{recorded.spec}"; --mode bm25 needs neither',
                key="embedder",
            )


def open_embedding(given: str | Embedder | None, config: Config, *, threads: int = 1) -> Embedding | None:
    """Return the embedder that is given, else the environment's, else the settings', else the local one.

    Args:
        given: A spec, an object, or None.
        config: The settings in force.
        threads: How many threads a local model may use.

    Raises:
        ConfigError: What is named cannot be had.
    """
    if given is not None and not isinstance(given, str):
        return _given_object(given, config)
    spec = _named(given or os.environ.get(VARIABLE) or config.embedder)
    embedder = None if spec is None else embedder_of(spec, config, threads=threads)
    if spec is None or embedder is None:
        return None
    timeout = config.query_timeout if spec.is_remote else None
    return _with_places(
        str(spec), embedder, config, is_remote=spec.is_remote, given=str(spec), timeout=timeout
    )


def spec_of(text: str) -> Spec:
    """Take an embedder's name apart; a ConfigError says what a name looks like."""
    try:
        return parse_spec(text)
    except ValueError as error:
        raise ConfigError(str(error), key="embedder") from None


def embedder_of(spec: Spec, config: Config | None = None, *, threads: int = 1) -> Embedder | None:
    """Return the embedder of a name, with what the user allows; None for `none`.

    Args:
        spec: Its name.
        config: The settings in force; without, the environment alone says what is allowed.
        threads: How many threads a local model may use.

    Raises:
        ConfigError: It cannot be had.
    """
    allowed = os.environ.get("FIRSTLIGHT_ALLOW_DOWNLOADS") == "1"
    urls = {}
    if config is not None:
        allowed, urls = allowed or config.allow_downloads, config.base_urls
    return make_embedder(spec, Access(urls, allowed, state_root() / "models"), threads=threads)


def is_named(given: str | Embedder | None, config: Config) -> bool:
    """Tell whether there is an embedder; nothing of it is opened."""
    if given is not None and not isinstance(given, str):
        return True
    spec = _named(given or os.environ.get(VARIABLE) or config.embedder)
    return spec is not None and spec.kind != "none"


def _named(spec: str | None) -> Spec | None:
    if spec is None:
        return Spec("local", "") if local_is_installed() else None
    return spec_of(spec)


def _given_object(given: Embedder, config: Config) -> Embedding:
    """Return an object with its places; nobody knows what it does, and waits for it without end."""
    from firstlight.embed.described import check_described  # noqa: PLC0415
    from firstlight.embed.onnx import OnnxEmbedder  # noqa: PLC0415  # who gives an object has loaded more
    from firstlight.embed.remote import RemoteEmbedder  # noqa: PLC0415

    check_described(given)
    timeout = None if isinstance(given, OnnxEmbedder) else config.query_timeout
    is_remote = isinstance(given, RemoteEmbedder)
    return _with_places(given.name, given, config, is_remote=is_remote, given=given, timeout=timeout)


def _with_places(
    spec: str,
    embedder: Embedder,
    config: Config,
    *,
    is_remote: bool,
    given: str | Embedder,
    timeout: float | None,
) -> Embedding:
    from firstlight.embed.cache import VectorCache  # noqa: PLC0415  # a search by words alone needs neither
    from firstlight.embed.question import QuestionEmbedder  # noqa: PLC0415

    cache = VectorCache(state_root() / VECTOR_CACHE_NAME, max_bytes=config.cache_bytes)
    question = QuestionEmbedder(embedder, cache=cache, timeout=timeout)
    return Embedding(spec, embedder, cache, question, is_remote, given)
