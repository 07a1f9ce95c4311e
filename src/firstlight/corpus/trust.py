"""Which folders' `firstlight.toml` may name endpoints, providers and stores: the ones that the user trusted.

As direnv does it, trust is given to a folder's real path and to the bytes of its configuration: a changed
file needs trust again, so that a pull cannot redirect a key.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.corpus.places import CONFIG_NAME, read_small, user_config_file
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping


def trust(folder: str | Path) -> str:
    """Record that `folder`'s `firstlight.toml`, as it is now, is trusted; return the folder's real path."""
    root = os.path.realpath(folder)
    digest = _digest(root)
    if digest is None:
        raise ConfigError(
            f"there is no {CONFIG_NAME} to trust; without one, nothing of a folder needs trust", path=root
        )
    _record(_trusted() | {root: digest})
    return root


def revoke(folder: str | Path) -> str:
    """Take back the trust in `folder`, if there is any; return the folder's real path."""
    root = os.path.realpath(folder)
    trusted = _trusted()
    if trusted.pop(root, None) is not None:
        _record(trusted)
    return root


def is_trusted(folder: str | Path, *, content: bytes | None = None) -> bool:
    """Whether the user trusted `folder`'s `firstlight.toml`; True where it has none.

    Args:
        folder: The content folder.
        content: The file's bytes as they were read; by default, as they are now.
    """
    root = os.path.realpath(folder)
    digest = _digest(root) if content is None else hashlib.sha256(content).hexdigest()
    return digest is None or _trusted().get(root) == digest


def _digest(root: str) -> str | None:
    try:
        return hashlib.sha256(read_small(Path(root) / CONFIG_NAME)).hexdigest()
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise ConfigError(f"{reason}: check the path", path=str(Path(root) / CONFIG_NAME)) from error


def _file() -> Path:
    return user_config_file().with_name("trusted.json")


def _trusted() -> dict[str, str]:
    try:
        held = json.loads(read_small(_file()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            "cannot be read; delete it and trust the folders again", path=str(_file())
        ) from error
    return {str(root): str(digest) for root, digest in held.items()} if isinstance(held, dict) else {}


def _record(trusted: Mapping[str, str]) -> None:
    file = _file()
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(trusted, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        fresh.replace(file)
    except OSError as error:
        raise ConfigError(f"trust cannot be recorded: {error.strerror}", path=str(file)) from error
