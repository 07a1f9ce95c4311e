"""The engines that take part, by the names that the results show."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.engines import Factory
    from benchmarks.options import Options

SETUP = {
    "firstlight": "one lexical segment in memory, defaults",
    "fts5": "tokenize='porter unicode61', one transaction, OR of quoted words, ORDER BY bm25(), in memory",
    "fts5 file": "the same, its database in a file",
    "tantivy": "en_stem, index in memory, tantivy-py's default writer (128 MB, threads as it likes)",
    "tantivy 1 thread": "the same with one writer thread",
    "bm25s": "its English stop words and the Snowball stemmer, default backend",
}


def engines(options: Options, folder: Path) -> dict[str, Factory]:
    """Return what makes each chosen engine; those that live in files make them in `folder`."""
    makers: dict[str, Factory] = {}
    if options.wants("fts5"):
        from benchmarks.engines.fts5 import Fts5

        makers |= {"fts5": Fts5, "fts5 file": lambda: Fts5(str(_fresh(folder / "fts5.db")))}
    if options.wants("tantivy"):
        from benchmarks.engines.tantivy_index import Tantivy

        makers |= {"tantivy": Tantivy, "tantivy 1 thread": lambda: Tantivy(threads=1)}
    if options.wants("bm25s"):
        from benchmarks.engines.bm25s_index import Bm25s

        makers["bm25s"] = Bm25s
    if options.wants("firstlight"):
        from benchmarks.engines.ours import Firstlight

        makers["firstlight"] = Firstlight
    return makers


def _fresh(path: Path) -> Path:
    path.unlink(missing_ok=True)
    return path
