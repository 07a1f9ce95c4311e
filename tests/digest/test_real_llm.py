"""The whole path against a real language model and a real embedder: `make test-llm`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from firstlight.cli import main
from firstlight.digest.engine import DigestEngine
from firstlight.digest.llm import ChatClient
from firstlight.embed.installed import local_is_installed
from firstlight.errors import ChatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

pytestmark = pytest.mark.skipif(
    os.environ.get("FIRSTLIGHT_TEST_LLM") != "1",
    reason="downloads and runs a language model of 253 MB: `make test-llm` does",
)

# The interpreter that has the dependency group `llm`, where it is not this one.
PYTHON = os.environ.get("FIRSTLIGHT_LLM_PYTHON", sys.executable)
LIFETIME = 900  # seconds
ANSWER = 300.0  # seconds for one answer, of one thread on a busy machine
QUESTION = [{"role": "user", "content": "Where does the pump stand?"}]
# The model is small and untaught: a grammar makes it write a sentence that cites, and come to an end.
GRAMMAR = 'root ::= [A-Z] [a-z ]{10,60} " [" [1-5] "]."'


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("llm")
    program = Path(__file__).with_name("llama_server.py")
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [PYTHON, str(program), str(folder), str(LIFETIME)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), (folder / "log").read_text()[-2000:]
        yield f"{address}/v1"
    finally:
        server.kill()
        server.communicate()
    assert server.returncode is not None


class Taught:
    """The model, held to a grammar."""

    def __init__(self, url: str) -> None:
        self._client = ChatClient(url)
        self.asked: list[str] = []

    @property
    def name(self) -> str:
        return self._client.name

    def stream(self, messages: Sequence[Mapping[str, str]], **options: Any) -> Iterator[str]:
        self.asked.append(messages[-1]["content"])
        return self._client.stream(messages, grammar=GRAMMAR, **options)


def test_an_answer_comes_in_pieces_and_ends_by_itself(url: str) -> None:
    model = Taught(url)
    assert model.name == "gemma3-270m"
    pieces = list(model.stream(QUESTION, timeout=ANSWER))
    assert len(pieces) > 3
    assert "".join(pieces).endswith("].")


def test_an_answer_that_would_not_end_is_cut_off_with_what_came(url: str) -> None:
    came: list[str] = []
    with pytest.raises(ChatError) as error:
        came.extend(ChatClient(url).stream(QUESTION, timeout=ANSWER))
    assert error.value.kind == "cut-off"


def test_more_than_the_context_holds_is_too_long(url: str) -> None:
    with pytest.raises(ChatError) as error:
        next(ChatClient(url).stream([{"role": "user", "content": "pump " * 20_000}], timeout=ANSWER))
    assert error.value.kind == "too-long"


def test_a_deadline_and_a_closed_stream_leave_the_server_free_for_the_next(url: str) -> None:
    client = ChatClient(url)
    with pytest.raises(ChatError) as error:
        list(client.stream([{"role": "user", "content": "pump " * 4_000}], timeout=0.5))
    assert error.value.kind == "unavailable"
    tokens = client.stream(QUESTION, timeout=ANSWER)
    assert next(tokens) is not None
    tokens.close()  # type: ignore[attr-defined]
    start = time.monotonic()
    assert "".join(Taught(url).stream(QUESTION, timeout=ANSWER)).endswith("].")
    assert time.monotonic() - start < ANSWER


def long_text() -> str:
    sections = [
        f"Section {n}. The {('boiler', 'crane', 'mill', 'forge')[n % 4]} of hall {n} was seen in {1900 + n}, "
        + "and it was found to be in good order by those who keep it and know it well. " * 50
        for n in range(60)
    ]
    sections[40] += "The red pump stands in hall 444 behind the northern wall."
    return "\n\n".join(sections)


def test_the_whole_path_is_first_by_words_and_then_hybrid(url: str, tmp_path: Path) -> None:
    if not local_is_installed():
        pytest.skip("the extra 'local' is not installed")
    text, question = long_text(), "In which hall does the red pump stand?"
    model = Taught(url)
    engine = DigestEngine(llm=model, embedder="local", cache=tmp_path / "digest.db", timeout=ANSWER)
    with engine:
        first = engine.run(text, question)
        assert (first.retrieval, first.embedded, first.provisional) == ("bm25", 0, True)
        assert engine.wait_background(300)
        with engine.stream(text, question) as stream:
            pieces = list(stream)
            second = stream.digest
        third = engine.run(text, question)
    assert len(pieces) > 3
    assert (second.retrieval, second.embedded, second.provisional) == ("hybrid", second.total, False)
    assert third.retrieval == "cached"
    assert third.text == second.text == "".join(pieces)
    assert len(model.asked) == 2
    for digest in (first, second):
        assert digest.llm == "gemma3-270m"
        assert any("hall 444" in passage.text for passage in digest.passages)
        (citation,) = digest.citations
        assert text[citation.start : citation.end] == digest.passages[citation.number - 1].text
        assert digest.removed == 0


def test_the_command_shows_what_comes_and_why_it_ends(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FIRSTLIGHT_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FIRSTLIGHT_CONFIG", str(tmp_path / "config.toml"))
    file = tmp_path / "pump.md"
    file.write_text("# The pump\n\nThe pump stands in hall 4.\n")
    options = ["--llm", url, "--stream", "--timeout", str(ANSWER)]
    main(["digest", str(file), "where is the pump?", *options])
    outcome = capsys.readouterr()
    assert outcome.out.strip()
    assert "the most tokens" in outcome.err  # the model does not end by itself
    assert "Traceback" not in outcome.err
