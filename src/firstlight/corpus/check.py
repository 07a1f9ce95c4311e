"""The checks behind `verify`: each yields what it finds, in one read transaction."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.corpus.prepare import content_hash, tags_of
from firstlight.corpus.reports import Finding
from firstlight.errors import StoreError
from firstlight.lexical import Indexable, build_segment, merge_segments
from firstlight.store.checksums import checksum
from firstlight.store.documents import DocumentRow
from firstlight.store.embedders import unsound_embedders
from firstlight.store.outline import load_outline
from firstlight.store.payload import load_payload
from firstlight.store.segments import read_parts, read_sizes
from firstlight.store.vectors import check_vectors
from firstlight.text.titles import file_stem

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from firstlight.store.segments import Part

# Chunks that are read, compared or indexed anew at a time; bounds the memory.
PORTION = 8192


class Fault(NamedTuple):
    """A finding, and how bad it is: `kind` is "missing", "orphaned" or "different"."""

    kind: str
    finding: Finding


@contextmanager
def lenient(connection: sqlite3.Connection) -> Iterator[None]:
    """Read texts that are not UTF-8 any more as something else, which their checksum tells."""
    connection.text_factory = lambda data: data.decode(errors="backslashreplace")
    try:
        yield
    finally:
        connection.text_factory = str


def check_database(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Let SQLite check its file."""
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield Fault("different", Finding("database", "corpus.db", "", message))


def check_rows(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Compare the manifest with the chunks, and each chunk with its hash."""
    rows = connection.execute(
        "SELECT d.id, d.path, d.chunks, count(c.id), coalesce(max(c.position) + 1, 0) FROM documents d "
        "LEFT JOIN chunks c ON c.document = d.id GROUP BY d.id"
    )
    incomplete = set()
    for number, path, expected, found, highest in rows:
        if found == expected == highest:
            continue
        incomplete.add(number)
        if found < expected:
            reason = f"has {found} of {expected} chunks"
            yield Fault("missing", Finding("document", str(number), str(path), reason))
        else:
            reason = f"has {found} chunks up to {highest}, not {expected}"
            yield Fault("different", Finding("document", str(number), str(path), reason))
    orphans = connection.execute("SELECT id FROM chunks WHERE document NOT IN (SELECT id FROM documents)")
    for (number,) in orphans:
        yield Fault("orphaned", Finding("chunk", str(number), "", "its document is gone"))
    texts = connection.execute(
        "SELECT c.id, d.path, c.content_hash, c.text FROM chunks c JOIN documents d ON d.id = c.document"
    )
    for number, path, expected, text in texts:
        if content_hash(str(text)) != expected:
            yield Fault(
                "different", Finding("chunk", str(number), str(path), "its text is not what its hash says")
            )
    yield from _check_checksums(connection, incomplete)


def _check_checksums(connection: sqlite3.Connection, incomplete: Collection[int]) -> Iterator[Fault]:
    """Compare the rows of each complete document with the checksum that they were written with."""
    chunks = connection.execute(
        'SELECT id, document, position, start, "end", line_start, line_end, content_hash, '
        "input_hash, headings "
        "FROM chunks WHERE document IN (SELECT id FROM documents) ORDER BY document, position"
    )
    grouped = groupby(chunks, key=itemgetter(1))
    owner, rows = next(grouped, (None, iter(())))
    for document in map(DocumentRow._make, connection.execute("SELECT * FROM documents ORDER BY id")):
        mine = rows if owner == document.id else ()
        if document.id not in incomplete and checksum(document, mine) != document.checksum:
            reason = "its rows are not as they were written"
            yield Fault("different", Finding("rows", str(document.id), str(document.path), reason))
        if owner == document.id:
            owner, rows = next(grouped, (None, iter(())))


def check_postings(connection: sqlite3.Connection, folder: Path) -> Iterator[Fault]:
    """Compare the segments with the chunks: each in exactly one, under its document, with its own words."""
    owners: dict[int, int] = dict(connection.execute("SELECT id, document FROM chunks"))
    paths = {number: str(path) for number, path in connection.execute("SELECT id, path FROM documents")}
    unseen = dict(owners)
    for size in read_sizes(connection):
        try:
            (part,) = read_parts(connection, folder, only=[size.id], check=True)
        except (StoreError, TypeError, ValueError) as error:
            yield Fault("different", Finding("segment", str(size.id), "", str(error)))
            continue
        alive = _alive(part)
        for chunk, document in zip(
            part.segment.ids[alive].tolist(), part.documents[alive].tolist(), strict=True
        ):
            path = paths.get(owners.get(chunk, -1), "")
            if unseen.pop(chunk, None) is None:
                reason = "indexed twice" if chunk in owners else "there is no such chunk"
                yield Fault("orphaned", Finding("posting", str(chunk), path, reason))
            elif owners[chunk] != document:
                yield Fault("different", Finding("posting", str(chunk), path, "under another document"))
        for chunk in _different(connection, part, owners):
            path = paths.get(owners[chunk], "")
            yield Fault("different", Finding("posting", str(chunk), path, "not what its text gives"))
    for chunk, document in unseen.items():
        yield Fault("missing", Finding("posting", str(chunk), paths.get(document, ""), "not indexed"))


def check_embedded(connection: sqlite3.Connection) -> Iterator[Fault]:
    """Check the embedders, and compare the vectors with the chunks: each of one's very text, and sound."""
    paths = dict(
        connection.execute("SELECT c.id, d.path FROM chunks c JOIN documents d ON d.id = c.document")
    )
    for number in unsound_embedders(connection):
        yield Fault(
            "different", Finding("embedder", str(number), "", "its row is damaged, or was never ours")
        )
    for problem in check_vectors(connection):
        path = str(paths.get(problem.chunk, ""))
        yield Fault(problem.kind, Finding("vector", str(problem.row), path, problem.reason))


def read_indexables(connection: sqlite3.Connection, first: int, last: int) -> dict[int, Indexable]:
    """Return what is indexed of the chunks whose ids lie from `first` to `last`, by id.

    Chunks whose rows cannot be read are left out; their checksum tells on them.
    """
    rows = connection.execute(
        "SELECT c.id, c.text, c.headings, d.path, d.title, d.language, d.payload FROM chunks c "
        "JOIN documents d ON d.id = c.document WHERE c.id BETWEEN ? AND ? ORDER BY c.id",
        (first, last),
    )
    tags = cache(lambda payload: tags_of(load_payload(payload)))  # chunks of one document ask for the same
    items = {}
    for number, text, headings, path, title, language, payload in rows:
        with suppress(AttributeError, TypeError, ValueError):
            path_above = load_outline(headings).headings
            items[number] = Indexable(text, title, path_above, file_stem(path), tags(payload), language)
    return items


def _alive(part: Part) -> NDArray[np.bool_]:
    return np.ones(len(part.segment), np.bool_) if part.dead is None else ~part.dead


def _different(connection: sqlite3.Connection, part: Part, owners: Mapping[int, int]) -> Iterator[int]:
    """Yield the chunks whose postings are not the ones that a fresh build gives."""
    alive = _alive(part)
    ids = [chunk for chunk in part.segment.ids[alive].tolist() if chunk in owners]
    for begin in range(0, len(ids), PORTION):
        some = ids[begin : begin + PORTION]
        items = read_indexables(connection, some[0], some[-1])
        yield from _culprits(part, [chunk for chunk in some if chunk in items], items)


def _culprits(part: Part, ids: Sequence[int], items: Mapping[int, Indexable]) -> Iterator[int]:
    """Halve what differs until single chunks are left."""
    if not ids or _agree(part, ids, items):
        return
    if len(ids) == 1:
        yield ids[0]
        return
    middle = len(ids) // 2
    yield from _culprits(part, ids[:middle], items)
    yield from _culprits(part, ids[middle:], items)


def _agree(part: Part, ids: Sequence[int], items: Mapping[int, Indexable]) -> bool:
    stored = merge_segments([(part.segment, ~np.isin(part.segment.ids, ids))])
    return stored.to_bytes() == build_segment(ids, [items[chunk] for chunk in ids]).to_bytes()
