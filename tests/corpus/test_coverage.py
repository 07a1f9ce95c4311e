"""While a corpus is being embedded its answers only get better: with the real model, on real questions."""

from __future__ import annotations

import json
import shutil
from math import log2
from typing import TYPE_CHECKING, NamedTuple

import pytest

from firstlight import Corpus
from firstlight.embed.installed import local_is_installed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from firstlight.corpus.types import Progress
    from firstlight.rank.types import Results

PARAGRAPHS = 120
EVERY = 4  # of the questions about them
SHARES = (10, 50, 90)
TOLERANCE = 0.005
STAGES = (*(f"document order, {share} %" for share in SHARES), "demand order, 50 %")


class Stage(NamedTuple):
    """What all questions came to at one moment."""

    ndcg: float
    last: Results


class EnoughError(Exception):
    """Ends a sync where a test wants it to."""


def questions(folder: Path) -> dict[str, str]:
    """Return questions by their texts, each with the one paragraph that answers it."""
    texts = dict(rows(folder / "queries.jsonl"))
    judged = [line.split("\t") for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]]
    inside = set(dict(paragraphs(folder)))
    return dict(
        [(texts[question], f"{answer}.md") for question, answer, _ in judged if answer in inside][::EVERY]
    )


def paragraphs(folder: Path) -> list[tuple[str, str]]:
    return list(rows(folder / "corpus.jsonl"))[:PARAGRAPHS]


def rows(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield row["id"], row["text"]


def ask(corpus: Corpus, asked: Mapping[str, str]) -> Stage:
    """Ask everything; nDCG@10 where one passage answers is 1 / log2(its rank + 1)."""
    gained = 0.0
    for question, answer in asked.items():
        found = corpus.search(question)
        gained += sum(1 / log2(hit.rank + 1) for hit in found.hits if hit.path == answer)
    return Stage(gained / len(asked), found)


def embed(corpus: Corpus, share: int) -> None:
    """Embed until so many of a hundred chunks have a vector."""

    def stop(progress: Progress) -> None:
        if progress.embedded and 100 * progress.embedded >= share * progress.to_embed:
            raise EnoughError

    with pytest.raises(EnoughError):
        corpus.sync(embed=True, progress=stop)


@pytest.fixture(scope="module")
def stages(data_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Stage]]:
    """What the questions came to at each stage; nothing is embedded twice."""
    if not local_is_installed():
        pytest.skip("the extra 'local' is not installed")
    home = tmp_path_factory.mktemp("coverage")
    root = home / "docs"
    root.mkdir()
    for name, text in paragraphs(data_pack / "ir" / "xquad_en"):
        (root / f"{name}.md").write_text(text, "utf-8")
    asked = questions(data_pack / "ir" / "xquad_en")

    def opened(state: str) -> Corpus:
        return Corpus.open(root, state=home / state, embedder="local", background=False)

    found: dict[str, Stage] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIRSTLIGHT_STATE", str(home / "state"))
        patch.setenv("FIRSTLIGHT_CONFIG", str(home / "config.toml"))
        # One thread commits the fewest chunks at a time, so that a tenth is about a tenth on any machine.
        patch.setattr("os.sched_getaffinity", lambda process: {0})
        for share in SHARES:
            with opened("document") as corpus:
                embed(corpus, share)
            # Asking says what is wanted, and that would change the order.
            shutil.copytree(home / "document", home / f"at {share}")
            with opened(f"at {share}") as corpus:
                found[f"document order, {share} %"] = ask(corpus, asked)
        with opened("document") as corpus:
            corpus.sync(embed=True)
            found["hybrid"] = ask(corpus, asked)
        with opened("demand") as corpus:
            corpus.sync()
            found["bm25"] = ask(corpus, asked)
            embed(corpus, 50)
            found["demand order, 50 %"] = ask(corpus, asked)
        yield found


def test_nothing_embedded_is_bm25_and_everything_is_hybrid(stages: Mapping[str, Stage]) -> None:
    assert stages["bm25"].last.mode == "bm25"
    assert stages["hybrid"].last.mode == "hybrid"


@pytest.mark.parametrize("stage", STAGES)
def test_quality_is_never_below_bm25_s_while_it_is_embedded(stages: Mapping[str, Stage], stage: str) -> None:
    result = stages[stage].last
    share = int(stage.split()[-2])
    assert result.mode == "partial"
    assert share <= 100 * result.embedded / result.total < share + 10
    assert stages[stage].ndcg >= stages["bm25"].ndcg - TOLERANCE


def test_what_was_asked_for_was_embedded_first(stages: Mapping[str, Stage]) -> None:
    hits = stages["demand order, 50 %"].last.hits
    assert hits
    assert all("cosine" in hit.scores for hit in hits)


def test_hybrid_beats_bm25_once_everything_is_embedded(stages: Mapping[str, Stage]) -> None:
    assert stages["hybrid"].ndcg > stages["bm25"].ndcg
