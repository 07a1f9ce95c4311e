"""Plans, states and proofs of an index, each with its one JSON shape in `to_dict`; no search needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.corpus.types import plain

if TYPE_CHECKING:
    from firstlight.corpus.types import FileError, Rename


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync would do now; making it wrote nothing.

    Attributes:
        added: Paths that are new.
        changed: Paths whose bytes changed, or that a changed setting makes anew.
        deleted: Paths that are gone.
        renamed: Documents that moved.
        unchanged: How many documents stay as they are.
        skipped: What the walk passed over, and why.
        errors: Files already known to be unfit, from the last sync; new faults show when a sync reads.
        chunks_to_embed: Chunks without a vector.
        tokens_to_embed: The estimated tokens of those.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    renamed: tuple[Rename, ...] = ()
    unchanged: int = 0
    skipped: tuple[FileError, ...] = ()
    errors: tuple[FileError, ...] = ()
    chunks_to_embed: int = 0
    tokens_to_embed: int = 0

    @property
    def files(self) -> int:
        """How many files the folder has that firstlight would index."""
        return len(self.added) + len(self.changed) + len(self.renamed) + self.unchanged

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.added or self.changed or self.deleted or self.renamed)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan in its one JSON shape."""
        return plain(self)


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an index.

    Attributes:
        embedded: Chunks with a vector; `failed` are those that will never have one, and `foreign` those in
            languages that the model does not know.
        windows: In how many pieces the embedded chunks were embedded, all together.
        model: The embedding model, or None.
        generation: Grows with every commit that changes what a search can find; 0 before the first sync.
        mode: What a search would use now.
        state: The folder that holds the index.
        stale: Documents past their date of verification; 0 where no horizon is set.
        errors: Files that could not be indexed at the last sync, and why.
        queue: Chunks that wait for a vector, and `rate` is how many a second are embedded.
        worker: The process that embeds now, or None.
        trouble: Why the embedding does not go on, or None.
        tokens: How many estimated tokens a remote embedder was sent.
        root: The content folder.
        synced: When the last complete sync began, in ISO 8601 (UTC); None before the first.
    """

    documents: int = 0
    chunks: int = 0
    embedded: int = 0
    failed: int = 0
    model: str | None = None
    generation: int = 0
    mode: str = "bm25"
    state: str = ""
    stale: int = 0
    errors: tuple[FileError, ...] = ()
    queue: int = 0
    rate: float = 0.0
    foreign: int = 0
    windows: int = 0
    worker: str | None = None
    trouble: str | None = None
    tokens: int = 0
    root: str = ""
    synced: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the status in its one JSON shape."""
        return plain(self)


class Finding(NamedTuple):
    """One fault: `what` is "document", "chunk", "posting", "segment", "vector" or "database", `id` which."""

    what: str
    id: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What `verify` proved.

    Attributes:
        documents: How many documents were checked.
        chunks: How many chunks were checked.
        missing: What should be there and is not.
        orphaned: What is there and belongs to nothing.
        different: What is there and is not what it should be.
        repaired: How many of these findings were put right; a search is safe again when it is all of them.
        seconds: How long it took.
    """

    documents: int = 0
    chunks: int = 0
    missing: tuple[Finding, ...] = ()
    orphaned: tuple[Finding, ...] = ()
    different: tuple[Finding, ...] = ()
    repaired: int = 0
    seconds: float = 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings."""
        return self.missing + self.orphaned + self.different

    @property
    def ok(self) -> bool:
        """Whether the index is sound now: nothing was found, or all of it was repaired."""
        return self.repaired == len(self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the report in its one JSON shape."""
        return plain(self) | {"ok": self.ok}
