"""The facade: a folder of documents, kept searchable."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from firstlight.corpus.ask import ask
from firstlight.corpus.commands import commands_told
from firstlight.corpus.config import load_config
from firstlight.corpus.damage import damage_told
from firstlight.corpus.legs import MODES, WEIGHT, vector_leg
from firstlight.corpus.search import NOTHING_YET, Question
from firstlight.corpus.site import Site
from firstlight.corpus.snapshot import Snapshots
from firstlight.corpus.state import DATABASE_NAME, state_folder
from firstlight.corpus.survey import survey
from firstlight.corpus.sync import sync
from firstlight.corpus.upgrade import Upgrade
from firstlight.errors import ConfigError
from firstlight.rank.types import Results
from firstlight.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    from firstlight.corpus.migration_types import Golden, MigrationReport, MigrationStatus
    from firstlight.corpus.reports import Plan, Status, VerifyReport
    from firstlight.corpus.types import Confirm, Report, SyncReport
    from firstlight.embed.types import Embedder
    from firstlight.rank.filters import Filter

# How long a sync waits for another one to end before it says who that is.
WAIT_SECONDS = 10.0


class Corpus:
    r"""A folder of documents, searchable at once and kept so.

    Thread-safe; several objects and processes may share one state. Opening writes nothing: the first `sync`
    makes the state.

    Attributes:
        root: The content folder, its real path.
        state: The folder that holds the index, whether or not it exists yet.
        warnings: What a person should hear about the configuration, one line each.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     page = Path(folder, "drain.md")
        ...     _ = page.write_text("# Drain\n\nCordon the node first.\n")
        ...     with Corpus.open(folder, state=f"{folder}/.index") as corpus:
        ...         report = corpus.sync()
        ...         hits = corpus.search("cordon a node")
        >>> report.added, [(hit.path, hit.title, hit.line_start) for hit in hits]
        (1, [('drain.md', 'Drain', 1)])
    """

    def __init__(
        self,
        site: Site,
        warnings: tuple[str, ...] = (),
        *,
        embedder: str | Embedder | None = None,
        background: bool = True,
    ) -> None:
        self._site = site
        self._snapshots = Snapshots()
        self._upgrade = Upgrade(site, embedder, wanted=background)
        self.root = Path(site.root)
        self.state = site.state
        self.warnings = warnings

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        embedder: str | Embedder | None = None,
        store: str | None = None,
        config: str | Path | Mapping[str, Any] | None = None,
        state: str | Path | None = None,
        language: str | None = None,
        background: bool = True,
    ) -> Self:
        """Open `folder`.

        Args:
            folder: The content folder.
            embedder: A spec ("local", "none", "openai:MODEL", "ollama:MODEL", "tei:" or
                "hf:ORG/NAME@REVISION"), an object that is an `Embedder`, or None: what the environment or the
                settings name, else the local model where the extra `local` is installed.
            store: Only "sqlite" so far.
            config: Replaces the folder's `firstlight.toml`: a path, or the settings themselves.
            state: The very folder for the index; by default one in the user's data folder.
            language: Of the documents, as an ISO 639-1 code; told from each text by default.
            background: Embed what lacks a vector in a thread of this process, from the first sync or search
                on; FIRSTLIGHT_BACKGROUND=0 does so only when asked to.

        Raises:
            ConfigError: There is no such folder, or a setting is wrong.
        """
        _require_utf8()
        root = _real_folder(folder)
        _refuse_unknown("store", store, "sqlite")
        settings, warnings = load_config(root, config, language=language)
        if state is not None:
            home = state_folder(root, state, base=Path.cwd())
        else:
            home = state_folder(root, settings.state, base=Path(root))
        site = Site(root, home, settings, Database(home / DATABASE_NAME))
        return cls(site, warnings, embedder=embedder, background=background)

    def plan(self) -> Plan:
        """Return what `sync` would do now; nothing is written.

        Raises:
            DocumentError: The folder itself is gone or cannot be read.
            StoreError: The index cannot be read.
        """
        with damage_told(self._site):
            plan = survey(self._site).to_plan()
            chunks, tokens = self._upgrade.planned(plan)
            return replace(plan, chunks_to_embed=chunks, tokens_to_embed=tokens)

    def sync(
        self,
        *,
        progress: Report | None = None,
        rebuild: bool = False,
        embed: bool = False,
        confirm: Confirm | None = None,
        wait: float = WAIT_SECONDS,
    ) -> SyncReport:
        """Bring the index up to date with the folder; only what changed is read.

        Args:
            progress: Called after every commit.
            rebuild: Make everything anew, while the old index serves; a damaged index is replaced.
            embed: Also embed what lacks a vector, and return when it is done; needs an embedder.
            confirm: Asked with the number of files when more than `MANY_FILES` would be new; False ends the
                sync with a ConfigError.
            wait: For how many seconds to wait for another sync to end.

        Raises:
            ConfigError: `confirm` said no, or there is no embedder to embed with, or another one's vectors.
            EmbeddingError: The embedder takes no more now; what it finished is kept, as is the sync.
            DocumentError: The folder itself is gone or cannot be read; the index stays as it is.
            StoreError: The index cannot be written, or another sync holds it; the message says who.
        """
        if embed:
            self._upgrade.required()
        with damage_told(self._site):
            report = sync(self._site, wait=wait, progress=progress, rebuild=rebuild, confirm=confirm)
            if embed:
                self._upgrade.embed_now(progress)
            else:
                self._upgrade.start()
            chunks, tokens = self._upgrade.pending()
            return replace(report, chunks_to_embed=chunks, tokens_to_embed=tokens)

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        where: str | Mapping[str, Any] | None = None,
        mode: str = "auto",
        per_document: int | None = None,
        explain: bool = False,
        weight: float | None = None,
    ) -> Results:
        """Answer from what is committed.

        Args:
            query: The question; text, never syntax, but for "quoted phrases".
            top_k: How many hits at most.
            where: A filter on the documents' fields, in either notation.
            mode: "auto" (the best that can be done now), "bm25", "hybrid", or "vector": the cosine alone.
            per_document: How many hits of one document at most.
            explain: Add each word's part to `Hit.scores`, as `term:WORD`.
            weight: The share of the cosine in a hybrid score, 0 to 1; by default what the settings say.

        Returns:
            The hits, best first, equal scores by path and position; none before the first `sync`.

        Raises:
            ConfigError: The mode is none, or needs an embedder, or the index has another embedder's vectors.
            FilterError: The filter is wrong, or asks about a field that no document has.
            StoreError: The index cannot be read, or the corpus is closed.
            ValueError: `top_k` or `per_document` is below 1, or `weight` is not from 0 to 1.
        """
        _check_query(query, mode, top_k, per_document, weight)
        question = Question(query, top_k, _parse(where), per_document, explain)
        with damage_told(self._site):
            embedding = None if mode == "bm25" else self._upgrade.embedding()
            if not self._site.database.exists():
                return Results(query, "bm25", 0, 0, None, 0, NOTHING_YET)
            share = next(each for each in (weight, self._site.config.weight, WEIGHT) if each is not None)
            leg = vector_leg(self._site, embedding, query, mode, share)
            found = ask(self._site, self._snapshots, question, leg)
            if embedding is not None:
                self._upgrade.answered(found.results.mode, found.wanted)
            return found.results

    def wait_background(self, timeout: float | None = None) -> bool:
        """Embed in the background, and wait for it.

        Args:
            timeout: For how many seconds at most; None for as long as it takes.

        Returns:
            True as soon as nothing is pending, chunks that failed for good not counted; False after the
            timeout, or where the embedder takes no more: `status` says why.

        Raises:
            ConfigError: The embedder cannot be had, or the index has another one's vectors.
        """
        with damage_told(self._site):
            return self._upgrade.wait(timeout)

    def stop_background(self) -> bool:
        """End whoever embeds for this corpus, in whatever process; return whether somebody did.

        It stops within two seconds, and can commit nothing from now on; what is finished is kept.
        """
        from firstlight.corpus.background import stop_all  # noqa: PLC0415  # imports the writing half

        with damage_told(self._site):
            return stop_all(self._site)

    def subscribe(self, callback: Callable[[str], object]) -> Callable[[], None]:
        """Have `callback` called with the mode whenever it rises: "partial", then "hybrid".

        It is called from the thread that notices, the embedding one or a searching one, and should be quick.

        Returns:
            What ends the subscription.
        """
        return self._upgrade.subscribe(callback)

    def status(self) -> Status:
        """Return the state of the index; cheap."""
        from firstlight.corpus.status import status  # noqa: PLC0415  # a search needs none of it

        with damage_told(self._site):
            return status(self._site, self._upgrade.embedding())

    def migrate(
        self,
        model: str | Embedder,
        *,
        golden: Golden | Iterable[str] | None = None,
        min_quality: float = 0.95,
        yes: bool = False,
        progress: Report | None = None,
    ) -> MigrationReport:
        """Change the embedding model: a new one is filled while the old one serves, then takes its place.

        Whatever ends it, the same call goes on where it was, and nothing is embedded twice; a call with
        another model takes the place of the one under way. What the old model made is kept for `roll_back`.
        This object goes on with the new model; others need to be opened with it.

        Args:
            model: The new one, as `open` takes an embedder.
            golden: Questions, by their text what is relevant to each: the grades of documents by their paths.
                Or the texts alone. `firstlight.evaluate.read_golden` reads them from a file.
            min_quality: The new model has to reach this share of the old one's nDCG@10 over the questions of
                which it is known what is relevant, both in hybrid mode.
            yes: Swap without such questions, too, or where the new model cannot embed more than a hundredth
                of the chunks; otherwise the outcome is "waiting" then. It overrules no failed comparison.
            progress: Called after every commit.

        Returns:
            What it came to; where nothing was swapped, what was made is kept for the next call.

        Raises:
            ConfigError: An embedder cannot be had, or nothing is indexed yet.
            EmbeddingError: An embedder takes no more now; what is finished is kept.
            LeaseLostError: Somebody stopped it; what is finished is kept.
            StoreError: Another process is embedding; the message says which.
        """
        from firstlight.corpus.migrate import migrate, questions_of  # noqa: PLC0415  # they write

        questions = questions_of(golden, min_quality)
        with damage_told(self._site):
            return migrate(
                self._site,
                self._upgrade,
                model,
                questions=questions,
                min_quality=min_quality,
                yes=yes,
                progress=progress,
            )

    def roll_back(self) -> MigrationReport:
        """Let the model before the last migration serve again, in one step; doing it twice changes nothing.

        Its vectors were kept; chunks that are new since are embedded in the background.

        Raises:
            ConfigError: There is none.
        """
        from firstlight.corpus.models import roll_back  # noqa: PLC0415

        with damage_told(self._site):
            return roll_back(self._site, self._upgrade)

    def migration_status(self) -> MigrationStatus:
        """Return which models the index has vectors of: one that serves, is being filled, or is kept."""
        from firstlight.corpus.models import status  # noqa: PLC0415

        with damage_told(self._site):
            return status(self._site)

    def drop_migration(self) -> str | None:
        """End the migration under way and throw away what it has filled; return its model, if there is one.

        The vector cache keeps what was made, as long as there is room.
        """
        from firstlight.corpus.models import drop_shadow  # noqa: PLC0415

        with damage_told(self._site):
            return drop_shadow(self._site)

    def verify(self, *, repair: bool = False, wait: float = WAIT_SECONDS) -> VerifyReport:
        """Prove that manifest, chunks and postings agree, id by id.

        Args:
            repair: Make it so; what the rows have lost is read from the files again.
            wait: For how many seconds a repair waits for a sync to end.

        Raises:
            StoreError: The index cannot be opened, or a sync holds it.
        """
        from firstlight.corpus.verify import verify  # noqa: PLC0415  # imports the parsers

        with commands_told(self._site):
            return verify(self._site, repair=repair, wait=wait)

    def close(self) -> None:
        """Let go of the index; closing twice is fine, using the corpus afterwards is an error.

        What this process was embedding ends with it; what is finished is kept.
        """
        self._upgrade.close()
        self._site.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _require_utf8() -> None:
    encoding = sys.getfilesystemencoding()
    if encoding != "utf-8":
        raise ConfigError(
            f"this process takes files' names for {encoding}, and would miss documents; set PYTHONUTF8=1"
        )


def _real_folder(folder: str | Path) -> str:
    root = os.path.realpath(folder)
    if not os.path.exists(root):  # noqa: PTH110  # strings, since every command begins here
        raise ConfigError("there is no such folder; check the path", path=str(folder))
    if not os.path.isdir(root):  # noqa: PTH112
        above = Path(root).parent
        raise ConfigError(f"is a file; open the folder that it is in: {above}", path=str(folder))
    return root


def _refuse_unknown(key: str, given: str | None, known: str) -> None:
    if given not in (None, known):
        raise ConfigError(f"{given!r} is not supported yet; leave it out, or say {known!r}", key=key)


def _check_query(query: str, mode: str, top_k: int, per_document: int | None, weight: float | None) -> None:
    if not isinstance(query, str):
        raise TypeError(f"a question is text, not {type(query).__name__}")
    if top_k < 1:
        raise ValueError(f"top_k must be 1 or more, not {top_k}")
    if per_document is not None and per_document < 1:
        raise ValueError(f"per_document must be 1 or more, or None, not {per_document}")
    if weight is not None and not 0 <= weight <= 1:
        raise ValueError(f"weight must be from 0 to 1, not {weight}")
    if mode not in MODES:
        raise ConfigError(f"{mode!r} is none of {', '.join(MODES)}", key="mode")


def _parse(where: str | Mapping[str, Any] | None) -> Filter | None:
    if where is None:
        return None
    from firstlight.rank.filters import parse_filter  # noqa: PLC0415  # most questions have no filter

    return parse_filter(where)
