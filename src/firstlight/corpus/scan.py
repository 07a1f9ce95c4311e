"""The walk over a content folder, narrowed to what its settings name."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.text.files import DEFAULT_EXTENSIONS, walk
from firstlight.text.gitignore import parse_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.corpus.site import Site
    from firstlight.text.files import Walk
    from firstlight.text.types import FileEntry


def scan(site: Site) -> Walk:
    """Return the documents that lie in the content folder now, and what was passed over."""
    config = site.config
    found = walk(
        site.root,
        extensions=config.extensions or DEFAULT_EXTENSIONS,
        max_bytes=config.max_file_size,
        exclude=[*config.exclude, *_own_folder(site)],
    )
    files = found.files
    if config.sources:
        files = [entry for entry in files if _is_below(entry.path, config.sources)]
    if config.include:
        files = _matching(files, config.include)
    return found if files is found.files else replace(found, files=files)


def _own_folder(site: Site) -> list[str]:
    """The index must not index itself, even before it has marked its folder."""
    root = Path(site.root)
    if root not in site.state.parents:
        return []
    name = site.state.relative_to(root).as_posix()
    return ["/" + "".join(f"\\{c}" if c in "*?[]!#\\ " else c for c in name) + "/"]


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
