"""Who takes part in the comparison of quality, in which set-up, and their rankings."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchmarks import machine, places, testsets

if TYPE_CHECKING:
    from benchmarks.engines import Engine, Factory
    from benchmarks.quality import units

    Rankings = dict[str, list[str]]

OURS = "firstlight"
WITHOUT_SPACES = ("xquad_zh", "xquad_th")


@dataclass(frozen=True, slots=True)
class Contender:
    """A peer in one set-up; a peer counts with the best of its set-ups on each collection."""

    peer: str
    setup: str
    version: str
    factory: Factory


def peers(name: str) -> list[Contender]:
    """Return the peers' set-ups for a collection: their defaults, and what suits its script."""
    from benchmarks.engines.bm25s_index import CHARACTERS, Bm25s
    from benchmarks.engines.fts5 import TRIGRAM, Fts5
    from benchmarks.engines.tantivy_index import Tantivy

    bm25s, tantivy = machine.package_version("bm25s"), machine.package_version("tantivy")
    sqlite = sqlite3.sqlite_version
    listed = [Contender("fts5", "porter", sqlite, Fts5), Contender("tantivy", "en_stem", tantivy, Tantivy)]
    if name not in WITHOUT_SPACES:
        return [Contender("bm25s", "English stemmer and stop words", bm25s, Bm25s), *listed]
    return [
        Contender("bm25s", "default pattern", bm25s, lambda: Bm25s(english=False)),
        Contender("bm25s", "characters", bm25s, lambda: Bm25s(english=False, pattern=CHARACTERS)),
        *listed,
        Contender("fts5", "trigram", sqlite, lambda: Fts5(tokenizer=TRIGRAM)),
        Contender("tantivy", "bigrams", tantivy, lambda: Tantivy(ngrams=True)),
    ]


def rank_peer(contender: Contender, name: str, indexed: units.Units) -> Rankings:
    """Return a peer's ranking of every question, kept for the next run of the same versions and texts."""
    texts = indexed.texts()
    parts = (contender.peer, contender.setup, contender.version, name, *texts)
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    kept = places.scratch("rankings") / f"{name}-{contender.peer}-{key}.json"
    if kept.exists():
        stored: Rankings = json.loads(kept.read_text(encoding="utf-8"))
        return stored
    engine = contender.factory()
    engine.build(texts)
    rankings = _rank(engine, name, indexed)
    engine.close()
    kept.write_text(json.dumps(rankings), encoding="utf-8")
    return rankings


def rank_ours(name: str, indexed: units.Units) -> Rankings:
    """Return firstlight's ranking of every question."""
    from benchmarks.engines.ours import Firstlight

    engine = Firstlight()
    engine.build_items(indexed.items)
    return _rank(engine, name, indexed)


def _rank(engine: Engine, name: str, indexed: units.Units) -> Rankings:
    questions = testsets.load(name).questions
    return {id_: indexed.rank(partial(engine.search, question)) for id_, question in questions.items()}
