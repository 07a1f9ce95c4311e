"""After any history of edits, deletes, renames and merges, answers equal a fresh build's, bit for bit."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight import Corpus
from firstlight.corpus import writer as writer_module
from firstlight.lexical import Index, build_segment, merge, parse_query
from firstlight.store import segments

QUESTIONS = ["alpha", "alpha beta", "gamma delta epsilon alpha", "zeta beta beta", "page title"]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]

steps = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "write", "delete", "rename", "sync", "sync", "rebuild"]),
        st.integers(0, 9),
        st.integers(0, 10**6),
    ),
    min_size=1,
    max_size=25,
)


def text(seed: int) -> str:
    dice = random.Random(seed)
    title = f"---\ntitle: page {dice.choice(WORDS)}\n---\n" if dice.random() < 0.5 else ""
    parts = dice.randint(1, 3)
    return title + "".join(
        f"# {dice.choice(WORDS)}\n\n{' '.join(dice.choices(WORDS, k=dice.choice([3, 40, 700])))}\n\n"
        for _ in range(parts)
    )


def take(step: tuple[str, int, int], root: Path, corpus: Corpus) -> None:
    what, number, seed = step
    file = root / f"{number}.md"
    if what == "write":
        file.write_text(text(seed % 40))
    elif what == "delete":
        file.unlink(missing_ok=True)
    elif what == "rename" and file.exists():
        file.replace(root / f"{seed % 10}.md")
    elif what in ("sync", "rebuild"):
        corpus.sync(rebuild=what == "rebuild")


def answers(corpus: Corpus) -> list[list[dict[str, Any]]]:
    return [[hit.to_dict() for hit in corpus.search(question, top_k=40)] for question in QUESTIONS]


def in_memory(corpus: Corpus) -> list[dict[int, float]]:
    """The same questions to a fresh segment in memory, by chunk."""
    from firstlight.corpus.check import read_indexables

    connection = sqlite3.connect(corpus.state / "corpus.db")
    items = read_indexables(connection, 0, 2**62)
    connection.close()
    index = Index([(build_segment(list(items), list(items.values())), None)])
    found = [index.search(parse_query(question), depth=1000) for question in QUESTIONS]
    return [dict(zip(each.ids.tolist(), each.scores.tolist(), strict=True)) for each in found]


def stored(corpus: Corpus) -> list[dict[int, float]]:
    from firstlight.store.segments import read_parts

    connection = sqlite3.connect(corpus.state / "corpus.db")
    parts = read_parts(connection, corpus.state)
    connection.close()
    index = Index([(part.segment, part.dead) for part in parts])
    found = [index.search(parse_query(question), depth=1000) for question in QUESTIONS]
    return [dict(zip(each.ids.tolist(), each.scores.tolist(), strict=True)) for each in found]


@settings(max_examples=15)
@given(steps=steps, files=st.booleans())
def test_any_history_ends_like_a_fresh_build(steps: list[tuple[str, int, int]], files: bool) -> None:
    before = merge.MOST_SEGMENTS, segments.FILE_BYTES, writer_module.BATCH_CHARACTERS
    merge.MOST_SEGMENTS = 3
    writer_module.BATCH_CHARACTERS = 3000
    if files:
        segments.FILE_BYTES = 1
    try:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "docs"
            root.mkdir()
            with Corpus.open(root, state=Path(folder) / "old") as corpus:
                for step in steps:
                    take(step, root, corpus)
                corpus.sync()
                assert corpus.verify().findings == ()
                after = answers(corpus)
                assert stored(corpus) == in_memory(corpus)
            with Corpus.open(root, state=Path(folder) / "new") as corpus:
                corpus.sync()
                assert answers(corpus) == after
    finally:
        merge.MOST_SEGMENTS, segments.FILE_BYTES, writer_module.BATCH_CHARACTERS = before
