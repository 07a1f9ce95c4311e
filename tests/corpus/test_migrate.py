from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from firstlight import ConfigError, StoreError
from firstlight.corpus.migration_types import Gate
from firstlight.corpus.tenure import LeaseLostError
from firstlight.embed import Limits
from firstlight.errors import EmbeddingError

from .embedder import WordEmbedder, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from firstlight import Corpus

    from .conftest import Docs

ROOT = Path(__file__).resolve().parents[2]
PAGES = 20
# What only synonyms lead to: `car.md` never says automobile.
GOLDEN = {"automobile": {"car.md": 1}, "physician": {"doctor.md": 1}, "word7": {"p07.md": 1}}


class Model(WordEmbedder):
    """A model that takes few texts at a time, so that a fill has several steps."""

    limits = Limits(texts=4)

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, dimensions=options.pop("dimensions", 256), **options)


class Dull(Model):
    """A model that takes every word for another, and knows no synonyms."""

    def _vector(self, text: str) -> NDArray[np.float64]:
        summed = sum((self._direction(word) for word in text.lower().split()), np.zeros(self.dimensions))
        vector: NDArray[np.float64] = summed / np.linalg.norm(summed)
        return vector


class Calls:
    """Counts calls for documents, and does something at one of them."""

    def __init__(self, at: int, action: Callable[[], object]) -> None:
        self.count = 0
        self._at = at
        self._action = action

    def __call__(self, texts: Sequence[str], kind: str) -> None:
        if kind == "document":
            self.count += 1
            if self.count == self._at:
                self._action()


@pytest.fixture
def pages(docs: Docs) -> Docs:
    """Twenty pages that each say a word of their own, and two that synonyms lead to."""
    for number in range(PAGES):
        docs.write(f"p{number:02}.md", f"page about word{number}\n")
    docs.write("car.md", "car wheels and engine\n")
    docs.write("doctor.md", "doctor and nurse\n")
    return docs


@pytest.fixture
def corpus(pages: Docs) -> Any:
    """These pages, embedded by the model `old`."""
    with pages.open(embedder=Model("old")) as opened:
        opened.sync(embed=True)
        yield opened


def found(corpus: Corpus, question: str = "automobile") -> tuple[str, str | None, list[str]]:
    results = corpus.search(question, mode="auto")
    return results.mode, results.model, [hit.path for hit in results][:1]


def forget_cache(tmp_path: Path) -> None:
    for file in (tmp_path / "state").glob("vectors.db*"):
        file.unlink()


def test_a_new_model_is_filled_then_serves_and_the_old_one_is_kept(corpus: Corpus) -> None:
    new = Model("new", dimensions=300)
    assert found(corpus) == ("hybrid", "old", ["car.md"])
    generation = corpus.status().generation
    report = corpus.migrate(new, yes=True)
    assert (report.outcome, report.done, report.lost) == ("swapped", True, 0)
    assert (report.model.name, report.model.embedded, report.chunks) == ("new", PAGES + 2, PAGES + 2)
    assert report.old is not None
    assert report.old.name == "old"
    assert report.generation > generation
    assert found(corpus) == ("hybrid", "new", ["car.md"])
    status = corpus.migration_status()
    assert status.serving is not None
    assert status.previous is not None
    assert (status.serving.name, status.shadow, status.previous.name) == ("new", None, "old")
    assert corpus.verify().ok


def test_without_labelled_questions_somebody_has_to_say_yes_and_then_nothing_is_embedded_again(
    corpus: Corpus,
) -> None:
    new = Model("new")
    report = corpus.migrate(new)
    assert (report.outcome, report.done) == ("waiting", False)
    assert report.reason == "no golden questions compare the two models"
    report = corpus.migrate(new, golden=["automobile", "word3"])
    assert report.outcome == "waiting"
    assert report.gate is not None
    assert (report.gate.questions, report.gate.labelled, report.gate.quality) == (2, 0, None)
    assert "no golden question says what is relevant; of the ten best documents, " in report.reason
    assert found(corpus)[:2] == ("hybrid", "old")
    assert corpus.migrate(new, golden=["automobile"], yes=True).outcome == "swapped"
    assert len(new.texts) == PAGES + 2


def test_the_old_model_answers_hybrid_during_the_whole_fill(corpus: Corpus, pages: Docs) -> None:
    new = Model("new")
    answers = []

    def search(texts: Sequence[str], kind: str) -> None:
        answers.append(found(corpus))
        with pages.open(embedder=Model("old")) as other:
            answers.append(found(other))

    new.before = search
    corpus.migrate(new)
    assert len(answers) >= 10
    assert set(map(str, answers)) == {str(("hybrid", "old", ["car.md"]))}


def test_labelled_questions_let_a_good_model_pass(corpus: Corpus) -> None:
    report = corpus.migrate(Model("new"), golden=GOLDEN)
    assert report.outcome == "swapped"
    assert report.gate == Gate(3, 3, report.gate.agreement if report.gate else 0, 1.0, 1.0)
    assert report.reason == "the new quality is 100.0 % of the old"
    assert report.to_dict()["gate"]["quality"] == 1.0


def test_a_worse_model_is_refused_and_no_yes_overrules_that(corpus: Corpus) -> None:
    dull = Dull("dull")
    report = corpus.migrate(dull, golden=GOLDEN, yes=True)
    assert (report.outcome, report.done) == ("refused", False)
    assert report.gate is not None
    assert report.gate.quality is not None
    assert report.gate.quality < 0.8
    assert report.reason == "the new quality is 66.7 % of the old, less than 95.0 %"
    assert found(corpus) == ("hybrid", "old", ["car.md"])
    assert corpus.migrate(dull, golden=GOLDEN, min_quality=0.6).outcome == "swapped"
    assert len(dull.texts) == PAGES + 2


def test_labels_that_neither_model_finds_decide_nothing(corpus: Corpus) -> None:
    report = corpus.migrate(Model("new"), golden={"word3": {"gone.md": 1}})
    assert report.outcome == "waiting"
    assert "neither model finds anything" in report.reason


def test_an_interrupted_fill_goes_on_where_it_was(corpus: Corpus, tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    new = Model("new")
    new.before = Calls(4, interrupt)
    with pytest.raises(KeyboardInterrupt):
        corpus.migrate(new, yes=True)
    status = corpus.migration_status()
    assert status.shadow is not None
    assert (status.shadow.name, status.shadow.embedded) == ("new", 12)
    assert status.worker is None
    assert found(corpus)[:2] == ("hybrid", "old")
    forget_cache(tmp_path)
    assert corpus.migrate(new, yes=True).outcome == "swapped"
    assert len(new.texts) == len(set(new.texts)) == PAGES + 2


def test_a_killed_process_loses_no_finished_call_and_others_search_meanwhile(
    corpus: Corpus, pages: Docs, tmp_path: Path
) -> None:
    log, held = tmp_path / "log", tmp_path / "held"
    driver = [sys.executable, "-m", "tests.corpus.migrate_driver", str(pages.root), str(log), str(held)]
    process = subprocess.Popen(driver, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
    try:
        deadline = time.monotonic() + 60
        while not held.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert found(corpus) == ("hybrid", "old", ["car.md"])
        with pytest.raises(StoreError, match=rf"process {process.pid} is embedding; `firstlight migrate /"):
            corpus.migrate(Model("third"))
        status = corpus.migration_status()
        assert status.worker is not None
        assert status.shadow is not None
        assert (status.shadow.embedded, status.shadow.waiting) == (8, PAGES - 6)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    forget_cache(tmp_path)
    new = WordEmbedder("new")
    assert corpus.migrate(new, yes=True).outcome == "swapped"
    bought = [*log.read_text().split(), *(text.split()[-1] for text in new.texts)]
    assert len(bought) == len(set(bought)) == PAGES + 2


def test_another_model_takes_the_place_of_an_unfinished_one(corpus: Corpus) -> None:
    first = Model("first")
    first.before = Calls(3, refuse_now)
    with pytest.raises(EmbeddingError, match="down"):
        corpus.migrate(first)
    status = corpus.migration_status()
    assert status.shadow is not None
    assert status.shadow.trouble == "down"
    report = corpus.migrate(Model("second"))
    assert (report.replaced, report.model.name, report.model.trouble) == ("first", "second", None)
    again = corpus.migrate(Model("second"))
    assert again.replaced is None
    assert corpus.verify().ok


def refuse_now() -> None:
    refuse()([], "document")


def test_chunks_that_fail_in_the_new_model_are_told_and_more_than_a_few_need_a_yes(corpus: Corpus) -> None:
    new = Model("new")

    def before(texts: Sequence[str], kind: str) -> None:
        if any("engine" in text for text in texts):
            raise EmbeddingError("not that", kind="refused")

    new.before = before
    report = corpus.migrate(new, golden={"word3": {"p03.md": 1}})
    assert (report.outcome, report.lost, report.model.failed) == ("waiting", 1, 1)
    assert report.reason == "1 of 22 chunks cannot be embedded by the new model"
    assert corpus.migrate(new, golden={"word3": {"p03.md": 1}}, yes=True).outcome == "swapped"
    assert corpus.search("word3").reason == "all chunks embedded but 1 that failed"


def test_a_language_that_only_the_old_model_knows_is_lost(pages: Docs) -> None:
    pages.write("zh.md", "量子计算机使用量子比特进行计算。\n")
    with pages.open(embedder=Model("old")) as corpus:
        corpus.sync(embed=True)
        report = corpus.migrate(Model("new", languages=frozenset({"en"})))
        assert (report.lost, report.model.foreign) == (1, 1)


def test_a_rollback_is_one_step_and_its_undoing_another(corpus: Corpus, pages: Docs) -> None:
    with pytest.raises(ConfigError, match="no migration was made that could be undone"):
        corpus.roll_back()
    corpus.migrate(Model("new"), yes=True)
    pages.write("late.md", "zebra race\n")
    corpus.sync(embed=True)
    report = corpus.roll_back()
    assert (report.outcome, report.model.name, report.model.waiting) == ("rolled-back", "old", 1)
    assert report.reason == "old serves again; 22 of 23 chunks have its vectors"
    assert found(corpus, "automobile")[:2] == ("partial", "old")
    assert corpus.wait_background(30)
    assert found(corpus, "zebra race") == ("hybrid", "old", ["late.md"])
    assert corpus.roll_back().model.name == "new"
    assert found(corpus) == ("hybrid", "new", ["car.md"])
    assert corpus.verify().ok


def test_going_back_by_a_migration_embeds_nothing(corpus: Corpus, tmp_path: Path) -> None:
    corpus.migrate(Model("new"), yes=True)
    forget_cache(tmp_path)
    old = Model("old")
    assert corpus.migrate(old, yes=True).model.name == "old"
    assert old.texts == []
    assert found(corpus) == ("hybrid", "old", ["car.md"])
    assert corpus.roll_back().model.name == "new"


def test_the_shadow_follows_what_is_edited_during_the_fill(corpus: Corpus, pages: Docs) -> None:
    new = Model("new")

    def edit() -> None:
        pages.write("p00.md", "page about word0, rewritten\n")
        pages.write("added.md", "a page about zebras\n")
        (pages.root / "p19.md").unlink()
        (pages.root / "p18.md").rename(pages.root / "moved.md")
        with pages.open() as other:
            other.sync()

    new.before = Calls(4, edit)
    report = corpus.migrate(new, yes=True)
    assert (report.model.embedded, report.model.waiting, report.chunks) == (PAGES + 2, 0, PAGES + 2)
    assert found(corpus, "zebras") == ("hybrid", "new", ["added.md"])
    assert found(corpus, "word18") == ("hybrid", "new", ["moved.md"])
    assert found(corpus, "word19")[2] != ["p19.md"]
    assert sum("word18" in text for text in new.texts) == 1
    assert corpus.verify().ok


def test_a_second_migration_is_told_who_is_at_it(corpus: Corpus, pages: Docs) -> None:
    told: list[str] = []

    def second() -> None:
        with pages.open(embedder=Model("old")) as other:
            try:
                other.migrate(Model("third"))
            except StoreError as error:
                told.append(str(error))

    new = Model("new")
    new.before = Calls(2, second)
    assert corpus.migrate(new, yes=True).outcome == "swapped"
    assert f"process {os.getpid()} is embedding" in told[0]
    assert f"`firstlight background stop {pages.root}`" in told[0]


def test_who_is_stopped_swaps_nothing_and_goes_on_later(corpus: Corpus, pages: Docs) -> None:
    def stop() -> None:
        with pages.open() as other:
            assert other.stop_background()

    new = Model("new")
    new.before = Calls(3, stop)
    with pytest.raises(LeaseLostError):
        corpus.migrate(new, yes=True)
    assert found(corpus)[:2] == ("hybrid", "old")
    assert corpus.migrate(new, yes=True).outcome == "swapped"


def test_a_migration_can_be_given_up(corpus: Corpus) -> None:
    assert corpus.drop_migration() is None
    corpus.migrate(Model("new"))
    assert corpus.drop_migration() == "new"
    assert corpus.migration_status().shadow is None
    assert found(corpus) == ("hybrid", "old", ["car.md"])
    assert corpus.verify().ok


def test_a_search_with_another_model_is_refused_with_the_command_that_changes_it(
    corpus: Corpus, pages: Docs
) -> None:
    with pages.open(embedder=Model("new")) as other:
        with pytest.raises(ConfigError) as caught:
            other.search("automobile")
        assert f"`firstlight migrate {pages.root} --to new` makes them anew" in str(caught.value)
        assert other.search("word3", mode="bm25").mode == "bm25"
        report = other.migrate(Model("new"), yes=True)
        assert report.configured
        assert found(other) == ("hybrid", "new", ["car.md"])
    with pages.open(embedder=Model("old")) as other, pytest.raises(ConfigError, match="--to old`"):
        other.search("automobile")


def test_a_model_that_cannot_be_asked_any_more_is_not_compared_with(corpus: Corpus, pages: Docs) -> None:
    new = Model("new")
    with pages.open(embedder=new) as other:
        with pytest.raises(ConfigError, match=r"golden: old cannot be asked, to compare with .*a yes$"):
            other.migrate(new, golden=GOLDEN)
        assert new.texts == []
        assert other.migrate(new, yes=True).outcome == "swapped"


def test_a_question_that_cannot_be_embedded_ends_the_comparison(corpus: Corpus) -> None:
    new = Model("new")

    def before(texts: Sequence[str], kind: str) -> None:
        if kind == "query" and texts[0] in GOLDEN:
            refuse()(texts, kind)

    new.before = before
    with pytest.raises(EmbeddingError, match="down"):
        corpus.migrate(new, golden=GOLDEN, yes=True)
    assert found(corpus)[:2] == ("hybrid", "old")


def test_where_nothing_is_embedded_the_new_model_is_recorded(pages: Docs) -> None:
    new = Model("new")
    with pages.open(embedder=Model("old")) as corpus:
        with pytest.raises(ConfigError, match="nothing is indexed yet"):
            corpus.migrate(new)
        corpus.sync()
        report = corpus.migrate(new)
        assert (report.outcome, report.done, report.model.waiting) == ("recorded", True, PAGES + 2)
        assert new.texts == []
        corpus.sync(embed=True)
        assert found(corpus) == ("hybrid", "new", ["car.md"])
        assert corpus.migrate(new).outcome == "unchanged"


def test_what_makes_no_vectors_or_is_no_questions_is_refused(corpus: Corpus) -> None:
    with pytest.raises(ConfigError, match="'none' makes no vectors"):
        corpus.migrate("none")
    with pytest.raises(ConfigError, match="names no embedder"):
        corpus.migrate("everything")
    with pytest.raises(TypeError, match="read_golden"):
        corpus.migrate(Model("new"), golden="golden.jsonl")
    with pytest.raises(ValueError, match="no question"):
        corpus.migrate(Model("new"), golden=[])
    with pytest.raises(ValueError, match="min_quality"):
        corpus.migrate(Model("new"), min_quality=float("nan"))
