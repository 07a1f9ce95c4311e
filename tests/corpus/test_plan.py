from __future__ import annotations

from firstlight.corpus.plan import RACY_NS, Comparison, Known, compare, is_quiet, resolve
from firstlight.store.documents import ErrorRow, ManifestRow
from firstlight.text.entries import FileEntry

RECIPE = "r1"
SYNCED = 1_000 * RACY_NS
NOW = 2_000 * RACY_NS


def row(path: str, document: int = 1, *, size: int = 10, mtime: int = 5, recipe: str = RECIPE) -> ManifestRow:
    return ManifestRow(path, document, size, mtime, b"h", recipe)


def seen(manifest: list[ManifestRow], files: list[FileEntry], **options: object) -> Comparison:
    known = Known(manifest, options.pop("errors", ()), SYNCED)  # type: ignore[arg-type]
    return compare(known, files, recipe=RECIPE, started_ns=NOW, **options)  # type: ignore[arg-type]


def test_equal_stats_need_no_look() -> None:
    found = seen([row("a.md")], [FileEntry("a.md", 10, 5)])
    assert (found.unchanged, found.to_hash()) == (1, [])
    assert not found.settles


def test_another_size_or_time_needs_a_look() -> None:
    for entry in (FileEntry("a.md", 11, 5), FileEntry("a.md", 10, 6)):
        found = seen([row("a.md")], [entry])
        assert found.to_hash() == ["a.md"]
        assert not resolve(found, {"a.md": b"h"}, recipe=RECIPE).changed
        assert resolve(found, {"a.md": b"h"}, recipe=RECIPE).touched
        assert resolve(found, {"a.md": b"other"}, recipe=RECIPE).changed
        assert resolve(found, {}, recipe=RECIPE).changed


def test_what_was_written_within_two_seconds_of_the_sync_needs_a_look() -> None:
    for mtime, looks in ((SYNCED - RACY_NS - 1, False), (SYNCED - RACY_NS, True), (SYNCED + 1, True)):
        found = seen([row("a.md", mtime=mtime)], [FileEntry("a.md", 10, mtime)])
        assert bool(found.to_hash()) is looks
        assert found.settles is looks


def test_a_file_from_the_future_settles_nothing() -> None:
    found = seen([row("a.md", mtime=NOW * 2)], [FileEntry("a.md", 10, NOW * 2)])
    assert found.to_hash() == ["a.md"]
    assert not found.settles


def test_another_recipe_makes_a_document_anew_without_a_look() -> None:
    found = seen([row("a.md", recipe="r0")], [FileEntry("a.md", 10, 5)])
    assert found.to_hash() == []
    assert [job.entry.path for job in resolve(found, {}, recipe=RECIPE).changed] == ["a.md"]


def test_only_new_files_of_a_lost_documents_size_are_looked_at_for_renames() -> None:
    files = [FileEntry("b.md", 10, 7), FileEntry("c.md", 99, 7)]
    found = seen([row("a.md")], files)
    assert found.to_hash() == ["b.md"]
    work = resolve(found, {"b.md": b"h"}, recipe=RECIPE)
    assert [(job.replaces and job.replaces.path, job.entry.path) for job in work.renamed] == [
        ("a.md", "b.md")
    ]
    assert [job.entry.path for job in work.added] == ["c.md"]
    assert work.deleted == []
    assert seen([], files).to_hash() == []


def test_of_two_equal_documents_that_moved_the_first_takes_the_first() -> None:
    manifest = [row("a.md", 1), row("b.md", 2)]
    found = seen(manifest, [FileEntry("x.md", 10, 7), FileEntry("y.md", 10, 7), FileEntry("z.md", 10, 7)])
    work = resolve(found, dict.fromkeys(["x.md", "y.md", "z.md"], b"h"), recipe=RECIPE)
    assert [(job.replaces and job.replaces.path, job.entry.path) for job in work.renamed] == [
        ("a.md", "x.md"),
        ("b.md", "y.md"),
    ]
    assert [job.entry.path for job in work.added] == ["z.md"]


def test_what_lies_in_an_unreadable_folder_is_not_gone() -> None:
    manifest = [row("ops/a.md", 1), row("opsy/b.md", 2), row("c.md", 3)]
    found = seen(manifest, [], unseen=["ops"])
    assert [each.path for each in found.gone] == ["opsy/b.md", "c.md"]
    assert found.unchanged == 1


def test_a_file_that_failed_is_left_alone_until_it_changes() -> None:
    error = ErrorRow("a.md", "bad", 10, 5, b"h", RECIPE)
    assert seen([], [FileEntry("a.md", 10, 5)], errors=[error]).unfit == [error]
    assert seen([row("a.md", size=3)], [FileEntry("a.md", 10, 5)], errors=[error]).unchanged == 1
    assert seen([], [FileEntry("a.md", 10, 6)], errors=[error]).new
    assert seen([], [FileEntry("a.md", 10, 5)], errors=[error._replace(recipe="r0")]).new


def test_a_file_that_could_not_be_read_is_tried_again() -> None:
    error = ErrorRow("a.md", "no permission", 10, 5, None, RECIPE)
    found = seen([], [FileEntry("a.md", 10, 5)], errors=[error])
    assert found.to_hash() == ["a.md"]
    assert resolve(found, {}, recipe=RECIPE).unfit == [error]
    assert [job.entry.path for job in resolve(found, {"a.md": b"x"}, recipe=RECIPE).added] == ["a.md"]


def test_a_folder_is_quiet_when_every_file_is_indexed_just_as_it_is() -> None:
    stats = [("a.md", 10, 5, 1), ("b.md", 11, 6, 1)]
    files = [FileEntry("a.md", 10, 5), FileEntry("b.md", 11, 6)]
    assert is_quiet(stats, files, synced_ns=SYNCED)
    assert is_quiet([], [], synced_ns=SYNCED)
    for other in (
        [*files, FileEntry("c.md", 1, 1)],
        files[:1],
        [files[0], FileEntry("b.md", 12, 6)],
        [files[0], FileEntry("b.md", 11, 7)],
        [files[0], FileEntry("c.md", 11, 6)],
    ):
        assert not is_quiet(stats, other, synced_ns=SYNCED)
    assert not is_quiet([stats[0], ("b.md", 11, 6, 0)], files, synced_ns=SYNCED)
    assert not is_quiet(stats, files, synced_ns=6 + RACY_NS)
