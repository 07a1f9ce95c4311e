"""The errors that firstlight raises on purpose; each message says what, where, and the way out.

FirstlightError
├── ChatError        a language model gave no answer, or half of one: its kind says why
├── ConfigError      a setting is wrong: its file, line and key
├── DocumentError    a file cannot be read or parsed: its path, line and reason
├── EmbeddingError   texts cannot be embedded: what the model or its provider said
├── FilterError      a filter cannot be understood, or names an unknown field
└── StoreError       the index cannot be opened, written or trusted
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    ChatTrouble: TypeAlias = Literal["refused", "rate-limited", "too-long", "cut-off", "unavailable"]
    Trouble: TypeAlias = Literal["unavailable", "too-large", "quota", "budget", "refused", "wrong-answer"]

__all__ = [
    "ChatError",
    "ConfigError",
    "DocumentError",
    "EmbeddingError",
    "FilterError",
    "FirstlightError",
    "StoreError",
]


class FirstlightError(Exception):
    """The base of everything firstlight raises on purpose; `str(error)` is fit to show to a person."""


class DocumentError(FirstlightError):
    """A document cannot be read or parsed.

    Args:
        reason: What is wrong and what to do about it.
        path: The document's name, as it should be shown; filled in by whoever knows it.
        line: The 1-based line, where there is one.

    Example:
        >>> str(DocumentError("the front matter never closes: add a line '---'", path="a.md", line=1))
        "a.md:1: the front matter never closes: add a line '---'"
    """

    def __init__(self, reason: str, *, path: str | None = None, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line

    def __str__(self) -> str:
        return _located(self.reason, self.path, self.line)

    def at(self, path: str) -> DocumentError:
        """Return the same error, naming `path`."""
        return DocumentError(self.reason, path=path, line=self.line)


class ConfigError(FirstlightError):
    """A setting is wrong; `path`, `line` and `key` say where, as far as they are known."""

    def __init__(
        self, reason: str, *, path: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line
        self.key = key

    def __str__(self) -> str:
        reason = f"{self.key}: {self.reason}" if self.key else self.reason
        return _located(reason, self.path, self.line)


class EmbeddingError(FirstlightError):
    """Texts cannot be embedded; the message never holds any of them, nor a key.

    Args:
        reason: What happened, at which provider, and what to do about it.
        kind: "unavailable" (later may be better), "too-large" (fewer or shorter texts may be taken), "quota"
            and "budget" (nothing more until somebody pays or allows it), "refused" (this request will never
            be taken) or "wrong-answer" (what came back are not vectors of these texts).
    """

    def __init__(self, reason: str, *, kind: Trouble = "unavailable") -> None:
        super().__init__(reason)
        self.kind: Trouble = kind


class ChatError(FirstlightError):
    """A language model gave no answer, or half of one; the message holds nothing of the document, nor a key.

    Args:
        reason: What happened, at which endpoint, and what to do about it.
        kind: "refused" (this request will never be taken), "rate-limited" and "unavailable" (later may be
            better), "too-long" (the model takes fewer passages) or "cut-off" (what came before this is the
            beginning of an answer, and all there is).
    """

    def __init__(self, reason: str, *, kind: ChatTrouble = "unavailable") -> None:
        super().__init__(reason)
        self.kind: ChatTrouble = kind


class FilterError(FirstlightError):
    """A filter cannot be understood, or names a field that no document has."""


class StoreError(FirstlightError):
    """The index cannot be opened, written or trusted; the message names the file and the way out."""


def _located(reason: str, path: str | None, line: int | None) -> str:
    where = path if line is None or path is None else f"{path}:{line}"
    return f"{where}: {reason}" if where else reason
