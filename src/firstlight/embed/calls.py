"""Calls of an embedder, and what is done where one fails: fewer texts, shorter ones, all but the culprit."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.embed.batches import Window, total
from firstlight.embed.check import checked
from firstlight.embed.failures import ShutOutError
from firstlight.embed.types import Limits
from firstlight.embed.windows import windows as cut_in_windows
from firstlight.errors import EmbeddingError, FirstlightError
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from firstlight.embed.types import Embedder, Kind, Vectors

# What may lie at the texts; everything else ends the work.
_CURABLE = ("too-large", "refused", "wrong-answer")
# A text that nobody can object to: where even this fails, it is not the fault of a document.
_HARMLESS = "hello"
# Characters that are not cut in two: who does not take so many does not take anything.
_SMALLEST = 64


class Done(NamedTuple):
    """What a window came to: float32[n, d], more than one row if it had to be cut; or the reason why not."""

    window: Window
    vectors: Vectors | None
    reason: str | None


class Stopped(Exception):  # noqa: N818  # no error: somebody asked for it
    """The work was asked to end before its next call."""


def ask(embedder: Embedder, texts: Sequence[str], kind: Kind, *, dimensions: int = 0) -> Vectors:
    """Return float32[n, d] of unit length, whatever the embedder is and does.

    Args:
        embedder: Any object.
        texts: What one call takes.
        kind: What the texts are.
        dimensions: The length that vectors have to have; 0 where only the embedder may know.

    Raises:
        EmbeddingError: There are no vectors of these texts.
    """
    with _contained(embedder):
        answer = embedder.embed(texts, kind)
        return checked(answer, texts=len(texts), dimensions=dimensions or embedder.dimensions)


def limits_of(embedder: Embedder) -> Limits:
    """Return what one call of the embedder takes, by its own word or by default."""
    limits: Limits = getattr(embedder, "limits", None) or Limits()
    return Limits(max(limits.texts, 1), max(limits.tokens, 1))


def windows_of(embedder: Embedder, item: bytes, text: str) -> list[Window]:
    """Return the windows of a text, one at least.

    Raises:
        EmbeddingError: The embedder's own way of cutting failed.
    """
    with _contained(embedder):
        parts = cut_in_windows(text, embedder) or [text]
        return [Window(item, part, est_tokens(part)) for part in parts]


@contextmanager
def _contained(embedder: Embedder) -> Iterator[None]:
    """Let nothing out but errors of ours, and say of any other only what it is called.

    An embedder may be anybody's object. No mistake of it may end a worker, and neither its message nor its
    frames may be shown: they may hold the text of a document.
    """
    try:
        yield
    except (FirstlightError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # see above
        name = getattr(embedder, "name", type(embedder).__name__)
        raise EmbeddingError(f"{name} failed with {type(error).__name__}") from None


def ask_in_halves(ask_one: Callable[[str], Vectors], text: str, error: EmbeddingError) -> Vectors:
    """Return float32[n, d] of a text that was too large, cut in two as often as it takes.

    Raises:
        EmbeddingError: `error`, where it cannot be cut any more; or whatever else a part meets.
    """
    halves = in_two(text)
    if halves is None:
        raise error
    parts: list[Vectors] = []
    for half in halves:
        try:
            parts.append(ask_one(half))
        except EmbeddingError as smaller:
            if smaller.kind != "too-large":
                raise
            parts.append(ask_in_halves(ask_one, half, smaller))
    return np.concatenate(parts)


def in_two(text: str) -> tuple[str, str] | None:
    """Cut a text near its middle, behind a space where there is one; None where it is too short.

    Example:
        >>> in_two("drain " * 12)
        ('drain drain drain drain drain drain ', 'drain drain drain drain drain drain ')
        >>> in_two("drain") is None
        True
    """
    if len(text) < _SMALLEST:
        return None
    middle = len(text) // 2
    space = max(text.rfind(mark, middle // 2, middle) for mark in " \n\t")
    cut = middle if space < 0 else space + 1
    return text[:cut], text[cut:]


def _is_curable(error: EmbeddingError) -> bool:
    """Whether fewer, shorter or other texts may fare better."""
    return error.kind in _CURABLE and not isinstance(error, ShutOutError)


class Caller:
    """Asks an embedder for the vectors of windows, call by call, and gets the good from among the bad.

    Args:
        embedder: The model.
        spend: Told the estimated tokens of each call before it is made; may refuse them.
        stop: Asked before each call; ends the work with `Stopped`.
    """

    def __init__(
        self, embedder: Embedder, *, spend: Callable[[int], None] | None, stop: Callable[[], bool]
    ) -> None:
        self.limits = limits_of(embedder)
        self._embedder = embedder
        self._spend = spend
        self._stop = stop
        self._dimensions = 0
        self._has_answered = False

    def ask(self, call: Sequence[Window]) -> Iterator[list[Done]]:
        """Yield what becomes of the windows, in order, after each call that settles some.

        Where a call is too large it is halved; where it is refused or answered wrongly (twice), too, until
        the text at fault stands alone. Of a text one window of which failed no more is asked.

        Raises:
            EmbeddingError: Nothing can be embedded at all now.
            Stopped: It was asked to stop.
        """
        self._has_answered = False
        too_large, largest = False, 0
        failed: set[bytes] = set()
        waiting = [(list(call), True)]
        while waiting:
            windows, may_repeat = waiting.pop()
            windows = [window for window in windows if window.item not in failed]
            if not windows:
                continue
            try:
                vectors = self._embed([window.text for window in windows], total(windows))
            except EmbeddingError as error:
                if not _is_curable(error):
                    raise
                if error.kind == "wrong-answer" and may_repeat:
                    waiting.append((windows, False))
                elif len(windows) > 1:
                    too_large |= error.kind == "too-large"
                    half = len(windows) // 2
                    waiting += [(windows[half:], may_repeat), (windows[:half], may_repeat)]
                else:
                    too_large = False  # it was this one, not their number
                    done = self._alone(windows[0], error)
                    failed.update([done.window.item] if done.vectors is None else [])
                    yield [done]
            else:
                largest = max(largest, total(windows))
                yield [
                    Done(window, row, None)
                    for window, row in zip(windows, vectors[:, np.newaxis], strict=True)
                ]
        if too_large and largest:
            self.limits = self.limits._replace(tokens=min(self.limits.tokens, largest))

    def _embed(self, texts: Sequence[str], tokens: int) -> Vectors:
        if self._stop():
            raise Stopped
        if self._spend is not None:
            self._spend(tokens)
        vectors = ask(self._embedder, texts, "document", dimensions=self._dimensions)
        self._dimensions = vectors.shape[1]
        self._has_answered = True
        return vectors

    def _alone(self, window: Window, error: EmbeddingError) -> Done:
        """Settle a window that failed by itself: cut smaller, or given up with its text."""
        try:
            if error.kind == "too-large":
                return Done(window, ask_in_halves(self._embed_one, window.text, error), None)
        except EmbeddingError as smaller:
            if not _is_curable(smaller):
                raise
            error = smaller
        self._check_answers(error)
        return Done(window, None, f"{error} (text {window.item.hex()[:12]})")

    def _embed_one(self, text: str) -> Vectors:
        return self._embed([text], est_tokens(text))

    def _check_answers(self, error: EmbeddingError) -> None:
        """Raise the error where the embedder takes no text at all: then no text is given up for it."""
        if self._has_answered:
            return
        try:
            self._embed_one(_HARMLESS)
        except EmbeddingError as harmless:
            if not _is_curable(harmless):
                raise
            raise EmbeddingError(f"{error}; nor is any other text taken", kind=error.kind) from None
