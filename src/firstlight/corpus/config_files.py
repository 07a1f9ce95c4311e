"""The files that settings come from, and which of a folder's own may take effect."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firstlight.corpus.places import CONFIG_NAME, read_small, user_config_file
from firstlight.corpus.settings import PERSONAL, SETTINGS, USERS_OWN, Source, parse_settings
from firstlight.corpus.trust import is_trusted
from firstlight.errors import ConfigError

# What a folder may only name once it is trusted, and what would do nothing yet.
_NEEDS_TRUST = ("embedder", "store", "alerts", "token_budget")
_NOT_YET = ("store", "schema", "horizons", "alerts")
# What these say where nothing leaves the machine, nor is fetched.
_NEUTRAL = {"embedder": ("none", "local"), "store": ("sqlite",)}


def read_settings(
    root: str, given: str | Path | Mapping[str, Any] | None, *, language: str | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that take effect, by name, and what a person should hear; see `load_config`."""
    own, warnings = _given_settings(given) if given is not None else _folder_settings(root)
    given_language = {} if language is None else parse_settings(Source({"language": language}))
    layers = (_user_settings(), own, given_language)
    chosen = {key: value for layer in layers for key, value in layer.items()}
    chosen["places"] = {key: place for layer in layers for key, place in layer.get("places", {}).items()}
    warnings += [f"'{key}' is not supported yet, and ignored" for key in _NOT_YET if _asks(chosen, key)]
    return {key: value for key, value in chosen.items() if key not in _NOT_YET}, warnings


def _user_settings() -> dict[str, Any]:
    file = user_config_file()
    source = _read(file)
    if source is None:
        return {}
    settings = parse_settings(source)
    for key in settings:
        if key not in PERSONAL and key != "places":
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
    _refuse_users_own(source, settings)
    asked = [key for key in _NEEDS_TRUST if _asks(settings, key)]
    if _leaves(root, settings.get("state")):
        asked.append("state")
    if not asked or is_trusted(root, content=source.data):
        return settings, []
    warning = (
        f"{source.path}: {', '.join(asked)}: no effect, since this folder is not trusted; "
        f"read the file, then run `firstlight trust {root}`"
    )
    return {key: value for key, value in settings.items() if key not in asked}, [warning]


def _refuse_users_own(source: Source, settings: Mapping[str, Any]) -> None:
    for key, setting in SETTINGS.items():
        if setting.name in USERS_OWN and setting.name in settings:
            reason = f"belongs into your own configuration, {user_config_file()}: no folder decides it"
            raise ConfigError(reason, path=source.path, line=source.line(key), key=key)


def _asks(settings: Mapping[str, Any], key: str) -> bool:
    return key in settings and settings[key] not in _NEUTRAL.get(key, ())


def _leaves(root: str, state: str | None) -> bool:
    """Whether a state folder lies outside the content folder, where a file may not send it unasked."""
    if state is None:
        return False
    real = os.path.realpath(Path(root) / os.path.expanduser(state))  # noqa: PTH111  # leaves an unknown ~user
    return real != root and not real.startswith(f"{root.rstrip('/')}/")


def _read(file: Path) -> Source | None:
    try:
        data = read_small(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(file)) from error
    try:
        text = data.decode("utf-8-sig")
        return Source(tomllib.loads(text), path=str(file), data=data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError("is not UTF-8", path=str(file), line=line) from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        raise ConfigError(f"is not TOML: {error}", path=str(file), line=int(at[1]) if at else None) from error
    except RecursionError as error:
        raise ConfigError("is nested too deep", path=str(file)) from error
    except ValueError as error:  # a number of thousands of digits
        raise ConfigError(f"has a value that cannot be read: {error}", path=str(file)) from error
