"""The comparison itself: every contender on every collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import testsets
from benchmarks.metrics import mean, mean_ndcg
from benchmarks.quality import contenders, table, units
from benchmarks.report import Goal, Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.options import Options

PEERS = ("bm25s", "fts5", "tantivy")
TOLERANCE = 0.005
SETUP = {
    "metric": "nDCG@10, linear gain, mean over all judged questions; documents are ranked by their best unit",
    "fts5": "tokenize='porter unicode61', OR of quoted words, bm25(); zh and th: also 'trigram'",
    "tantivy": "en_stem, the words of the question; for zh and th also bigrams",
    "bm25s": "its English stop words, Snowball English; zh and th: neither, also single characters",
    "peers": "the best of their set-ups counts; on the EIPs the better of whole documents and our chunks",
    "eips": "front matter is not indexed, but for the title",
    "firstlight": "in-memory segments, defaults",
}


def measure(names: Sequence[str], *, only: str | None = None) -> dict[str, dict[str, float]]:
    """Return nDCG@10 by collection and contender; a peer's set-ups also by themselves, as `peer/set-up`."""
    return {name: _collection(name, only) for name in names}


def run(options: Options) -> Report:
    """Compare on all collections, judge, and write the table."""
    only = options.only[0] if options.only else None
    figures = measure(testsets.NAMES, only=only)
    if only:
        return Report("quality", SETUP, {"ndcg@10": figures})
    outcome = report(testsets.NAMES, figures)
    table.write(outcome, quick=options.quick)
    return outcome


def report(names: Sequence[str], figures: dict[str, dict[str, float]]) -> Report:
    """Judge the figures: near the best peer everywhere, above each on average."""
    averages = {who: mean(figures[name][who] for name in names) for who in (*PEERS, contenders.OURS)}
    goals = []
    for name in names:
        bound = max(figures[name][peer] for peer in PEERS) - TOLERANCE
        goals.append(
            Goal(f"{name}: nDCG@10, best peer less {TOLERANCE}", figures[name]["firstlight"], bound, True)
        )
    best = max(averages[peer] for peer in PEERS)
    goals.append(Goal("average nDCG@10, above the best peer's", averages["firstlight"], best, True))
    return Report("quality", SETUP, {"ndcg@10": figures, "average": averages}, goals)


def _collection(name: str, only: str | None) -> dict[str, float]:
    test = testsets.load(name)
    scores: dict[str, float] = {}
    if only != contenders.OURS:
        for contender in contenders.peers(name):
            if only not in {None, contender.peer}:
                continue
            for kind, indexed in _kinds(name).items():
                score = mean_ndcg(contenders.rank_peer(contender, name, indexed), test.qrels)
                scores[f"{contender.peer}/{contender.setup}, {kind}"] = score
                scores[contender.peer] = max(score, scores.get(contender.peer, 0.0))
    if only in {None, contenders.OURS}:
        own = units.chunks(name) if test.files else units.documents(name)
        scores[contenders.OURS] = mean_ndcg(contenders.rank_ours(name, own), test.qrels)
    return {who: round(score, 4) for who, score in scores.items()}


def _kinds(name: str) -> dict[str, units.Units]:
    kinds = {"documents": units.documents(name)}
    if testsets.load(name).files:
        kinds["chunks"] = units.chunks(name)
    return kinds
