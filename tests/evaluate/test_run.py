from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from firstlight.corpus.reports import Status
from firstlight.errors import ConfigError
from firstlight.evaluate import TestSet, evaluate
from firstlight.rank.quality import ranked_documents
from firstlight.rank.types import Results

from .conftest import Answering, hit

if TYPE_CHECKING:
    from collections.abc import Sequence


def better_with_vectors(question: str, mode: str, weight: float | None) -> Sequence[str]:
    """Put what is asked for first, but for bm25, which puts it second."""
    name = question.removeprefix("about ")
    return ("other.md", f"{name}.md") if mode == "bm25" else (f"{name}.md", "other.md")


def test_each_mode_is_scored_and_compared_with_bm25(forty: TestSet) -> None:
    told: list[tuple[str, int, int]] = []
    report = evaluate(Answering(better_with_vectors), forty, progress=lambda *step: told.append(step))
    assert [scores.mode for scores in report.modes] == ["bm25", "hybrid", "vector"]
    assert [scores.ndcg for scores in report.modes] == pytest.approx([0.6309, 1, 1], abs=1e-4)
    assert [scores.recall for scores in report.modes] == [1, 1, 1]
    assert [scores.mrr for scores in report.modes] == [0.5, 1, 1]
    assert [(each.name, each.base, each.better) for each in report.comparisons] == [
        ("hybrid", "bm25", 40),
        ("vector", "bm25", 40),
    ]
    assert (report.questions, report.judgements) == (40, 40)
    assert report.not_evaluated == ()
    assert told[39] == ("bm25", 40, 40)
    assert told[-1] == ("vector", 40, 40)


def test_without_bm25_the_first_mode_is_the_base(forty: TestSet) -> None:
    report = evaluate(Answering(better_with_vectors), forty, modes=("vector", "hybrid", "vector"))
    assert [(each.name, each.base) for each in report.comparisons] == [("hybrid", "vector")]


def test_the_report_is_json(forty: TestSet) -> None:
    report = evaluate(Answering(better_with_vectors), forty).to_dict()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["modes"][1]["ndcg@10"] == 1.0
    assert report["by_question"][0] == {
        "id": "q0", "ndcg@10": {"bm25": 0.63093, "hybrid": 1.0, "vector": 1.0}
    }  # fmt: skip
    assert report["comparisons"][0]["verdict"].startswith("hybrid is better than bm25 by 0.369")


def test_without_an_embedder_other_modes_are_told_not_scored(forty: TestSet) -> None:
    corpus = Answering(better_with_vectors, status_now=Status(chunks=4))
    report = evaluate(corpus, forty)
    assert [scores.mode for scores in report.modes] == ["bm25"]
    assert [missing.mode for missing in report.not_evaluated] == ["hybrid", "vector"]
    assert report.not_evaluated[0].reason.startswith("there is no embedder: pip install 'firstlight[local]'")
    with pytest.raises(ConfigError, match="hybrid cannot be evaluated: there is no embedder"):
        evaluate(corpus, forty, modes=["hybrid"])


def test_vectors_of_another_embedder_are_told_with_the_way_out(forty: TestSet) -> None:
    report = evaluate(Answering(better_with_vectors, foreign="`firstlight migrate --to local`"), forty)
    assert report.not_evaluated[0] == ("hybrid", "`firstlight migrate --to local`")


def test_a_partly_embedded_corpus_is_told_not_scored(forty: TestSet) -> None:
    partial = Answering(better_with_vectors, status_now=Status(chunks=90, embedded=30, queue=58, model="m"))
    report = evaluate(partial, forty)
    assert [scores.mode for scores in report.modes] == ["bm25"]
    assert report.not_evaluated[0].reason == (
        "only 30 of 90 chunks are embedded; `firstlight sync --embed` embeds the rest"
    )
    whole = Answering(
        better_with_vectors, status_now=Status(chunks=90, embedded=8, failed=2, foreign=80, model="m")
    )
    assert evaluate(whole, forty).not_evaluated == ()


def test_questions_that_are_answered_in_another_mode_are_counted(forty: TestSet) -> None:
    corpus = Answering(better_with_vectors, used=lambda asked, mode: "bm25" if asked.endswith("7") else mode)
    scores = evaluate(corpus, forty).modes[1]
    assert (scores.fallbacks, scores.reason) == ({"bm25": 4}, "as told")
    assert [question for question, mode, _ in corpus.asked if mode == "hybrid"].count("about q7") == 2


def test_a_mode_that_answers_no_question_is_not_scored(forty: TestSet) -> None:
    report = evaluate(Answering(better_with_vectors, used=lambda asked, mode: "bm25"), forty)
    assert [scores.mode for scores in report.modes] == ["bm25"]
    assert report.not_evaluated[1] == ("vector", "no question was answered so: as told")


@pytest.mark.parametrize("modes", [["bm25", "auto"], []])
def test_unknown_modes_are_refused(forty: TestSet, modes: list[str]) -> None:
    with pytest.raises(ConfigError, match="cannot be evaluated; there are bm25, hybrid, vector"):
        evaluate(Answering(better_with_vectors), forty, modes=modes)


def test_documents_with_the_same_passage_follow_its_hit() -> None:
    hits = (
        hit(1, "a.md", ("c.md",)),
        hit(2, "b.md"),
        hit(3, "c.md"),
        *(hit(n, f"{n}.md") for n in range(4, 15)),
    )
    results = Results("?", "bm25", 0, 0, None, 1, "", hits)
    assert ranked_documents(results) == ["a.md", "c.md", "b.md", *(f"{number}.md" for number in range(4, 11))]
