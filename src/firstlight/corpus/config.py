"""`firstlight.toml`: what is indexed, and how. Unknown keys are errors, with a suggestion.

The user's own configuration gives defaults, the folder's overrides them, an argument overrides both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from firstlight.corpus.places import CONFIG_NAME, user_config_file
from firstlight.corpus.settings import PERSONAL, SETTINGS, Source, parse_settings
from firstlight.corpus.trust import is_trusted
from firstlight.errors import ConfigError

# What a folder may only name once it is trusted, and what would do nothing yet.
_NEEDS_TRUST = ("embedder", "store", "alerts")
_NOT_YET = ("embedder", "store", "schema", "horizons", "alerts", "lexical.fts5")
# What these say where they ask for nothing.
_NEUTRAL = {"embedder": "none", "store": "sqlite", "lexical.fts5": False}


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force; None and empty mean the built-in default.

    Attributes:
        sources: Folders and files below the root; everything by default.
        include: Patterns, of which a file must match one.
        exclude: Rules in the syntax of `.gitignore`, which have the last word.
        extensions: What documents end in.
        max_file_size: In bytes.
        encoding: What all files are in, where they are neither UTF-8 nor marked by a BOM.
        language: An ISO 639-1 code, or `auto`.
        state: The folder that holds the index.
        min_tokens: The smallest chunk, in estimated tokens; `max_tokens` the largest.
        overlap: Which share of a chunk the next one repeats.
        k1: How slowly a term's frequency saturates; `b` is how much a chunk's length counts.
    """

    sources: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    max_file_size: int | None = None
    encoding: str | None = None
    language: str = "auto"
    state: str | None = None
    min_tokens: int = 400
    max_tokens: int = 800
    overlap: float = 0.12
    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        if self.min_tokens > self.max_tokens:
            raise ConfigError(
                f"{self.min_tokens} is above max_tokens = {self.max_tokens}; lower it",
                key="chunks.min_tokens",
            )

    @property
    def sizes(self) -> dict[str, Any]:
        """The chunker's options."""
        return {"min_tokens": self.min_tokens, "max_tokens": self.max_tokens, "overlap": self.overlap}


def load_config(
    root: str, given: str | Path | Mapping[str, Any] | None = None, *, language: str | None = None
) -> tuple[Config, tuple[str, ...]]:
    """Return the settings for the content folder `root`, and what a person should hear about them.

    Args:
        root: The content folder, its real path.
        given: What replaces its `firstlight.toml`: a path, or the settings themselves.
        language: Overrides the language.
    """
    user = _user_settings()
    own, warnings = _given_settings(given) if given is not None else _folder_settings(root)
    chosen = {**user, **own} | ({"language": SETTINGS["language"].read(language)} if language else {})
    warnings += [f"'{key}' is not supported yet, and ignored" for key in _NOT_YET if _asks(chosen, key)]
    known = {field.name for field in fields(Config)}
    return replace(Config(), **{key: value for key, value in chosen.items() if key in known}), tuple(warnings)


def _user_settings() -> dict[str, Any]:
    file = user_config_file()
    source = _read(file)
    if source is None:
        return {}
    settings = parse_settings(source)
    for key in settings:
        if key not in PERSONAL:
            raise ConfigError(
                f"belongs into a folder's {CONFIG_NAME}", path=str(file), line=source.line(key), key=key
            )
    return settings


def _given_settings(given: str | Path | Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    if isinstance(given, Mapping):
        return parse_settings(Source(given)), []
    source = _read(Path(given))
    if source is None:
        raise ConfigError("there is no such file", path=str(given))
    return parse_settings(source), []


def _folder_settings(root: str) -> tuple[dict[str, Any], list[str]]:
    source = _read(Path(root) / CONFIG_NAME)
    if source is None:
        return {}, []
    settings = parse_settings(source)
    asked = [key for key in _NEEDS_TRUST if _asks(settings, key)]
    if _leaves(root, settings.get("state")):
        asked.append("state")
    if not asked or is_trusted(root):
        return settings, []
    warning = (
        f"{source.path}: {', '.join(asked)}: no effect, since this folder is not trusted; "
        f"read the file, then run `firstlight trust {root}`"
    )
    return {key: value for key, value in settings.items() if key not in asked}, [warning]


def _asks(settings: Mapping[str, Any], key: str) -> bool:
    return key in settings and settings[key] != _NEUTRAL.get(key)


def _leaves(root: str, state: str | None) -> bool:
    """Whether a state folder lies outside the content folder, where a file may not send it unasked."""
    if state is None:
        return False
    real = os.path.realpath(Path(root) / Path(state).expanduser())
    return real != root and not real.startswith(f"{root.rstrip('/')}/")


def _read(file: Path) -> Source | None:
    try:
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(file)) from error
    import tomllib  # noqa: PLC0415  # slow to import, and most folders have no configuration

    try:
        text = data.decode("utf-8-sig")
        return Source(tomllib.loads(text), path=str(file), text=text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError("is not UTF-8", path=str(file), line=line) from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        raise ConfigError(f"is not TOML: {error}", path=str(file), line=int(at[1]) if at else None) from error
