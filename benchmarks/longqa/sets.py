"""Long documents, questions about each, and the spans of text that answer them."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks import places
from firstlight.text.tokens import est_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    Span: TypeAlias = tuple[int, int]

NAMES = ("chroma_chunking_eval", "covidqa")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one document, and where that answers it: (start, end) in its text."""

    document: str
    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class LongSet:
    """Documents by name, and the questions that have an answer in one of them."""

    name: str
    documents: Mapping[str, str]
    questions: tuple[Question, ...]


@cache
def load(name: str) -> LongSet:
    """Load one of NAMES from the data pack."""
    folder = places.data() / "longqa" / name
    documents = dict(_rows(folder / "docs.jsonl") if (folder / "docs.jsonl").exists() else _files(folder))
    spans: dict[str, list[Span]] = defaultdict(list)
    for row in _json_lines(folder / "evidence.jsonl"):
        start, end = row["start"], row["end"]
        assert documents[row["doc_id"]][start:end] == row["text"], f"{name}: {row['qid']} is elsewhere"
        spans[row["qid"]].append((start, end))
    questions = tuple(
        Question(row["doc_id"], row["text"], tuple(spans[row["id"]]))
        for row in _json_lines(folder / "queries.jsonl")
        if row["id"] in spans
    )
    return LongSet(name, documents, questions)


def shortest(loaded: LongSet, *, above: int, count: int = 3) -> LongSet:
    """Return the set with a few documents of more than so many estimated tokens, for a quick run."""
    sizes = {name: est_tokens(text) for name, text in loaded.documents.items()}
    kept = sorted((name for name, size in sizes.items() if size > above), key=lambda name: sizes[name])[
        :count
    ]
    return LongSet(
        loaded.name,
        {name: loaded.documents[name] for name in kept},
        tuple(question for question in loaded.questions if question.document in kept),
    )


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    for row in _json_lines(path):
        yield row["id"], row["text"]


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((folder / "files").iterdir()):
        with path.open(encoding="utf-8", newline="") as file:  # offsets count what is there
            yield path.stem, file.read()


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
