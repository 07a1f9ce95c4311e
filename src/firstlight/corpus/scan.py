"""The walk over a content folder, narrowed to what its settings name."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.text.files import DEFAULT_EXTENSIONS, walk
from firstlight.text.gitignore import parse_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.corpus.config import Config
    from firstlight.text.entries import FileEntry
    from firstlight.text.files import Walk


def scan(root: str, config: Config, *, state: Path | None = None) -> Walk:
    """Return the documents that lie in a content folder now, and what was passed over.

    Args:
        root: The content folder, its real path.
        config: Its settings.
        state: The folder of its index, which must not index itself, even before it is marked.
    """
    found = walk(
        root,
        extensions=config.extensions or DEFAULT_EXTENSIONS,
        max_bytes=config.max_file_size,
        exclude=[*config.exclude, *_own_folder(root, state)],
    )
    files = found.files
    if config.sources:
        _check_sources(root, config)
        files = [entry for entry in files if _is_below(entry.path, config.sources)]
    if config.include:
        files = _matching(files, config.include)
    return found if files is found.files else replace(found, files=files)


def _own_folder(root: str, state: Path | None) -> list[str]:
    if state is None or Path(root) not in state.parents:
        return []
    name = state.relative_to(root).as_posix()
    return ["/" + "".join(f"\\{c}" if c in "*?[]!#\\ " else c for c in name) + "/"]


def _check_sources(root: str, config: Config) -> None:
    """Refuse a source that is not there: a misspelt one would empty the index without a word."""
    for source in config.sources:
        if not os.path.exists(f"{root}/{source}"):  # noqa: PTH110  # a string, and on the way of every search
            raise config.wrong("sources", f"there is no '{source:.60}' in this folder; correct or remove it")


def _is_below(path: str, sources: Sequence[str]) -> bool:
    return any(path == source or path.startswith(f"{source}/") for source in sources)


def _matching(files: Sequence[FileEntry], patterns: Sequence[str]) -> list[FileEntry]:
    """Return the files of which the last pattern that speaks of them, or of a folder of theirs, says yes."""
    wanted = parse_rules(patterns)
    if wanted is None:
        return []
    of_folder = cache(partial(wanted.decide, folder=True))

    def is_wanted(path: str) -> bool:
        verdict = wanted.decide(path)
        while verdict is None and "/" in path:
            path = path.rpartition("/")[0]
            verdict = of_folder(path)
        return verdict is True

    return [entry for entry in files if is_wanted(entry.path)]
