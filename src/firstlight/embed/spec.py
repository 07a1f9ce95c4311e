"""An embedder by its name: `local`, `none`, `openai:MODEL`, `ollama:MODEL`, `tei:`, `hf:ORG/NAME@REV`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from firstlight.embed.types import Embedder

KINDS = ("local", "none", "openai", "ollama", "tei", "hf")
REMOTE = frozenset({"openai", "ollama", "tei"})
# Where each provider is asked, unless the user names another place; TEI has none of its own.
_BASE_URLS = {"openai": "https://api.openai.com/v1", "ollama": "http://127.0.0.1:11434"}
_URL_VARIABLES = {"openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_HOST", "tei": "TEI_BASE_URL"}
_HINT = "say 'local', 'none', 'openai:MODEL', 'ollama:MODEL', 'tei:' or 'hf:ORG/NAME@REVISION'"


class Spec(NamedTuple):
    """An embedder's name, taken apart."""

    kind: str
    model: str

    @property
    def is_remote(self) -> bool:
        """Whether texts leave the process."""
        return self.kind in REMOTE

    def __str__(self) -> str:
        return f"{self.kind}:{self.model}" if self.model or self.kind == "tei" else self.kind


class Access(NamedTuple):
    """What the user allows and has, outside of any content folder.

    Attributes:
        base_urls: Where a provider is asked, by its kind; the environment comes before it.
        allow_downloads: Whether models may be fetched from the hub.
        models: The folder that keeps them.
    """

    base_urls: Mapping[str, str]
    allow_downloads: bool
    models: Path


def parse_spec(text: str) -> Spec:
    """Take a name apart; a ValueError says what a name looks like.

    Example:
        >>> parse_spec("ollama:nomic-embed-text:v1.5")
        Spec(kind='ollama', model='nomic-embed-text:v1.5')
    """
    kind, colon, model = text.strip().partition(":")
    if kind not in KINDS:
        raise ValueError(f"{text!r:.80} names no embedder; {_HINT}")
    if kind in ("local", "none"):
        if colon:
            raise ValueError(f"'{kind}' takes no model; {_HINT}")
    elif kind != "tei" and not model.strip():
        raise ValueError(f"'{kind}:' lacks its model; {_HINT}")
    return Spec(kind, model.strip())


def make_embedder(spec: Spec, access: Access, *, threads: int = 1) -> Embedder | None:
    """Return the embedder; nothing is loaded or asked before its first use. None for `none`.

    Raises:
        ConfigError: It needs an extra, a base URL or a permission that is missing; the message says which.
    """
    if spec.kind == "none":
        return None
    if spec.kind == "local":
        from firstlight.embed.local import LocalEmbedder  # noqa: PLC0415  # when asked for

        return LocalEmbedder(threads=threads)
    if spec.kind == "hf":
        from firstlight.embed.hub import hub_embedder  # noqa: PLC0415

        return hub_embedder(
            spec.model, folder=access.models, allow_downloads=access.allow_downloads, threads=threads
        )
    return _remote(spec, access)


def _remote(spec: Spec, access: Access) -> Embedder:
    variable = _URL_VARIABLES[spec.kind]
    url = os.environ.get(variable) or access.base_urls.get(spec.kind) or _BASE_URLS.get(spec.kind)
    if not url:
        raise ConfigError(
            f"'{spec}' needs to know where its server is: set {variable}, or base_url under [{spec.kind}] in "
            "your own configuration",
            key="embedder",
        )
    if "://" not in url:  # as Ollama itself reads its OLLAMA_HOST
        url = f"http://{url}" if ":" in url else f"http://{url}:11434"
    from firstlight.embed.limits import PROVIDERS  # noqa: PLC0415

    key = os.environ.get(PROVIDERS[spec.kind].key_variable) or None
    if spec.kind == "openai":
        from firstlight.embed.openai import OpenAIEmbedder  # noqa: PLC0415

        return OpenAIEmbedder(spec.model, base_url=url, key=key)
    if spec.kind == "ollama":
        from firstlight.embed.ollama import OllamaEmbedder  # noqa: PLC0415

        return OllamaEmbedder(spec.model, base_url=url, key=key)
    from firstlight.embed.tei import TeiEmbedder  # noqa: PLC0415

    return TeiEmbedder(spec.model, base_url=url, key=key)
