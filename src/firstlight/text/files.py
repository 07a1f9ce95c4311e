"""Which files of a folder are documents: one quick walk, and a reason for whatever it passes over."""

from __future__ import annotations

import os
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError
from firstlight.text.folders import Finder
from firstlight.text.gitignore import parse_rules
from firstlight.text.read import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from firstlight.text.entries import FileEntry, Skipped

__all__ = ["DEFAULT_EXTENSIONS", "Walk", "walk"]

DEFAULT_EXTENSIONS = frozenset({".md", ".markdown", ".mdx", ".txt"})


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, each list sorted by path.

    Attributes:
        files: The documents.
        skipped: What looked like a document, or a folder of them, and is none by rule.
        errors: What could not be read: what lies there is unknown, not gone.
        other: How many files each other extension has, in lower case; `""` counts those without one.
    """

    files: list[FileEntry]
    skipped: list[Skipped]
    errors: list[Skipped]
    other: dict[str, int]


def walk(
    root: str | Path,
    *,
    extensions: Collection[str] = DEFAULT_EXTENSIONS,
    max_bytes: int = MAX_BYTES,
    exclude: Sequence[str] = (),
) -> Walk:
    """Find the documents below `root`.

    Hidden files and folders, vendor folders, what `.gitignore` files ignore (those of the enclosing
    repository too) and files over `max_bytes` are skipped. Links are followed inside the root only, each file
    once: under its own name if that is walked, else under the link that sorts first.

    Args:
        root: The folder.
        extensions: What documents end in, in any case, with or without the dot.
        max_bytes: The size cap of one file.
        exclude: More rules in the syntax of `.gitignore`; they have the last word, so that `!name` takes in
            what would be skipped.

    Raises:
        DocumentError: The root is no folder, or cannot be read; an empty walk would look like a deletion.
    """
    top = os.path.realpath(root)
    if not os.path.isdir(top):  # noqa: PTH112 - paths are strings here, for speed
        raise DocumentError("there is no such folder", path=str(root))
    wanted = frozenset(f".{extension.lower().removeprefix('.')}" for extension in extensions)
    finder = Finder(top, wanted, max_bytes, parse_rules(exclude))
    finder.run()
    for error in finder.errors:
        if error.path == ".":
            raise DocumentError(error.reason, path=str(root))
    return Walk(
        sorted(finder.files, key=_path),
        sorted(finder.skipped, key=_path),
        sorted(finder.errors, key=_path),
        dict(sorted(finder.other.items())),
    )


_path = attrgetter("path")
