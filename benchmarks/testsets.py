"""The labelled collections: documents, questions and judgements."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from benchmarks import places

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAMES = ("scifact_train", "cranfield", "xquad_en", "xquad_zh", "xquad_th", "md_knownitem_eips")

# The questions of the known-item set were made from this field, so nobody may index it.
DESCRIPTION = re.compile(r"^description:.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A document of a collection: `text` is a file's whole text where the collection is a folder of files."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class TestSet:
    """A labelled collection; `qrels` holds the positive judgements of each judged question."""

    name: str
    documents: tuple[Source, ...]
    questions: Mapping[str, str]
    qrels: Mapping[str, Mapping[str, int]]
    files: bool = False


@cache
def load(name: str) -> TestSet:
    """Load one of NAMES from the data pack."""
    folder = places.data() / "ir" / name
    files = name == "md_knownitem_eips"
    documents = _eips(places.data() / "md" / "eips") if files else _rows(folder / "corpus.jsonl")
    qrels = _judgements(folder / "qrels.tsv")
    questions = {
        row["id"]: row["text"] for row in _json_lines(folder / "queries.jsonl") if row["id"] in qrels
    }
    return TestSet(name, tuple(documents), questions, qrels, files)


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        question, document, relevance = line.split("\t")
        if int(relevance) > 0:
            qrels[question][document] = int(relevance)
    return dict(qrels)


def _rows(path: Path) -> Iterator[Source]:
    for row in _json_lines(path):
        yield Source(row["id"], row.get("title", ""), row["text"])


def _eips(root: Path) -> Iterator[Source]:
    for path in sorted((root / "EIPS").rglob("*.md")):
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        front = FRONT_MATTER.match(text)
        if front:
            text = DESCRIPTION.sub("", front[0], count=1) + text[front.end() :]
        title = re.search(r"^title: *(.*)$", text, re.MULTILINE)
        yield Source(path.relative_to(root).as_posix(), title[1].strip("'\" ") if title else path.stem, text)


def _json_lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
