"""Judged questions -> how well each mode ranks, whether they differ, and which fusion weight is best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.evaluate.golden import Golden, read_golden
    from firstlight.evaluate.qrels import read_judgements, read_questions
    from firstlight.evaluate.report import Report, Tuning
    from firstlight.evaluate.run import evaluate
    from firstlight.evaluate.settings import save_weight
    from firstlight.evaluate.testset import document_paths, make_test_set
    from firstlight.evaluate.tune import tune_weight
    from firstlight.evaluate.types import TestSet

__all__ = [
    "Golden",
    "Report",
    "TestSet",
    "Tuning",
    "document_paths",
    "evaluate",
    "make_test_set",
    "read_golden",
    "read_judgements",
    "read_questions",
    "save_weight",
    "tune_weight",
]

__getattr__ = lazy(
    __name__,
    {
        "golden": ("Golden", "read_golden"),
        "qrels": ("read_judgements", "read_questions"),
        "report": ("Report", "Tuning"),
        "run": ("evaluate",),
        "settings": ("save_weight",),
        "testset": ("document_paths", "make_test_set"),
        "tune": ("tune_weight",),
        "types": ("TestSet",),
    },
)
