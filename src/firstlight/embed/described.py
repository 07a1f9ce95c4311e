"""What an embedder says of itself, looked at before it is used: it may be anybody's object."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from firstlight.embed.types import MOST_DIMENSIONS, Limits
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from firstlight.embed.types import Embedder

_LONGEST = 1000  # characters that a name has


def check_described(embedder: Embedder) -> None:
    """Refuse an embedder whose attributes are missing, or are not what `Embedder` says.

    Its fingerprint is not asked for: a provider may have to be.

    Raises:
        ConfigError: The message names the attribute.

    Example:
        >>> check_described(object())
        Traceback (most recent call last):
        firstlight.errors.ConfigError: embedder: a 'object' is no embedder: its 'name' has to be a text
    """
    for name, (is_right, what) in _ATTRIBUTES.items():
        if not is_right(_value(embedder, name)):
            kind = type(embedder).__name__
            raise ConfigError(f"a '{kind:.60}' is no embedder: its '{name}' has to be {what}", key="embedder")


def is_text(value: object, *, longest: int = _LONGEST) -> bool:
    r"""Whether this is a text that can be stored and shown.

    Example:
        >>> is_text("words"), is_text(""), is_text("half a pair: \ud800"), is_text(b"words")
        (True, False, False, False)
    """
    return isinstance(value, str) and 0 < len(value) <= longest and _has_no_surrogate(value)


def _value(embedder: Embedder, name: str) -> Any:
    try:
        return getattr(embedder, name, None)
    except Exception:  # noqa: BLE001  # a property of theirs may raise anything; it has no value then
        return _NOTHING


_NOTHING = object()


def _has_no_surrogate(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, SupportsIndex) and low <= index(value) <= high


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, SupportsFloat)


def _are_languages(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, frozenset | set | list | tuple) and all(isinstance(each, str) for each in value)


def _are_limits(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, Limits) and all(isinstance(each, SupportsIndex) for each in value)


_ATTRIBUTES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (is_text, "a text"),
    "dimensions": (
        lambda value: _is_whole(value, 0, MOST_DIMENSIONS),
        f"a whole number from 0 to {MOST_DIMENSIONS:,}",
    ),
    "max_tokens": (lambda value: _is_whole(value, 1, 1 << 53), "a whole number above 0"),
    "languages": (_are_languages, "None or a set of ISO 639-1 codes"),
    "limits": (_are_limits, "a `Limits`, or missing"),
    "floor": (_is_number, "a number, or missing"),
    "split": (lambda value: value is None or callable(value), "a function, or missing"),
    "embed": (callable, "a function"),
}
