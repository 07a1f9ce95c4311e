"""The words of the rank floor: a candidate, a hit and the results of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from firstlight.rank.json import plain, rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN = 3  # hits in the repr of results


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that matched, in rank order, before the cut at k."""

    chunk: int
    document: int
    path: str
    start: int
    end: int
    content_hash: bytes
    score: float


@dataclass(frozen=True, slots=True)
class Snippet:
    """The part of a hit's text worth showing.

    Attributes:
        text: The window itself, `hit.text[start:start + len(text)]`.
        start: Its offset in the hit's text.
        highlights: Spans of matched words within `text`, as (start, end), in order.
    """

    text: str
    start: int
    highlights: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage that answers. Offsets are code points of the decoded document, lines count from 1.

    `headings` is the heading path over the snippet's first match, outermost first; without a match in its
    text, it is that of the passage's first block.
    """

    rank: int
    id: str
    path: str
    title: str
    headings: tuple[str, ...]
    start: int
    end: int
    line_start: int
    line_end: int
    text: str
    snippet: str
    score: float
    scores: Mapping[str, float]
    matched: tuple[str, ...]
    unmatched: tuple[str, ...]
    payload: Mapping[str, Any]
    stale: bool = False
    also_in: tuple[str, ...] = ()
    highlights: tuple[tuple[int, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the hit in its one JSON shape.

        Scores are rounded to 6 decimals; dates of the payload become ISO strings, and what JSON cannot say
        (NaN, infinity) null. `highlights` serve rendering here, and are not part of the shape.
        """
        return {
            "rank": self.rank,
            "id": self.id,
            "path": self.path,
            "title": self.title,
            "headings": list(self.headings),
            "start": self.start,
            "end": self.end,
            "line_start": self.line_start,
            "line_end": self.line_end,
            "text": self.text,
            "snippet": self.snippet,
            "score": rounded(self.score),
            "scores": {name: rounded(score) for name, score in self.scores.items()},
            "matched": list(self.matched),
            "unmatched": list(self.unmatched),
            "payload": {str(name): plain(value) for name, value in self.payload.items()},
            "stale": self.stale,
            "also_in": list(self.also_in),
        }


@dataclass(frozen=True, slots=True)
class Results(Sequence[Hit]):
    """The hits of one search, best first, and what was done to find them.

    Attributes:
        mode: `bm25`, `hybrid`, `partial` or `vector`: what was used.
        embedded: How many chunks have a vector; `total` is how many there are.
        model: The embedding model, or None.
        generation: The state of the index that was searched.
        reason: Why this mode, in one line.
    """

    query: str
    mode: str
    embedded: int
    total: int
    model: str | None
    generation: int
    reason: str
    hits: tuple[Hit, ...] = field(default=())

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __repr__(self) -> str:
        shown = [f"{hit.path}:{hit.line_start} {hit.score:.3f}" for hit in self.hits[:_SHOWN]]
        if len(self.hits) > _SHOWN:
            shown.append(f"{len(self.hits) - _SHOWN} more")
        count = f"{len(self.hits)} hit{'' if len(self.hits) == 1 else 's'}"
        return f"<Results {self.query!r} {self.mode}: {count}{': ' if shown else ''}{', '.join(shown)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the results in their one JSON shape, which `json.dumps(..., allow_nan=False)` takes."""
        return {
            "query": self.query,
            "mode": self.mode,
            "embedded": self.embedded,
            "total": self.total,
            "model": self.model,
            "generation": self.generation,
            "reason": self.reason,
            "hits": [hit.to_dict() for hit in self.hits],
        }
