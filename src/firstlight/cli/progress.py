"""Progress on stderr, for a person who has waited for more than a second."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Self

from firstlight.cli.terminal import is_terminal

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from firstlight.corpus.types import Progress

__all__ = ["Drawing"]

_PATIENCE = 1.0  # seconds


class Drawing:
    """A progress callback for `Corpus.sync`; draws on a terminal only, and leaves nothing behind."""

    def __init__(self) -> None:
        self._wanted = is_terminal(sys.stderr)
        self._from = monotonic() + _PATIENCE
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._doing = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Draw how far a sync is."""
        if not self._wanted or monotonic() < self._from:
            return
        said = _Said.of(progress)
        if self._bar is None or self._task is None:
            self._bar = _bar()
            self._task = self._bar.add_task(said.doing, total=said.total, said=said.text)
            self._bar.start()
        elif self._doing != said.doing:
            self._bar.reset(self._task, description=said.doing, total=said.total)
        self._doing = said.doing
        self._bar.update(self._task, total=said.total, completed=said.done, said=said.text)
        self._bar.refresh()


class _Said(NamedTuple):
    """What a bar shows."""

    doing: str
    done: int
    total: int
    text: str

    @classmethod
    def of(cls, progress: Progress) -> Self:
        if progress.to_embed:
            done, total = progress.embedded, progress.to_embed
            return cls("embedding", done, total, f"{done:,} of {total:,} chunks")
        done, total = progress.documents, progress.total
        return cls("indexing", done, total, f"{done:,} of {total:,} files, {progress.chunks:,} chunks")


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
