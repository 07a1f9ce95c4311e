"""`firstlight.toml`: what is indexed, and how.

The user's own configuration gives defaults, the folder's overrides them, an argument overrides both.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.corpus.places import CONFIG_NAME, user_config_file
from firstlight.errors import ConfigError
from firstlight.text.read import MAX_BYTES
from firstlight.text.tokens import MAX_TOKENS, MIN_TOKENS, OVERLAP

if TYPE_CHECKING:
    from collections.abc import Mapping


class Config(NamedTuple):
    """The settings in force.

    Attributes:
        sources: Folders and files below the root; everything by default.
        include: Patterns, of which a file must match one; none by default.
        exclude: Rules in the syntax of `.gitignore`, which have the last word.
        extensions: What documents end in; `DEFAULT_EXTENSIONS` by default.
        max_file_size: In bytes.
        encoding: What all files are in; by default, what a BOM says, else UTF-8.
        language: An ISO 639-1 code, or `auto`.
        state: The folder that holds the index; by default, one in the user's data folder.
        min_tokens: The smallest chunk, in estimated tokens; `max_tokens` the largest.
        overlap: Which share of a chunk the next one repeats.
        k1: How slowly a term's frequency saturates; `b` is how much a chunk's length counts.
        embedder: What the settings name, `local` for one; None where they name none.
        weight: The share of the cosine in a hybrid score; None for the default.
        query_timeout: For how many seconds a question waits for a remote embedder.
        token_budget: How many estimated tokens of documents a remote embedder may be sent for this folder.
        allow_downloads: Whether models may be fetched from the hub.
        cache_bytes: How large the vector cache may grow.
        openai_url: Where that provider is asked; `ollama_url` and `tei_url` likewise.
        fts5: Whether to keep an FTS5 table of the chunks too, for other SQLite clients.
        places: The file and line that set a key, where it may turn out to be wrong later.
    """

    sources: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    max_file_size: int = MAX_BYTES
    encoding: str | None = None
    language: str = "auto"
    state: str | None = None
    min_tokens: int = MIN_TOKENS
    max_tokens: int = MAX_TOKENS
    overlap: float = OVERLAP
    k1: float = 1.2
    b: float = 0.75
    embedder: str | None = None
    weight: float | None = None
    query_timeout: float = 1.5
    token_budget: int = 10_000_000
    allow_downloads: bool = False
    cache_bytes: int = 1_000_000_000
    openai_url: str | None = None
    ollama_url: str | None = None
    tei_url: str | None = None
    fts5: bool = False
    places: Mapping[str, tuple[str | None, int | None]] = MappingProxyType({})

    @property
    def base_urls(self) -> dict[str, str]:
        """Where providers are asked, as far as the user named a place."""
        named = {"openai": self.openai_url, "ollama": self.ollama_url, "tei": self.tei_url}
        return {kind: url for kind, url in named.items() if url}

    @property
    def sizes(self) -> dict[str, Any]:
        """The chunker's options."""
        return {"min_tokens": self.min_tokens, "max_tokens": self.max_tokens, "overlap": self.overlap}

    def wrong(self, key: str, reason: str) -> ConfigError:
        """Return the error that `key` is wrong, with its place."""
        path, line = self.places.get(key, (None, None))
        return ConfigError(reason, path=path, line=line, key=key)


def load_config(
    root: str, given: str | Path | Mapping[str, Any] | None = None, *, language: str | None = None
) -> tuple[Config, tuple[str, ...]]:
    """Return the settings for the content folder `root`, and what a person should hear about them.

    Args:
        root: The content folder, its real path.
        given: What replaces its `firstlight.toml`: a path, or the settings themselves.
        language: Overrides the language.

    Raises:
        ConfigError: A setting is wrong, or unknown; the message says where, and what is meant perhaps.
    """
    files = (Path(root) / CONFIG_NAME, user_config_file())
    if given is None and language is None and not any(file.exists() for file in files):
        return Config(), ()
    from firstlight.corpus.config_files import read_settings  # noqa: PLC0415  # most folders have none

    settings, warnings = read_settings(root, given, language=language)
    config = Config(**settings)
    if config.min_tokens > config.max_tokens:
        if "chunks.min_tokens" in config.places:
            reason = f"{config.min_tokens} is above max_tokens = {config.max_tokens}; lower it"
            raise config.wrong("chunks.min_tokens", reason)
        reason = f"{config.max_tokens} is below min_tokens = {config.min_tokens}; set that too"
        raise config.wrong("chunks.max_tokens", reason)
    return config, tuple(warnings)
