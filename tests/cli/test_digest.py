from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.digest.chat_server import ChatServer, cut_off, failing, ok, too_long
from tests.text.docx_files import docx, p
from tests.text.pdf_files import encrypted, pdf, scanned

from firstlight.cli.digest import _key_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Run

TEXT = """\
Lunch is at noon.

Cordon the node first, so that nothing new is scheduled.
Then drain it, and wait.

A pod without a controller blocks the drain: delete it by hand.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    for name in ("FIRSTLIGHT_LLM_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with ChatServer(reply="Cordon it, then drain it [1], as ever [7].") as running:
        yield running


def given(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_without_a_model_the_best_sentences_are_the_answer(run: Run, file: Path) -> None:
    outcome = run("digest", file, "what", "blocks the drain?")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert "A pod without a controller blocks the drain: delete it by hand. [1]" in lines
    assert lines[-1] == f"[1] {file}:6"
    last = outcome.err.splitlines()[-1]
    assert last.startswith("whole · the document is short (")
    assert "best sentences" in last
    assert "\x1b" not in outcome.out + outcome.err


def test_a_model_writes_the_answer_and_its_citations_are_checked(
    run: Run, file: Path, server: ChatServer
) -> None:
    outcome = run("digest", file, "how do I drain a node?", "--llm", server.url)
    assert outcome.code == 0
    assert outcome.out == f"Cordon it, then drain it [1], as ever.\n\n[1] {file}:1\n"
    assert "removed 1 citation of passages that do not exist\n" in outcome.err
    assert " · test-model · " in outcome.err.splitlines()[-1]
    (call,) = server.requests
    assert TEXT in call.messages[1]["content"]
    assert call.messages[1]["content"].endswith("how do I drain a node?")
    assert "authorization" not in call.headers


def test_a_stream_shows_what_the_model_writes(run: Run, file: Path, server: ChatServer) -> None:
    outcome = run("digest", file, "how?", "--llm", server.url, "--stream", "--model", "mine")
    assert outcome.out == f"Cordon it, then drain it [1], as ever [7].\n\n[1] {file}:1\n"
    assert server.requests[0].body["model"] == "mine"
    assert [call.path for call in server.calls] == ["/v1/chat/completions"]


def test_json_is_the_one_shape_of_digests(run: Run, file: Path, server: ChatServer) -> None:
    digest = json.loads(run("digest", file, "how?", "--llm", server.url, "--json").out)
    assert digest["text"] == "Cordon it, then drain it [1], as ever."
    assert (digest["file"], digest["question"], digest["removed"]) == (str(file), "how?", 1)
    (citation,) = digest["citations"]
    (passage,) = digest["passages"]
    assert TEXT[citation["start"] : citation["end"]] == passage["text"]
    assert digest["text"][citation["answer_start"] : citation["answer_end"]] == "[1]"
    assert {"retrieval", "embedded", "total", "model", "llm", "reason", "timings"} <= digest.keys()


def test_the_same_question_is_answered_from_the_cache(run: Run, file: Path, server: ChatServer) -> None:
    for _ in range(2):
        outcome = run("digest", file, "how?", "--llm", server.url)
        assert "Cordon it" in outcome.out
    assert outcome.err.splitlines()[-1].startswith("cached · ")
    assert len(server.requests) == 1


@pytest.mark.parametrize("as_stdin", [False, True])
def test_answers_from_a_pdf_name_pages(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_stdin: bool
) -> None:
    data = pdf("Lunch is at noon, as it always was.", "", "The drain is blocked by a pod.")
    path = tmp_path / "report.pdf"
    path.write_bytes(data)
    given(monkeypatch, data)
    name = "-" if as_stdin else str(path)
    outcome = run("digest", name, "what blocks the drain?")
    title = "standard input" if as_stdin else name
    assert outcome.out == f"The drain is blocked by a pod. [1]\n\n[1] {title} page 3\n"
    assert "warning: 1 of 3 pages without text" in outcome.err


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", b"---\ntitle: x\n---\n# Nodes\n\nA pod blocks the drain of nodes.\n"),
        ("a.HTML", b"<title>x</title><h1>Nodes</h1><p>A pod blocks the&nbsp;drain of nodes.</p>"),
        ("a.docx", docx(p("Nodes", "berschrift1") + p("A pod blocks the drain of nodes."))),
        ("a.log", "A pod blocks the drain of nodes.".encode("utf-16")),
    ],
)
def test_documents_of_every_kind_are_read(run: Run, tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    outcome = run("digest", path, "what blocks the drain?")
    assert outcome.code == 0
    assert "A pod blocks the" in outcome.out
    where = ", line " if name.lower().endswith((".html", ".docx")) else ":"
    assert f"[1] {path}{where}" in outcome.out


@pytest.mark.parametrize("data", [TEXT.encode(), docx(p(TEXT))])
def test_standard_input_is_read(run: Run, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    given(monkeypatch, data)
    outcome = run("digest", "-", "what blocks the drain?")
    assert outcome.code == 0
    assert "\n[1] standard input" in outcome.out


def test_the_front_matter_of_a_page_is_no_part_of_it(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "drain.md"
    page.write_text(f"---\ntitle: Drains\ntags: [drain, blocks]\n---\n{TEXT}")
    outcome = run("digest", page, "what", "blocks the drain?")
    assert "title" not in outcome.out
    assert outcome.out.splitlines()[-1] == f"[1] {page}:10"
    page.write_text("---\ntitle: [\n---\nSome words.\n")
    assert "Some words." in run("digest", page, "words").out


def test_a_link_is_followed_wherever_it_leads(run: Run, file: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.txt"
    link.parent.mkdir()
    link.symlink_to(file)
    assert f"[1] {link}:6" in run("digest", link, "what blocks the drain?").out


def test_without_a_question_it_is_about_the_beginning(run: Run, file: Path) -> None:
    assert run("digest", file).out.startswith("Lunch is at noon. [1]")


def test_what_matches_nothing_is_nothing_found(run: Run, file: Path, tmp_path: Path) -> None:
    outcome = run("digest", file, "zeppelin")
    assert (outcome.code, outcome.out) == (1, "")
    assert "nothing found in 1 chunk of" in outcome.err
    assert json.loads(run("digest", file, "zeppelin", "--json").out)["text"] == ""
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    outcome = run("digest", empty, "zeppelin")
    assert (outcome.code, outcome.out) == (1, "")
    assert "has no text" in outcome.err


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("none.txt", None, "No such file"),
        ("a.txt", b"\0\1\2", "not text"),
        ("a.pdf", encrypted(), "is encrypted"),
        ("a.pdf", scanned(), "OCR"),
        ("a.pdf", b"hello", "is no PDF"),
        ("a.docx", b"hello", "is a broken DOCX"),
        ("a.odt", b"hello", "save it as"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_reason(
    run: Run, tmp_path: Path, name: str, data: bytes | None, why: str
) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    outcome = run("digest", path, "x")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: {path}")
    assert why in outcome.err


@pytest.mark.parametrize(
    "options",
    [["--json", "--stream"], ["--model", "mine"], ["--llm", "no address"], ["--embedder", "nobody:x"]],
)
def test_options_that_make_no_sense_are_refused(run: Run, file: Path, options: list[str]) -> None:
    outcome = run("digest", file, "x", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")


@pytest.mark.parametrize("step", [failing(401), failing(404), too_long()])
def test_a_model_that_refuses_is_an_error(run: Run, file: Path, server: ChatServer, step: Any) -> None:
    server.script(step)
    outcome = run("digest", file, "secret question", "--llm", server.url)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: the language model at 127.0.0.1")
    assert "secret" not in outcome.err


def test_an_answer_that_breaks_off_is_shown_and_said_to_be(run: Run, file: Path, server: ChatServer) -> None:
    server.script(cut_off("Cordon it, then"))
    outcome = run("digest", file, "how?", "--llm", server.url)
    assert (outcome.code, outcome.out) == (0, "Cordon it, then\n")
    assert "the answer breaks off: " in outcome.err
    assert outcome.err.splitlines()[-1].startswith("provisional: it is not kept")


def test_an_answer_cannot_act_on_a_terminal(run: Run, file: Path, server: ChatServer) -> None:
    server.script(ok("red \x1b[31m\r\nline\ttab \x07[1]"), ok("red \x1b[31m"))
    outcome = run("digest", file, "how?", "--llm", server.url)
    assert outcome.out.startswith("red \\x1b[31m\nline\ttab \\x07[1]\n")
    assert "\x1b" not in run("digest", file, "and?", "--llm", server.url, "--stream").out


def test_the_key_of_models_goes_to_the_named_address(
    run: Run, file: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "sk-secret-1"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-2")
    assert "it wants a key" in run("digest", file, "how?", "--llm", server.url).err
    assert all("authorization" not in call.headers for call in server.calls)
    monkeypatch.setenv("FIRSTLIGHT_LLM_KEY", "sk-secret-1")
    assert run("digest", file, "how?", "--llm", server.url).code == 0


def test_openais_key_goes_to_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIRSTLIGHT_LLM_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-2")
    assert _key_for("https://api.openai.com/v1") == "sk-secret-2"
    for url in ("https://api.openai.com.example.com/v1", "https://example.com/v1?api.openai.com", "http://["):
        assert _key_for(url) is None
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example.com/v1")
    assert _key_for("https://models.example.com/v1") == "sk-secret-2"


def test_a_key_over_plain_http_is_refused(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_LLM_KEY", "sk-secret-1")
    outcome = run("digest", file, "how?", "--llm", "http://models.example.com/v1")
    assert outcome.code == 2
    assert "a key does not travel over plain http" in outcome.err
    assert "sk-secret" not in outcome.err


def test_a_process_of_its_own_streams_and_ends(process: Run, file: Path, server: ChatServer) -> None:
    outcome = process("digest", file, "how?", "--llm", server.url, "--stream")
    assert outcome.code == 0
    assert outcome.out.startswith("Cordon it, then drain it [1]")
    assert "Traceback" not in outcome.err
