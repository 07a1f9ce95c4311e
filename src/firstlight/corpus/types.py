"""The words of the corpus floor: what a sync tells; what no search needs is in `reports`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from _typeshed import DataclassInstance

    Report: TypeAlias = Callable[["Progress"], object]
    Confirm: TypeAlias = Callable[[int], bool]

# From so many new files on, a person is asked first: the folder is probably not the one that was meant.
MANY_FILES = 20_000


class FileError(NamedTuple):
    """A file that cannot be indexed, and why; its last good version goes on serving."""

    path: str
    reason: str


class Rename(NamedTuple):
    """A document that moved: the same bytes under another name."""

    old: str
    new: str


class Progress(NamedTuple):
    """How far a sync is: `documents` of `total` are committed, with so many chunks.

    While it embeds, `embedded` of `to_embed` chunks are done instead.
    """

    documents: int
    total: int
    chunks: int
    embedded: int = 0
    to_embed: int = 0


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did.

    Attributes:
        added: How many documents came in; `changed`, `deleted`, `renamed`, `unchanged` likewise.
        chunks: How many chunks were written.
        errors: Each file that could not be indexed, and why. The rest was synced.
        skipped: What the walk passed over, and why.
        generation: The state of the index afterwards.
        seconds: How long it took.
    """

    added: int = 0
    changed: int = 0
    deleted: int = 0
    renamed: int = 0
    unchanged: int = 0
    chunks: int = 0
    chunks_to_embed: int = 0
    tokens_to_embed: int = 0
    errors: tuple[FileError, ...] = ()
    skipped: tuple[FileError, ...] = ()
    generation: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the report in its one JSON shape."""
        return plain(self)


def plain(report: DataclassInstance) -> dict[str, Any]:
    """Return a report in JSON's own types, by its fields."""
    return {key: _json(value) for key, value in asdict(report).items()}


def _json(value: Any) -> Any:
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return value._asdict()
        return [_json(item) for item in value]
    return value
