"""Chunks -> tokens -> postings -> BM25 scores; segments live in memory or in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.lexical.analysis import ANALYSIS_VERSION, words
    from firstlight.lexical.build import SegmentBuilder, build_segment
    from firstlight.lexical.direct import score_texts
    from firstlight.lexical.index import Index, Ranked
    from firstlight.lexical.languages import detect_language
    from firstlight.lexical.merge import merge_segments, plan_merge
    from firstlight.lexical.phrases import contains_phrases
    from firstlight.lexical.query import parse_query
    from firstlight.lexical.segment import Segment
    from firstlight.lexical.types import Indexable, Phrase, Query, QueryTerm, Word

__all__ = [
    "ANALYSIS_VERSION",
    "Index",
    "Indexable",
    "Phrase",
    "Query",
    "QueryTerm",
    "Ranked",
    "Segment",
    "SegmentBuilder",
    "Word",
    "build_segment",
    "contains_phrases",
    "detect_language",
    "merge_segments",
    "parse_query",
    "plan_merge",
    "score_texts",
    "words",
]

__getattr__ = lazy(
    __name__,
    {
        "analysis": ("ANALYSIS_VERSION", "words"),
        "build": ("SegmentBuilder", "build_segment"),
        "direct": ("score_texts",),
        "index": ("Index", "Ranked"),
        "languages": ("detect_language",),
        "merge": ("merge_segments", "plan_merge"),
        "phrases": ("contains_phrases",),
        "query": ("parse_query",),
        "segment": ("Segment",),
        "types": ("Indexable", "Phrase", "Query", "QueryTerm", "Word"),
    },
)
