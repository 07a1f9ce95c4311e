"""Windows of texts, grouped into calls: bounded in number and tokens, in order, a text in one if it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from firstlight.embed.types import Limits


class Window(NamedTuple):
    """A part of a text that is embedded by itself.

    Attributes:
        item: The hash of the text that it is of.
        text: The part.
        tokens: Its estimated tokens.
    """

    item: bytes
    text: str
    tokens: int


def batches(items: Iterable[Sequence[Window]], limits: Limits) -> Iterator[list[Window]]:
    """Group the windows of each item into calls, lazily and in order.

    Example:
        >>> from firstlight.embed.types import Limits
        >>> items = [[Window(b"1", "a", 1)], [Window(b"2", "b", 1), Window(b"2", "c", 1)]]
        >>> [[window.text for window in call] for call in batches(items, Limits(texts=2, tokens=9))]
        [['a'], ['b', 'c']]
    """
    held: list[Window] = []
    for windows in items:
        calls, held = fill(held, windows, limits)
        yield from calls
    if held:
        yield held


def fill(
    held: Sequence[Window], windows: Sequence[Window], limits: Limits
) -> tuple[list[list[Window]], list[Window]]:
    """Add one item's windows to a call that is not full; return the calls that are then, and what is held.

    The item begins a call where that keeps it whole, or where it needs more than one anyway: who is killed
    loses the work of one call, not half an item beside it. A window above the limits is a call of its own.
    """
    calls: list[list[Window]] = []
    call, tokens = list(held), total(held)
    if call and not _fits(len(call) + len(windows), tokens + total(windows), limits):
        calls.append(call)
        call, tokens = [], 0
    for window in windows:
        if call and not _fits(len(call) + 1, tokens + window.tokens, limits):
            calls.append(call)
            call, tokens = [], 0
        call.append(window)
        tokens += window.tokens
    if call and (len(call) >= limits.texts or tokens >= limits.tokens):
        calls.append(call)
        call = []
    return calls, call


def total(windows: Iterable[Window]) -> int:
    """Return the estimated tokens of all of them."""
    return sum(window.tokens for window in windows)


def _fits(texts: int, tokens: int, limits: Limits) -> bool:
    return texts <= limits.texts and tokens <= limits.tokens
