"""Where the state of a corpus lives, and how its folder is made."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.corpus.places import state_root
from firstlight.errors import ConfigError, StoreError
from firstlight.store.database import explained
from firstlight.store.lock import LOCK_NAME, refuse_links

if TYPE_CHECKING:
    from collections.abc import Iterator

DATABASE_NAME = "corpus.db"

_OURS = (DATABASE_NAME, LOCK_NAME)
_TAG_NAME = "CACHEDIR.TAG"
# https://bford.info/cachedir/: backups and other indexers then pass the folder over.
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder holds an index that firstlight can make again at any time.\n"
)
_MARKS = {".gitignore": "*\n", _TAG_NAME: _TAG}


def state_folder(root: str, named: str | Path | None, *, base: Path) -> Path:
    """Return the folder for the state of the content folder `root`; nothing is written.

    Args:
        root: The content folder, its real path.
        named: What names the very folder; else it lies in the user's data folder, keyed by `root`.
        base: What a relative name is relative to.
    """
    if named is None:
        key = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        return state_root() / f"{_safe(Path(root).name)}-{key}"
    folder = Path(os.path.realpath(base / os.path.expanduser(named)))  # noqa: PTH111  # leaves ~unknown
    if folder == Path(root) or folder in Path(root).parents:
        raise ConfigError(
            f"{folder} holds the documents themselves; name a folder of its own, as in '.firstlight'",
            key="state",
        )
    return folder


def make_state_folder(folder: Path, root: str) -> None:
    """Make the folder, marked as a cache where it lies inside the content folder.

    Raises:
        StoreError: It cannot be made, or it holds something else already.
    """
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        refuse_links(folder)
        names = set(os.listdir(folder))  # noqa: PTH208 - names, not paths
        if names.isdisjoint(_OURS):
            foreign = sorted(names - _MARKS.keys())
            if foreign:
                raise StoreError(f"{folder}: holds other files ('{foreign[0]}'); name an empty folder")
            if Path(root) in folder.parents:
                _mark(folder)


def _mark(folder: Path) -> None:
    for name, text in _MARKS.items():
        (folder / name).write_text(text, encoding="utf-8")


def _safe(name: str) -> str:
    return "".join(_safe_characters(name))[:40] or "folder"


def _safe_characters(name: str) -> Iterator[str]:
    for character in name:
        yield character if character.isascii() and (character.isalnum() or character in "-_.") else "_"
