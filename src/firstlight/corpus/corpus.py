"""The facade: a folder of documents, kept searchable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from firstlight.corpus.types import Confirm, Plan, Report, Status, SyncReport, VerifyReport
    from firstlight.rank.types import Results


class Corpus:
    """A folder of documents, searchable at once and kept so.

    Thread-safe; several objects and processes may share one state. Opening writes nothing: the first `sync`
    makes the state.

    Attributes:
        root: The content folder, its real path.
        state: The folder that holds the index, whether or not it exists yet.
        warnings: What a person should hear about the configuration, one line each.
    """

    root: Path
    state: Path
    warnings: tuple[str, ...]

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        embedder: str | None = None,
        store: str | None = None,
        config: str | Path | Mapping[str, Any] | None = None,
        state: str | Path | None = None,
        language: str | None = None,
    ) -> Corpus:
        """Open `folder`; `config` replaces its `firstlight.toml` (a path, or the settings themselves)."""
        raise NotImplementedError

    def plan(self) -> Plan:
        """Return what `sync` would do now; nothing is written."""
        raise NotImplementedError

    def sync(
        self,
        *,
        progress: Report | None = None,
        rebuild: bool = False,
        embed: bool = False,
        confirm: Confirm | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the folder; only what changed is read.

        Args:
            progress: Called after every commit.
            rebuild: Make everything anew, while the old index serves; a damaged index is replaced.
            embed: Also embed what lacks a vector; needs an embedder.
            confirm: Asked with the number of files when more than `MANY_FILES` would be new; False ends the
                sync with a ConfigError.
        """
        raise NotImplementedError

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        where: str | Mapping[str, Any] | None = None,
        mode: str = "auto",
        per_document: int | None = None,
        explain: bool = False,
    ) -> Results:
        """Answer from what is committed; `explain` adds each term's part to `Hit.scores`, as `term:WORD`."""
        raise NotImplementedError

    def status(self) -> Status:
        """Return the state of the index; cheap."""
        raise NotImplementedError

    def verify(self, *, repair: bool = False) -> VerifyReport:
        """Prove that manifest, chunks and postings agree, id by id; `repair` makes it so."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the index; closing twice is fine, using the corpus afterwards is an error."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
