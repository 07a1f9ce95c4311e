"""How far a command is, on stderr, for a person who has waited for more than a second."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Self

from firstlight.cli.terminal import is_terminal
from firstlight.cli.waiting import PATIENCE, Waiting

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from firstlight.corpus.types import Progress

__all__ = ["Drawing"]


class Drawing:
    """Says that a command works, then draws how far it is; on a terminal only, and leaves nothing behind.

    It is a progress callback for a `Corpus`.
    """

    def __init__(self) -> None:
        self._waiting = Waiting("working")
        self._wanted = is_terminal(sys.stderr)
        self._from = monotonic() + PATIENCE
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._doing = ""

    def __enter__(self) -> Self:
        self._waiting.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hush()
        if self._bar is not None:
            self._bar.stop()

    def hush(self) -> None:
        """Say no longer that it works: a person is asked something."""
        self._waiting.end()

    def __call__(self, progress: Progress) -> None:
        """Draw how far a sync is."""
        if progress.to_embed:
            done, total = progress.embedded, progress.to_embed
            self.show("embedding", done, total, f"{done:,} of {total:,} chunks")
        else:
            done, total = progress.documents, progress.total
            self.show("indexing", done, total, f"{done:,} of {total:,} files, {progress.chunks:,} chunks")

    def show(self, doing: str, done: int, total: int, said: str) -> None:
        """Draw how much is done of what is being done, and what is said of it."""
        if not self._wanted or monotonic() < self._from:
            return
        if self._bar is None or self._task is None:
            self.hush()
            self._bar = _bar()
            self._task = self._bar.add_task(doing, total=total, said=said)
            self._bar.start()
        elif self._doing != doing:
            self._bar.reset(self._task, description=doing, total=total)
        self._doing = doing
        self._bar.update(self._task, total=total, completed=done, said=said)
        self._bar.refresh()


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[said]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,  # drawn by the commits; a thread of its own would only compete with them
    )
