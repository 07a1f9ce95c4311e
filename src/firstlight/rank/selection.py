"""Which candidates become hits: no passage twice, and no document more often than asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from firstlight.rank.types import Candidate

    Span: TypeAlias = tuple[int, int]
    Adds: TypeAlias = Callable[[Candidate, Sequence[Span]], bool]

_MOSTLY = 0.5  # more of its characters than this in one higher hit, and a passage says little that is new


def select(
    candidates: Iterable[Candidate],
    *,
    top_k: int,
    per_document: int | None = None,
    adds: Adds | None = None,
) -> list[Candidate]:
    """Return the first `top_k` candidates worth showing, in their order.

    A candidate is passed over when more than half of it lies in a kept one of its document, when a kept one
    has the same text, when its document has `per_document` kept ones already, or when it overlaps kept ones
    of its document and `adds` nothing to them. What is kept depends on higher candidates only: the first 5 of
    50 are the 5 of 5. After the last one that is kept nothing is read.

    Args:
        candidates: In rank order.
        top_k: How many to return at most, 1 or more.
        per_document: How many of one document at most, 1 or more; None for no bound.
        adds: Tells whether a candidate says anything outside the ranges of the kept ones that it overlaps;
            asked last, and of no others.

    Raises:
        ValueError: A bound is below 1.
    """
    if top_k < 1:
        raise ValueError(f"top_k must be 1 or more, not {top_k}")
    if per_document is not None and per_document < 1:
        raise ValueError(f"per_document must be 1 or more, or None, not {per_document}")
    kept: list[Candidate] = []
    by_document: dict[int, list[Candidate]] = {}
    texts: set[bytes] = set()
    for candidate in candidates:
        siblings = by_document.setdefault(candidate.document, [])
        full = per_document is not None and len(siblings) >= per_document
        if full or candidate.content_hash in texts or _mostly_covered(candidate, siblings):
            continue
        if adds is not None and (spans := _overlapped(candidate, siblings)) and not adds(candidate, spans):
            continue
        kept.append(candidate)
        if len(kept) == top_k:
            break
        siblings.append(candidate)
        texts.add(candidate.content_hash)
    return kept


def _mostly_covered(candidate: Candidate, kept: Sequence[Candidate]) -> bool:
    enough = _MOSTLY * (candidate.end - candidate.start)
    return any(min(candidate.end, hit.end) - max(candidate.start, hit.start) > enough for hit in kept)


def _overlapped(candidate: Candidate, kept: Sequence[Candidate]) -> list[Span]:
    """Return the ranges of the kept ones that share a character with `candidate`."""
    return [
        (hit.start, hit.end) for hit in kept if max(hit.start, candidate.start) < min(hit.end, candidate.end)
    ]
