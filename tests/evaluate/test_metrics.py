from __future__ import annotations

import subprocess
import sys

import pytest
from benchmarks.metrics import ndcg
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.errors import ConfigError
from firstlight.evaluate import metrics
from firstlight.evaluate.metrics import mean, measure, require_extra

PATHS = [f"{letter}.md" for letter in "abcdefghijklmnop"]
rankings = st.lists(st.sampled_from(PATHS), unique=True)
judged = st.dictionaries(st.sampled_from(PATHS), st.integers(-2, 3), min_size=1)


@settings(max_examples=60)
@given(st.lists(st.tuples(rankings, judged), min_size=1, max_size=5))
def test_measures_are_what_they_are_defined_to_be(cases: list[tuple[list[str], dict[str, int]]]) -> None:
    qrels = {f"q{number}": grades for number, (_, grades) in enumerate(cases)}
    found = measure({f"q{number}": ranking for number, (ranking, _) in enumerate(cases)}, qrels)
    for number, (ranking, grades) in enumerate(cases):
        name, top = f"q{number}", ranking[:10]
        relevant = {path for path, grade in grades.items() if grade > 0}
        ranks = [rank for rank, path in enumerate(top, 1) if path in relevant]
        assert found.ndcg[name] == pytest.approx(ndcg(ranking, grades))
        assert found.recall[name] == pytest.approx(len(ranks) / len(relevant) if relevant else 0.0)
        assert found.mrr[name] == pytest.approx(1 / ranks[0] if ranks else 0.0)


def test_the_order_of_the_ranking_counts_and_not_the_names_of_documents() -> None:
    forwards = measure({"q": PATHS}, {"q": {PATHS[0]: 1}})
    backwards = measure({"q": PATHS[::-1]}, {"q": {PATHS[-1]: 1}})
    assert forwards.ndcg == backwards.ndcg == {"q": 1.0}


def test_a_question_without_an_answer_scores_nothing() -> None:
    found = measure({"q": []}, {"q": {"a.md": 1}, "r": {"a.md": 1}})
    assert found.ndcg == found.recall == found.mrr == {"q": 0.0, "r": 0.0}
    assert mean({}) == 0.0


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'firstlight\[eval\]'"):
        require_extra()


def test_nothing_of_the_extra_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, firstlight.evaluate.run, firstlight.evaluate.tune, firstlight.cli.eval;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"ir_measures", "scipy", "pytrec_eval", "rich"} & set(done.stdout.split())
