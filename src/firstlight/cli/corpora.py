"""Open a corpus and bring it up to date, as every command that works on one does."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from firstlight.cli.terminal import count, duration, is_terminal, printable, talk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from firstlight.corpus import Corpus
    from firstlight.corpus.types import FileError, SyncReport

__all__ = ["bring_up_to_date", "open_corpus", "summary", "tell_errors", "why_empty"]

# More than this many lines about single files push the answer off the screen.
_ERRORS_TOLD = 10


def open_corpus(folder: Path, *, state: Path | None) -> Corpus:
    """Open the corpus, and tell what a person should hear about its settings."""
    from firstlight.corpus import Corpus

    corpus = Corpus.open(folder, state=state, background=False)
    for warning in corpus.warnings:
        talk(f"warning: {warning}")
    return corpus


def bring_up_to_date(
    corpus: Corpus, *, assume_yes: bool, rebuild: bool = False, embed: bool = False, wait: float = 10.0
) -> SyncReport:
    """Sync, drawing progress where it takes long; a person is asked before a very large folder is indexed.

    Args:
        corpus: The corpus.
        assume_yes: Do not ask.
        rebuild: Make everything anew.
        embed: Also embed what lacks a vector.
        wait: For how many seconds another process' sync is waited for.
    """
    from firstlight.cli.progress import Drawing

    def confirm(files: int) -> bool:
        draw.hush()
        return assume_yes or _ask(corpus.root, files)

    with Drawing() as draw:
        return corpus.sync(progress=draw, rebuild=rebuild, embed=embed, confirm=confirm, wait=wait)


def _ask(root: Path, files: int) -> bool:
    question = f"{printable(str(root))} has {count(files, 'file')} to index."
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise click.UsageError(f"{question} If that is the folder you mean, add --yes.")
    if not click.confirm(f"{question} Go on?", err=True):
        raise click.UsageError("nothing was indexed; --no-sync searches what is indexed already")
    return True


def summary(report: SyncReport) -> str:
    """Say in one line what a sync did, or nothing where it had nothing to do."""
    done = tally(
        (report.added, "added"),
        (report.changed, "changed"),
        (report.renamed, "renamed"),
        (report.deleted, "deleted"),
    )
    if not done:
        return ""
    chunks = f" ({count(report.chunks, 'chunk')} indexed)" if report.chunks else ""
    return f"{done}{chunks} in {duration(report.seconds)}"


def tally(*counted: tuple[int, str]) -> str:
    """Say how much there is of each, and nothing of what there is none of."""
    return ", ".join(f"{number:,} {what}" for number, what in counted if number)


def tell_errors(errors: Sequence[FileError], *, folder: Path, most: int = _ERRORS_TOLD) -> None:
    """Name on stderr the files that could not be indexed, at most the first `most`."""
    for error in errors[:most]:
        talk(f"not indexed: {os.path.normpath(folder / error.path)}: {error.reason}")
    if len(errors) > most:
        talk(f"and {len(errors) - most:,} more: firstlight status {folder}")


def why_empty(corpus: Corpus) -> str:
    """Say why there is nothing in an index that is up to date."""
    from firstlight.text import DEFAULT_EXTENSIONS

    *most, last = sorted(DEFAULT_EXTENSIONS)
    kinds = f"{', '.join(most)} and {last}"
    return f"{corpus.root} has no documents: {kinds} files, unless its firstlight.toml says otherwise"
