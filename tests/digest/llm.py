"""A language model in this process that says what it is told to."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class FakeLlm:
    """Yields its answer word by word.

    Args:
        answer: What it says.
        name: What it is called.
        blocks: Waits after the first word: "heeding" until it is told to stop, "deaf" until `release` is set.
        error: Raised after the first word.
    """

    def __init__(
        self,
        answer: str = "It is so [1].",
        *,
        name: str = "fake-llm",
        blocks: str = "",
        error: BaseException | None = None,
    ) -> None:
        self.answer, self.name, self.blocks, self.error = answer, name, blocks, error
        self.asked: list[Sequence[Mapping[str, str]]] = []
        self.options: list[dict[str, Any]] = []
        self.closed = 0
        self.release = threading.Event()
        self._lock = threading.Lock()

    def stream(self, messages: Sequence[Mapping[str, str]], **options: Any) -> Iterator[str]:
        with self._lock:
            self.asked.append(messages)
            self.options.append(options)
        try:
            for number, word in enumerate(self.answer.split(" ")):
                yield word if number == 0 else f" {word}"
                if self.error is not None:
                    raise self.error
                if self.blocks == "heeding":
                    options["stop"].wait(30)
                elif self.blocks == "deaf":
                    self.release.wait(30)
        finally:
            with self._lock:
                self.closed += 1
