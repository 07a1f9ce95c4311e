"""Progress of an evaluation on stderr, for a person who has waited for more than a second."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Self

from firstlight.cli.terminal import is_terminal

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["Drawing"]

_PATIENCE = 1.0  # seconds


class Drawing:
    """How many questions are answered; draws on a terminal only, and leaves nothing behind."""

    def __init__(self) -> None:
        self._wanted = is_terminal(sys.stderr)
        self._from = monotonic() + _PATIENCE
        self._bar: Bar | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Draw how far a mode is."""
        if not self._wanted or monotonic() < self._from:
            return
        if self._bar is None:
            self._bar = _bar()
            self._bar.start()
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total)
        self._bar.update(self._tasks[what], completed=done)


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("questions"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
