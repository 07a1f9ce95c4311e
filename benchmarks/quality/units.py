"""What is indexed of a collection: whole documents, or the chunks of its files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchmarks import testsets
from firstlight.lexical.types import Indexable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEVERAL = 10  # chunks asked for, for each document wanted


@dataclass(frozen=True, slots=True)
class Units:
    """Texts to index, and the document that each belongs to."""

    items: tuple[Indexable, ...]
    owners: tuple[str, ...]
    per_document: bool

    def texts(self) -> list[str]:
        """What a peer indexes, which knows no fields: title, headings and text in one."""
        return ["\n".join(filter(None, (item.title, *item.headings, item.body))) for item in self.items]

    def rank(self, search: Callable[[int], list[int]], depth: int = 10) -> list[str]:
        """Return the best documents, each standing where its best unit stands."""
        wanted = depth if self.per_document else depth * SEVERAL
        return list(dict.fromkeys(self.owners[position] for position in search(wanted)))[:depth]


@cache
def documents(name: str) -> Units:
    """Whole documents, without front matter."""
    sources = testsets.load(name).documents
    items = tuple(Indexable(testsets.FRONT_MATTER.sub("", source.text), source.title) for source in sources)
    return Units(items, tuple(source.id for source in sources), per_document=True)


@cache
def chunks(name: str) -> Units:
    """The chunks that firstlight cuts a collection's files into."""
    pairs = [pair for source in testsets.load(name).documents for pair in _chunks(source)]
    return Units(tuple(item for item, _ in pairs), tuple(owner for _, owner in pairs), per_document=False)


def _chunks(source: testsets.Source) -> Iterator[tuple[Indexable, str]]:
    from firstlight.text import chunk_document, parse_document

    document = parse_document(source.id, source.text)
    stem = PurePosixPath(source.id).stem
    for chunk in chunk_document(document):
        yield Indexable(chunk.text, document.title, chunk.headings, stem), source.id
