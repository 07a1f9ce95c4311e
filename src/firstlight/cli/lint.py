"""`firstlight lint`: which files cannot be indexed and why, and whether chunks keep what is promised."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from firstlight.cli.options import as_json, print_json
from firstlight.cli.terminal import count, printable, show, talk
from firstlight.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from firstlight.corpus.config import Config
    from firstlight.text import Document, Skipped

__all__ = ["command"]

_SKIPPED_TOLD = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong: a `document` that cannot be indexed, or a `chunk` that is firstlight's own fault."""

    path: str
    line: int | None
    what: str
    reason: str


@dataclass(slots=True)
class Review:
    """What was looked at, and what was found."""

    files: int = 0
    chunks: int = 0
    findings: list[Finding] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the review in its JSON shape."""
        return asdict(self)


@click.command("lint")
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@as_json
def command(*, paths: tuple[Path, ...], as_json: bool) -> int:
    """Check that documents can be indexed.

    PATH is a file or a folder. What cannot be indexed is named, and why. Chunks have to be exact slices of
    their document, leave nothing out, keep to their size, and never be cut inside code or a table. Nothing
    is written. Exits with 1 if there are findings.

    \b
    Examples:
      firstlight lint docs
      firstlight lint README.md docs/intro.md --json
    """  # noqa: D301  # click reads \b as "do not wrap"
    review = Review()
    for path in paths:
        _review_path(path, review)
    if as_json:
        print_json(review.to_dict())
    else:
        _print(review)
    return 1 if review.findings else 0


def _review_path(path: Path, review: Review) -> None:
    from firstlight.corpus.config import load_config

    if not path.is_dir():
        folder = path.parent
        config, _ = load_config(os.path.realpath(folder))
        _review_files(folder, [path.name], config, review)
        return
    from firstlight.corpus.scan import scan

    root = os.path.realpath(path)
    config, _ = load_config(root)
    found = scan(root, config)
    review.skipped += [_passed_over(path, skipped) for skipped in found.skipped]
    review.findings += [
        Finding(_shown(path, error.path), None, "document", error.reason) for error in found.errors
    ]
    _review_files(path, (entry.path for entry in found.files), config, review)


def _review_files(folder: Path, names: Iterable[str], config: Config, review: Review) -> None:
    from firstlight.text import read_document

    for name in names:
        review.files += 1
        try:
            document = read_document(folder, name, encoding=config.encoding, max_bytes=config.max_file_size)
        except DocumentError as error:
            review.findings.append(Finding(_shown(folder, name), error.line, "document", error.reason))
            continue
        review.findings += _chunk_findings(folder, document, config, review)


def _chunk_findings(folder: Path, document: Document, config: Config, review: Review) -> Iterator[Finding]:
    from firstlight.cli.invariants import broken_invariants, whole_blocks
    from firstlight.text import chunk_document

    chunks = chunk_document(document, **config.sizes)
    review.chunks += len(chunks)
    whole = [] if document.path.lower().endswith(".txt") else whole_blocks(document)
    for line, reason in broken_invariants(document, whole, chunks, max_tokens=config.max_tokens):
        yield Finding(_shown(folder, document.path), line, "chunk", reason)


def _passed_over(folder: Path, skipped: Skipped) -> dict[str, str]:
    return {"path": _shown(folder, skipped.path), "reason": skipped.reason}


def _shown(folder: Path, path: str) -> str:
    return os.path.normpath(folder / path)


def _print(review: Review) -> None:
    for finding in review.findings:
        line = f":{finding.line}" if finding.line is not None else ""
        reason = finding.reason if finding.what == "document" else f"{finding.reason}; please report it"
        show(printable(f"{finding.path}{line}: {reason}"))
    for skipped in review.skipped[:_SKIPPED_TOLD]:
        talk(f"passed over: {skipped['path']}: {skipped['reason']}")
    if len(review.skipped) > _SKIPPED_TOLD:
        talk(f"passed over: {len(review.skipped) - _SKIPPED_TOLD:,} more; --json has all")
    looked = f"{count(review.files, 'file')}, {count(review.chunks, 'chunk')}"
    talk(f"{looked}: {count(len(review.findings), 'finding') if review.findings else 'no findings'}")
