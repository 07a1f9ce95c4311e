"""Goes on embedding after the command has answered: a process of its own, which nobody waits for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from firstlight.cli.terminal import count, is_terminal, talk

if TYPE_CHECKING:
    from firstlight.corpus import Corpus

__all__ = ["embed_behind"]


def embed_behind(corpus: Corpus, where: str) -> None:
    """Start a worker where a person is at the terminal, chunks wait for vectors, and nobody embeds.

    Args:
        corpus: The corpus.
        where: How a command names it.
    """
    if not _is_wanted():
        return
    status = corpus.status()
    if not status.queue or status.model is None or status.generation == 0:
        return
    if status.trouble is not None:
        again = "it tries again" if status.worker else f"firstlight sync {where} --embed tries again"
        talk(f"not embedding: {status.trouble}; {again}")
    elif status.worker is None:
        _start(corpus)
        talk(f"embedding {count(status.queue, 'chunk')} in the background: firstlight status {where}")


def _is_wanted() -> bool:
    return (
        is_terminal(sys.stderr)
        and not os.environ.get("CI")
        and os.environ.get("FIRSTLIGHT_BACKGROUND") != "0"
    )


def _start(corpus: Corpus) -> None:
    import subprocess

    # Away from the terminal, its signals and its folder; what it has to say, `status` tells.
    subprocess.Popen(  # noqa: S603  # ourselves
        [
            *(sys.executable, "-m", "firstlight", "background", "run"),
            *(str(corpus.root), "--state", str(corpus.state)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
