"""Digests as the cache stores them: without the passages' text, which the document has."""

from __future__ import annotations

import json
from dataclasses import replace

from firstlight.digest.types import Citation, Digest, Passage

__all__ = ["read", "written"]


def written(digest: Digest) -> str:
    """Return a digest as JSON; its passages are in the document, so that offsets will do."""
    passages = [
        [
            each.number,
            each.start,
            each.end,
            each.line_start,
            each.line_end,
            each.page,
            each.score,
            each.page_end,
        ]
        for each in digest.passages
    ]
    citations = [
        [each.number, each.start, each.end, each.answer_start, each.answer_end] for each in digest.citations
    ]
    return json.dumps(
        {
            "text": digest.text,
            "retrieval": digest.retrieval,
            "embedded": digest.embedded,
            "total": digest.total,
            "model": digest.model,
            "llm": digest.llm,
            "reason": digest.reason,
            "removed": digest.removed,
            "passages": passages,
            "citations": citations,
        },
        separators=(",", ":"),
    )


def read(body: str, text: str) -> Digest:
    """Return the digest of the document with that text; any error says that `body` is damaged."""
    stored = json.loads(body)
    passages = tuple(
        Passage(
            number=number,
            start=start,
            end=end,
            line_start=line_start,
            line_end=line_end,
            page=page,
            text=text[start:end],
            score=score,
            page_end=page_end,
        )
        for number, start, end, line_start, line_end, page, score, page_end in stored.pop("passages")
    )
    citations = tuple(Citation(*fields) for fields in stored.pop("citations"))
    digest = Digest(**stored, passages=passages, citations=citations, provisional=False)
    return replace(digest, reason=f"answered before: {digest.reason}", retrieval="cached")
