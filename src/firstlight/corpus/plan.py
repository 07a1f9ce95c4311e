"""Manifest + walk -> what changed. Pure: files are hashed by the caller, where a stat is not enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firstlight.store.documents import ErrorRow, ManifestRow
    from firstlight.text.entries import FileEntry

# A file that was written within this time of a sync's start may change again without its stat telling: clocks
# of file systems tick as slowly as every two seconds (FAT).
RACY_NS = 2_000_000_000


class Job(NamedTuple):
    """A file to index; `replaces` is the document that it takes the place of."""

    entry: FileEntry
    replaces: ManifestRow | None


class Known(NamedTuple):
    """What the index knows of the folder.

    Attributes:
        manifest: Its documents.
        errors: The files that could not be indexed at the last sync.
        synced_ns: When that sync began.
    """

    manifest: Sequence[ManifestRow] = ()
    errors: Sequence[ErrorRow] = ()
    synced_ns: int = 0


@dataclass(slots=True)
class Comparison:
    """What stats alone tell.

    Attributes:
        new: Files that the manifest does not know.
        doubtful: Files whose bytes must be looked at.
        outdated: Files whose bytes are the same, but not the recipe.
        retried: Files that failed, whose bytes must be looked at again.
        unfit: Files that failed and have not changed since.
        gone: Documents whose file is gone.
        unchanged: How many documents stay as they are.
        settles: Whether looking at the doubtful ones now spares the next sync from doing so.
    """

    new: list[FileEntry] = field(default_factory=list)
    doubtful: list[Job] = field(default_factory=list)
    outdated: list[Job] = field(default_factory=list)
    retried: list[tuple[Job, ErrorRow]] = field(default_factory=list)
    unfit: list[ErrorRow] = field(default_factory=list)
    gone: list[ManifestRow] = field(default_factory=list)
    unchanged: int = 0
    settles: bool = False

    def to_hash(self) -> list[str]:
        """Return the paths whose bytes decide; a new file's only where it may be a document that moved."""
        sizes = {row.size for row in self.gone}
        moved = [entry.path for entry in self.new if entry.size in sizes] if sizes else []
        return [job.entry.path for job in self.doubtful] + [job.entry.path for job, _ in self.retried] + moved


@dataclass(slots=True)
class Work:
    """What a sync has to do.

    Attributes:
        added: Files that are new.
        changed: Files that take the place of their document.
        renamed: Files that take the place of a document under another path.
        deleted: Documents that go.
        touched: Documents whose bytes are the same under another stat.
        unfit: Files that failed and have not changed since.
        unchanged: How many documents stay as they are, the touched ones included.
        settles: Whether recording that this sync looked spares the next one from looking.
    """

    added: list[Job] = field(default_factory=list)
    changed: list[Job] = field(default_factory=list)
    renamed: list[Job] = field(default_factory=list)
    deleted: list[ManifestRow] = field(default_factory=list)
    touched: list[Job] = field(default_factory=list)
    unfit: list[ErrorRow] = field(default_factory=list)
    unchanged: int = 0
    settles: bool = False

    def jobs(self) -> list[Job]:
        """Return every file to read, by path."""
        return sorted(self.added + self.changed + self.renamed, key=lambda job: job.entry.path)


def is_quiet(
    stats: Sequence[tuple[str, int, int, int]], files: Sequence[FileEntry], *, synced_ns: int
) -> bool:
    """Whether each file is indexed just as it is, so that there is nothing to compare.

    Args:
        stats: (path, size, mtime_ns, 1 where the recipe is today's else 0) of each document.
        files: What is there.
        synced_ns: When the last complete sync began.
    """
    if len(stats) != len(files):
        return False
    racy = synced_ns - RACY_NS
    seen = {(entry.path, entry.size, entry.mtime_ns, 1) for entry in files if entry.mtime_ns < racy}
    return len(seen) == len(stats) and seen.issuperset(stats)


def compare(
    known: Known, files: Sequence[FileEntry], *, recipe: str, started_ns: int, unseen: Sequence[str] = ()
) -> Comparison:
    """Compare what is indexed with what is there.

    Args:
        known: What is indexed.
        files: What is there.
        recipe: What documents are made with now; another one than the manifest's makes them anew.
        started_ns: When this sync began.
        unseen: Files and folders that the walk could not read: what lies there is unknown, not gone.
    """
    found = Comparison()
    rows = {row.path: row for row in known.manifest}
    errors = {row.path: row for row in known.errors}
    racy = known.synced_ns - RACY_NS
    oldest_racy = started_ns
    for entry in files:
        row = rows.pop(entry.path, None)
        is_racy = entry.mtime_ns >= racy
        if is_racy and known.synced_ns:
            oldest_racy = min(oldest_racy, entry.mtime_ns)
        if (
            errors
            and entry.path in errors
            and _keep_error(found, Job(entry, row), errors[entry.path], recipe, is_racy)
        ):
            continue
        if row is None:
            found.new.append(entry)
        elif is_racy or entry.mtime_ns != row.mtime_ns or entry.size != row.size:
            found.doubtful.append(Job(entry, row))
        elif row.recipe != recipe:
            found.outdated.append(Job(entry, row))
        else:
            found.unchanged += 1
    found.settles = oldest_racy < started_ns - RACY_NS
    for row in rows.values():
        if any(row.path == path or row.path.startswith(f"{path}/") for path in unseen):
            found.unchanged += 1
        else:
            found.gone.append(row)
    return found


def resolve(found: Comparison, hashes: Mapping[str, bytes], *, recipe: str) -> Work:
    """Decide with the hashes of `found.to_hash()`; a file that cannot be read has none."""
    work = Work(unfit=list(found.unfit), unchanged=found.unchanged, settles=found.settles)
    for job in found.doubtful:
        row = job.replaces
        if row is None or hashes.get(job.entry.path) != row.hash or row.recipe != recipe:
            work.changed.append(job)
            continue
        work.unchanged += 1
        if (job.entry.size, job.entry.mtime_ns) != (row.size, row.mtime_ns):
            work.touched.append(job)
    for job, error in found.retried:
        if hashes.get(job.entry.path) == error.hash:
            work.unfit.append(error)
            work.unchanged += job.replaces is not None
        else:
            (work.added if job.replaces is None else work.changed).append(job)
    work.changed += found.outdated
    _pair_renames(work, found, hashes)
    return work


def _keep_error(found: Comparison, job: Job, error: ErrorRow, recipe: str, is_racy: bool) -> bool:
    """Record a file that failed before, where there is no reason to index it now."""
    entry = job.entry
    if (entry.size, entry.mtime_ns, recipe) != (error.size, error.mtime_ns, error.recipe):
        return False
    if error.hash is None or is_racy:
        found.retried.append((job, error))
    else:
        found.unfit.append(error)
        found.unchanged += job.replaces is not None
    return True


def _pair_renames(work: Work, found: Comparison, hashes: Mapping[str, bytes]) -> None:
    """A new file with the bytes of a gone document is that document; the first takes the first."""
    gone: dict[bytes, list[ManifestRow]] = {}
    for row in sorted(found.gone, key=lambda row: row.path, reverse=True):
        gone.setdefault(row.hash, []).append(row)
    for entry in found.new:
        candidates = gone.get(hashes.get(entry.path, b""))
        if candidates:
            work.renamed.append(Job(entry, candidates.pop()))
        else:
            work.added.append(Job(entry, None))
    work.deleted = sorted((row for rows in gone.values() for row in rows), key=lambda row: row.path)
