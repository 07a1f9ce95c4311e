"""`firstlight status`: what is indexed, where, and what could not be."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from firstlight.cli.corpora import open_corpus
from firstlight.cli.options import as_json, folder, pasteable, print_json, state
from firstlight.cli.terminal import count, duration, printable, show, style_for, talk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from firstlight.corpus.reports import Status

__all__ = ["command"]


@click.command("status")
@folder
@as_json
@state
def command(*, folder: Path, as_json: bool, state: Path | None) -> int:
    """Show what is indexed of DIR, and where.

    Files that could not be indexed are named with the reason.

    \b
    Example:
      firstlight status docs
    """  # noqa: D301  # click reads \b as "do not wrap"
    with open_corpus(folder, state=state) as corpus:
        status = corpus.status()
    if as_json:
        print_json(status.to_dict())
        return 0
    style = style_for(sys.stdout)
    where = pasteable(folder, state)
    for name, value in _rows(status, where):
        show(f"{style.faint(f'{name:<11}')} {printable(value)}")
    for error in status.errors:
        show(f"  {printable(f'{error.path}: {error.reason}')}")
    if status.synced is None:
        so_far = "the first sync is not finished" if status.documents else "nothing is indexed yet"
        talk(f"{so_far}: firstlight sync {where}")
    return 0


def _embedded(status: Status) -> str:
    done = f"{status.embedded:,} of {count(status.chunks, 'chunk')}"
    if not status.embedded:
        return done
    return f"{done}, {status.windows / status.embedded:.2f} windows each"


def _queue(status: Status, where: str) -> str:
    waiting = count(status.queue, "chunk")
    if status.worker is None:
        return f"{waiting}; nobody is embedding: firstlight sync {where} --embed"
    if status.trouble is not None:
        return f"{waiting}; it is tried again"
    if not status.rate:
        return f"{waiting}, being embedded"
    return f"{waiting}, {status.rate:.1f}/s, about {duration(status.queue / status.rate)} left"


def _rows(status: Status, where: str) -> Iterator[tuple[str, str]]:
    yield "folder", status.root
    yield "index", status.state
    yield "synced", status.synced or "never"
    yield "documents", f"{status.documents:,}"
    yield "chunks", f"{status.chunks:,}"
    yield "mode", status.mode
    yield "model", status.model or "none; pip install 'firstlight[local]' adds one"
    if status.model is not None and status.chunks:
        yield "embedded", _embedded(status)
    if status.failed:
        yield "failed", f"{count(status.failed, 'chunk')}"
    if status.foreign:
        yield "foreign", f"{count(status.foreign, 'chunk')} in languages that the model does not know"
    if status.queue and status.model is not None:
        yield "queue", _queue(status, where)
    if status.trouble is not None:
        yield "trouble", status.trouble
    if status.stale:
        yield "stale", f"{status.stale:,}"
    yield "generation", f"{status.generation:,}"
    yield "errors", f"{len(status.errors):,}" if status.errors else "none"
