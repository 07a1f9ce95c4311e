"""Small random folders, edited at random: every answer is held to what a slow look at the rows says."""

from __future__ import annotations

import random
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

import pytest

from firstlight.rank.filters import matches, parse_filter
from firstlight.store.payload import load_payload

if TYPE_CHECKING:
    from firstlight import Corpus
    from firstlight.rank.types import Hit

    from .conftest import Docs

WORDS = ["alpha", "beta", "gamma", "delta", "node", "pod", "zeta"]
FILTERS = [
    None,
    "level = 1",
    "level > 1",
    "not level = 1",
    "area exists and not area = ai",
    "level exists or area = ai",
    "path > f3.md",
]
SIZES = {"chunks": {"min_tokens": 16, "max_tokens": 60}}


class Row(NamedTuple):
    path: str
    start: int
    end: int
    text: str
    fields: dict[str, object]


class Asked(NamedTuple):
    query: str
    phrase: list[str]
    where: str | None
    per_document: int | None

    def hits(self, corpus: Corpus, top_k: int = 500) -> list[Hit]:
        return list(corpus.search(self.query, top_k=top_k, where=self.where, per_document=self.per_document))


def ask(dice: random.Random) -> Asked:
    phrase = dice.choices(WORDS, k=2) if dice.random() < 0.3 else []
    quoted = f'"{" ".join(phrase)}" ' if phrase else ""
    words = " ".join(dice.choices(WORDS, k=dice.randint(1, 4)))
    return Asked(quoted + words, phrase, dice.choice(FILTERS), dice.choice([None, None, 1, 2]))


def write_some(docs: Docs, dice: random.Random, pool: list[str], count: int) -> None:
    for number in dice.sample(range(14), count):
        path = f"{'x/' if number % 2 else ''}f{number}.md"
        if dice.random() < 0.2:
            (docs.root / path).unlink(missing_ok=True)
            continue
        level = dice.choice(["", "level: 1\n", "level: 2\n", "level: [1, 3]\n"])
        area = dice.choice(["", "area: ai\n", "area: edge\n"])
        text = dice.choice(pool) if dice.random() < 0.4 else body(dice)
        docs.write(path, f"---\nany: 1\n{level}{area}---\n{text}\n")


def body(dice: random.Random) -> str:
    lengths = [dice.choice([1, 3, 8, 200]) for _ in range(dice.choice([1, 1, 2, 4]))]
    return "\n\n".join(" ".join(dice.choices(WORDS, k=length)) for length in lengths)


def rows_of(corpus: Corpus) -> list[Row]:
    connection = sqlite3.connect(corpus.state / "corpus.db")
    rows = connection.execute(
        'SELECT d.path, c.start, c."end", c.text, d.payload FROM chunks c '
        "JOIN documents d ON d.id = c.document"
    ).fetchall()
    connection.close()
    return [
        Row(path, start, end, text, {**load_payload(payload), "path": path})
        for path, start, end, text, payload in rows
    ]


def says(text: str, asked: Asked) -> bool:
    found = text.split()
    pairs = [found[at : at + 2] for at in range(len(found))]
    return not set(found).isdisjoint(asked.query.replace('"', " ").split()) and (
        not asked.phrase or asked.phrase in pairs
    )


def shared(row: Row, hit: Hit) -> bool:
    return row.path == hit.path and max(row.start, hit.start) < min(row.end, hit.end)


def check(hits: list[Hit], asked: Asked, rows: list[Row]) -> None:
    where = None if asked.where is None else parse_filter(asked.where)
    allowed = [row for row in rows if where is None or matches(where, row.fields)]
    wanted = [row for row in allowed if says(row.text, asked)]
    assert {(hit.path, hit.start, hit.text) for hit in hits} <= {
        (row.path, row.start, row.text) for row in wanted
    }
    assert [(-hit.score, hit.path, hit.start) for hit in hits] == sorted(
        (-hit.score, hit.path, hit.start) for hit in hits
    )
    for hit in hits:
        assert set(hit.also_in) == {
            row.path for row in allowed if row.text == hit.text and row.path != hit.path
        }
    paths = [hit.path for hit in hits]
    if asked.per_document is not None:
        assert all(paths.count(path) <= asked.per_document for path in paths)
        return
    for row in wanted:  # it is a hit, or one has its text or some of it
        assert any(row.text == hit.text or shared(row, hit) for hit in hits), row


@pytest.mark.parametrize("seed", range(8))
def test_every_answer_is_what_a_slow_look_at_the_rows_says(docs: Docs, seed: int) -> None:
    dice = random.Random(seed)
    pool = [body(dice) for _ in range(4)]
    docs.write(
        "all.md", "---\nlevel: 9\narea: all\n---\nIt has every field, so that each can be asked about.\n"
    )
    with (
        docs.open(config=SIZES) as corpus,
        docs.open(config=SIZES, state=docs.root.with_name("fresh")) as fresh,
    ):
        for count in (14, 3, 3, 3):
            write_some(docs, dice, pool, count)
            corpus.sync()
        fresh.sync()
        assert corpus.verify().ok
        rows = rows_of(corpus)
        for _ in range(15):
            asked = ask(dice)
            hits = asked.hits(corpus)
            check(hits, asked, rows)
            assert [hit.to_dict() for hit in asked.hits(fresh)] == [hit.to_dict() for hit in hits]
            for top_k in (1, 2, 3, 5):
                assert asked.hits(corpus, top_k) == hits[:top_k]
