"""Embedding behind a person's back: where it is started, what is said of it, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.embed.provider_server import ProviderServer, no_quota

from .test_session import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .conftest import Run

# What "within two seconds" may take on a busy machine.
SOON = 6.0


@pytest.fixture
def provider(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    """An Ollama server, which the environment names; and nothing that forbids embedding unasked."""
    for name in ("FIRSTLIGHT_BACKGROUND", "CI"):
        monkeypatch.delenv(name, raising=False)
    with ProviderServer(dimensions=64) as server:
        monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "ollama:test-model")
        monkeypatch.setenv("OLLAMA_HOST", server.url("ollama"))
        yield server


@pytest.fixture
def pages(docs: Path) -> Path:
    """Two documents and sixty small ones."""
    for number in range(60):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\nwords of page number{number}\n")
    return docs


def slow_vector(text: str, dimensions: int) -> list[float]:
    time.sleep(0.03)
    return [float(len(text)), *map(float, text.encode()[: dimensions - 1].ljust(dimensions - 1))]


def until(condition: Callable[[], object], *, seconds: float = 30.0) -> None:
    """Wait for what another process is about to do."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def status_of(run: Run, folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(run("status", folder, "--json").out)
    return found


def worker_of(run: Run, folder: Path) -> int:
    """Return the number of the process that embeds."""
    until(lambda: status_of(run, folder)["worker"])
    return int(str(status_of(run, folder)["worker"]).rsplit(":", 2)[1])


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_on_a_terminal_a_search_answers_and_leaves_the_embedding_behind(
    run: Run, docs: Path, provider: ProviderServer
) -> None:
    provider.hold()
    code, screen = on_terminal("search", docs, "drain a node", columns=200)
    assert code == 0  # and it did not wait for what is held
    *_, mode, last = screen.rstrip().split("\n")
    assert mode.startswith("bm25 · 2 of 2 chunks · nothing is embedded yet")
    assert last == f"embedding 2 chunks in the background: firstlight status {docs}"
    process = worker_of(run, docs)
    assert process != os.getpid()
    again = on_terminal("search", docs, "drain a node", columns=200)[1]
    assert "in the background" not in again  # it is under way
    assert worker_of(run, docs) == process
    provider.release()
    until(lambda: status_of(run, docs)["mode"] == "hybrid")
    until(lambda: not is_alive(process))
    screen = on_terminal("search", docs, "drain a node", columns=200)[1]
    assert screen.rstrip().split("\n")[-1].startswith("hybrid · 2 of 2 chunks · all chunks embedded")


def test_a_sync_on_a_terminal_leaves_it_behind_too(run: Run, docs: Path, provider: ProviderServer) -> None:
    code, screen = on_terminal("sync", docs, columns=200)
    assert code == 0
    assert f"embedding 2 chunks in the background: firstlight status {docs}" in screen
    until(lambda: status_of(run, docs)["mode"] == "hybrid")
    assert "in the background" not in on_terminal("sync", docs, columns=200)[1]


def test_without_a_terminal_nothing_is_started(
    run: Run, process: Run, docs: Path, provider: ProviderServer
) -> None:
    for command in (("search", docs, "drain"), ("sync", docs)):
        assert "in the background" not in process(*command).err
    status = status_of(run, docs)
    assert (status["worker"], status["embedded"], status["queue"]) == (None, 0, 2)
    assert provider.requests == []


@pytest.mark.parametrize("forbidding", ["FIRSTLIGHT_BACKGROUND=0", "CI=true"])
def test_nor_where_the_environment_forbids_it(
    run: Run, docs: Path, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch, forbidding: str
) -> None:
    monkeypatch.setenv(*forbidding.split("="))
    screen = on_terminal("search", docs, "drain", columns=200)[1]
    assert "in the background" not in screen
    assert status_of(run, docs)["worker"] is None
    assert provider.requests == []


def test_bm25_alone_starts_nothing(run: Run, docs: Path, provider: ProviderServer) -> None:
    screen = on_terminal("search", docs, "drain", "--mode", "bm25", columns=200)[1]
    assert "in the background" not in screen
    assert status_of(run, docs)["worker"] is None


def test_status_shows_progress_rate_and_what_is_left(run: Run, pages: Path, provider: ProviderServer) -> None:
    provider.vector = slow_vector
    run("sync", pages)
    waiting = f"queue       62 chunks; nobody is embedding: firstlight sync {pages} --embed\n"
    assert waiting in run("status", pages).out
    command = [sys.executable, "-m", "firstlight", "background", "run", str(pages)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: "/s, about " in run("status", pages).out)
    shown = run("status", pages).out
    assert "mode        " in shown
    assert "model       ollama:test-model" in shown
    assert worker.communicate(timeout=60) == ("", "")
    shown = run("status", pages).out
    assert "mode        hybrid\n" in shown
    assert "embedded    62 of 62 chunks, 1.00 windows each\n" in shown
    assert "queue" not in shown


def test_stop_ends_it_even_while_the_provider_holds_a_request(
    run: Run, pages: Path, provider: ProviderServer
) -> None:
    assert run("background", "stop", pages) == (0, "", "nothing is embedding\n")
    run("sync", pages)
    provider.hold()
    command = [sys.executable, "-m", "firstlight", "background", "run", str(pages)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    provider.wait_for_calls(1)
    outcome = run("background", "stop", pages)
    assert (outcome.code, outcome.out) == (0, "stopped; 62 chunks still without a vector\n")
    assert worker.communicate(timeout=SOON) == ("", "")
    assert worker.returncode == 0
    assert run("background", "stop", pages).err == "nothing is embedding\n"
    assert status_of(run, pages)["trouble"] is None


def test_run_embeds_until_nothing_is_left(run: Run, docs: Path, provider: ProviderServer) -> None:
    run("sync", docs)
    assert run("background", "run", docs) == (0, "", "")
    assert status_of(run, docs)["mode"] == "hybrid"
    sent = len(provider.requests)
    assert run("background", "run", docs).code == 0
    assert len(provider.requests) == sent


def test_sync_embed_waits_for_it(run: Run, pages: Path, provider: ProviderServer) -> None:
    outcome = run("sync", pages, "--embed")
    assert outcome.code == 0
    assert outcome.out.startswith("62 added (62 chunks indexed) in ")
    assert outcome.err == "62 of 62 chunks embedded by ollama:test-model\n"
    assert json.loads(run("sync", pages, "--embed", "--json").out)["chunks_to_embed"] == 0


def test_sync_embed_draws_how_far_it_is(pages: Path, provider: ProviderServer) -> None:
    provider.vector = slow_vector
    code, screen = on_terminal("sync", pages, "--embed", columns=100)
    assert code == 0
    assert "embedding" in screen
    assert "62 of 62 chunks embedded by ollama:test-model" in screen
    assert "in the background" not in screen


def test_a_plan_tells_what_embedding_would_cost(run: Run, docs: Path, provider: ProviderServer) -> None:
    outcome = run("sync", docs, "--plan")
    assert "2 chunks to embed, about " in outcome.err
    run("sync", docs, "--embed")
    assert "to embed" not in run("sync", docs, "--plan").err
    status = status_of(run, docs)
    assert f"about {status['tokens']:,} tokens" in outcome.err


def test_ctrl_c_keeps_what_is_finished(run: Run, pages: Path, provider: ProviderServer) -> None:
    provider.vector = slow_vector
    command = [sys.executable, "-m", "firstlight", "sync", str(pages), "--embed"]
    syncing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    provider.wait_for_calls(3)
    syncing.send_signal(signal.SIGINT)
    out, err = syncing.communicate(timeout=SOON)
    assert (syncing.returncode, out) == (130, "")
    assert err == "\ninterrupted; what is indexed stays usable\n"
    embedded = status_of(run, pages)["embedded"]
    assert isinstance(embedded, int)
    assert embedded >= 32
    assert status_of(run, pages)["worker"] is None
    kept = [text for call in provider.requests[: embedded // 16] for text in call.texts]
    assert run("sync", pages, "--embed").code == 0
    assert {provider.times(text) for text in kept} == {1}
    assert status_of(run, pages)["embedded"] == 62


def test_where_it_cannot_go_on_a_search_says_why_and_starts_nothing(
    run: Run, docs: Path, provider: ProviderServer
) -> None:
    provider.script(no_quota(402))
    outcome = run("sync", docs, "--embed")
    assert outcome.code == 2
    assert "nothing left to spend" in outcome.err
    assert "Traceback" not in outcome.err
    asked = len(provider.requests)
    code, screen = on_terminal("search", docs, "drain", columns=300)
    assert code == 0
    assert screen.rstrip().split("\n")[-1].endswith(f"; firstlight sync {docs} --embed tries again")
    assert "not embedding: ollama:test-model answered with status 402" in screen
    assert len(provider.requests) == asked
    provider.script(no_quota(402))
    outcome = run("background", "run", docs)
    assert outcome.code == 1
    assert outcome.err.startswith("not embedding: ollama:test-model answered with status 402")
    assert "trouble     ollama:test-model answered with status 402" in run("status", docs).out
    assert run("sync", docs, "--embed").code == 0
    assert "trouble" not in run("status", docs).out


def test_sync_embed_without_an_embedder_says_how_to_get_one(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = run("sync", docs, "--embed")
    assert outcome.code == 2
    assert "there is no embedder: pip install 'firstlight[local]'" in outcome.err
    outcome = run("background", "run", docs)
    assert outcome.code == 2
    assert "there is no embedder; pip install 'firstlight[local]'" in outcome.err
    assert run("status", docs).out.count("synced      never") == 1


def test_a_folder_without_an_embedder_has_no_queue(
    run: Run, docs: Path, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("sync", docs)
    run("background", "run", docs)
    (docs / "new.md").write_text("a new page\n")
    monkeypatch.setenv("FIRSTLIGHT_EMBEDDER", "none")
    screen = on_terminal("search", docs, "page", columns=200)[1]
    assert "in the background" not in screen
    assert "no embedder; ranked by BM25 alone" in screen
