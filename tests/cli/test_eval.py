from __future__ import annotations

import io
import json
import tomllib
from time import monotonic, sleep
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight import Corpus
from firstlight.cli import eval as command
from firstlight.cli.progress import Drawing
from firstlight.evaluate import metrics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from firstlight.embed.types import Kind, Vectors

    from .conftest import Outcome, Run

NAMES = ("drain", "backup", "coffee", "invoice", "holiday", "printer")
TABLE = "      nDCG@10  recall@10  MRR@10\n"


class Initials:
    """Knows words by their first letter, so that `broken printing` is near `printer`."""

    name = "initials"
    dimensions = 26
    max_tokens = 10_000
    fingerprint = "initials/1"
    languages = None
    floor = 0.5

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        vectors = np.full((len(texts), 26), 0.01, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                if "a" <= word[0] <= "z":
                    row[ord(word[0]) - ord("a")] += 1.0
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


@pytest.fixture(autouse=True)
def no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "none")
    monkeypatch.setenv("FIRSTLIGHT_BACKGROUND", "0")


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A folder of six pages."""
    folder = tmp_path / "office"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.md").write_text(f"# {name.title()}\n\n{name} {name} {name}\n")
    return folder


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """Questions about these pages, and their judgements, as options."""
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    asked = {f"{form}-{name}": (form, name) for form in ("exact", "vague") for name in NAMES}
    queries.write_text(
        "".join(
            json.dumps({"id": key, "text": name if form == "exact" else name[:3]}) + "\n"
            for key, (form, name) in asked.items()
        )
    )
    qrels.write_text(
        "query-id\tpath\tscore\n" + "".join(f"{key}\t{name}.md\t1\n" for key, (_, name) in asked.items())
    )
    return "--queries", str(queries), "--qrels", str(qrels)


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch, office: Path) -> None:
    """Give every command an embedder, and have all chunks embedded."""

    def opened(folder: Path, *, state: Path | None) -> Corpus:
        return Corpus.open(folder, state=state, embedder=Initials())

    monkeypatch.setattr(command, "open_corpus", opened)


def embed(office: Path) -> None:
    with Corpus.open(office, embedder=Initials()) as corpus:
        corpus.sync(embed=True)


def test_without_an_embedder_bm25_is_measured_and_the_rest_told(
    run: Run, office: Path, files: tuple[str, ...]
) -> None:
    outcome = run("eval", office, *files)
    assert outcome.code == 0
    assert outcome.out == TABLE + "bm25    0.500      0.500   0.500\n"
    assert outcome.err.startswith("6 added (6 chunks indexed) in ")
    assert "\nnot evaluated: hybrid, vector: there is no embedder: pip install" in outcome.err
    assert "\n12 questions, 12 judgements · " in outcome.err


def test_a_mode_that_was_asked_for_and_cannot_be_used_is_an_error(
    run: Run, office: Path, files: tuple[str, ...]
) -> None:
    outcome = run("eval", office, *files, "--modes", "bm25,hybrid")
    assert (outcome.code, outcome.out.startswith(TABLE)) == (2, True)
    outcome = run("eval", office, *files, "--modes", "vector")
    assert (outcome.code, outcome.out) == (2, "")
    assert "error: vector cannot be evaluated: there is no embedder" in outcome.err


@pytest.mark.usefixtures("embedded")
def test_modes_are_compared(run: Run, office: Path, files: tuple[str, ...]) -> None:
    embed(office)
    outcome = run("eval", office, *files)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["nDCG@10", "bm25", "hybrid", "vector"]
    assert lines[5].startswith("hybrid is better than bm25 by 0.")
    assert lines[6] == "  by question: 6 better, 0 worse, 6 the same"
    assert "not evaluated" not in outcome.err


@pytest.mark.usefixtures("embedded")
def test_chunks_that_are_not_embedded_come_with_the_command_that_does(
    run: Run, office: Path, files: tuple[str, ...], tmp_path: Path
) -> None:
    outcome = run("eval", office, *files, "--state", tmp_path / "my index")
    told = f"`firstlight sync {office} --state '{tmp_path}/my index' --embed` embeds the rest"
    assert f"not evaluated: hybrid, vector: only 0 of 6 chunks are embedded; {told}" in outcome.err
    outcome = run("eval", office, *files, "--state", tmp_path / "my index", "--tune")
    assert outcome.err.endswith(f"there is no weight to tune: only 0 of 6 chunks are embedded; {told}\n")


@pytest.mark.usefixtures("embedded")
def test_a_weight_is_tuned_and_written_only_when_asked(
    run: Run, office: Path, files: tuple[str, ...]
) -> None:
    embed(office)
    config = office / "firstlight.toml"
    outcome = run("eval", office, *files, "--tune")
    assert outcome.code == 0
    assert "\ntuned, cross-validated  " in outcome.out
    assert "\n  over 5 folds: nDCG@10 " in outcome.out
    assert "warning: 12 questions are too few to trust a weight" in outcome.err
    assert "nothing was changed; --save writes weight = " in outcome.err
    assert not config.exists()
    config.write_text('# ours\nlanguage = "en"')
    outcome = run("eval", office, *files, "--tune", "--save", "--json")
    report = json.loads(outcome.out)
    assert report["saved"] == str(config)
    assert config.read_text().startswith('# ours\nlanguage = "en"\n\n[hybrid]\nweight = ')
    assert tomllib.loads(config.read_text())["hybrid"]["weight"] == report["tuning"]["weight"]
    assert f"weight = {report['tuning']['weight']:g} is in {config}" in outcome.err
    again = json.loads(run("eval", office, *files, "--tune", "--json").out)
    assert again["tuning"]["present_weight"] == report["tuning"]["weight"]


def test_tuning_without_vectors_is_an_error(run: Run, office: Path, files: tuple[str, ...]) -> None:
    outcome = run("eval", office, *files, "--tune")
    assert outcome.code == 2
    assert "error: there is no weight to tune: there is no embedder" in outcome.err


def test_the_report_can_be_json(run: Run, office: Path, files: tuple[str, ...]) -> None:
    report = json.loads(run("eval", office, *files, "--json").out)
    assert report["modes"] == [
        {"mode": "bm25", "ndcg@10": 0.5, "recall@10": 0.5, "mrr@10": 0.5, "fallbacks": {}, "reason": ""}
    ]
    assert len(report["by_question"]) == 12
    assert [missing["mode"] for missing in report["not_evaluated"]] == ["hybrid", "vector"]


def test_judged_documents_that_are_gone_stop_it_or_are_left_out(
    run: Run, office: Path, files: tuple[str, ...]
) -> None:
    (office / "drain.md").rename(office / "drains.md")
    outcome = run("eval", office, *files)
    assert (outcome.code, outcome.out) == (2, "")
    assert "qrels.tsv: judges documents that are not in the index (2 lines):" in outcome.err
    assert "line 2: drain.md; did you mean drains.md?" in outcome.err
    outcome = run("eval", office, *files, "--skip-unknown")
    assert outcome.code == 0
    assert "left out: 2 judgements on documents that are not in the index" in outcome.err


def test_a_bad_line_is_named(run: Run, office: Path, files: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "qrels.tsv").write_text("exact-drain 0 drain.md much\n")
    outcome = run("eval", office, *files)
    assert outcome.code == 2
    assert f"error: {tmp_path}/qrels.tsv:1: 'much' is no relevance" in outcome.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--modes", "bm25,fast"), "'fast' is none of bm25, hybrid, vector"),
        (("--save",), "--save writes what --tune finds: add --tune"),
        (("--tune", "--modes", "bm25"), "--tune is about hybrid"),
    ],
)
def test_wrong_options_are_refused(
    run: Run, office: Path, files: tuple[str, ...], options: tuple[str, ...], message: str
) -> None:
    outcome: Outcome = run("eval", office, *files, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_a_missing_extra_is_named_before_anything_is_done(
    run: Run, office: Path, files: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "find_spec", lambda name: None)
    outcome = run("eval", office, *files)
    assert outcome.code == 2
    assert "pip install 'firstlight[eval]'" in outcome.err
    assert not (home / "state").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.cli.progress.PATIENCE", 0)
    monkeypatch.setenv("TERM", "xterm")
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr("sys.stderr", stream)
        with Drawing() as draw:
            for done in range(3):
                draw.show("bm25", done, 3, "questions")
        assert ("bm25" in stream.getvalue()) is stream.isatty()


def test_a_terminal_hears_that_it_works_before_there_is_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.cli.waiting.PATIENCE", 0)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Drawing() as draw:
        deadline = monotonic() + 10
        while "working" not in terminal.getvalue() and monotonic() < deadline:
            sleep(0.01)
        draw.hush()
        said = terminal.getvalue()
        assert "working" in said
        sleep(0.2)
        assert terminal.getvalue() == said
