from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.digest.chat_server import (
    ChatServer,
    Step,
    broken,
    cut_off,
    dropped,
    error_in_stream,
    failing,
    malformed,
    ok,
    out_of_tokens,
    raw,
    slow,
    stalled,
    too_long,
    too_many,
    trickled,
)

from firstlight.digest import llm
from firstlight.digest.chunks import Answer
from firstlight.digest.llm import ChatClient
from firstlight.errors import ChatError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

QUESTION = [{"role": "user", "content": "What is secret-text about?"}]
REPLY = "Über 漢字 🙂 it says so [1]."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(reply=REPLY) as running:
        yield running


@pytest.fixture
def client(server: ChatServer) -> ChatClient:
    return ChatClient(server.url, model="test-model", waits=(0.01, 0.02))


def answer(client: ChatClient, timeout: float = 10.0, **options: Any) -> str:
    return "".join(client.stream(QUESTION, timeout=timeout, **options))


def failure(client: ChatClient, timeout: float = 10.0, **options: Any) -> tuple[str, ChatError]:
    """Return what came before the error, and the error, which never repeats what was asked or said."""
    came: list[str] = []
    with pytest.raises(ChatError) as error:
        came.extend(client.stream(QUESTION, timeout=timeout, **options))
    assert "secret" not in str(error.value)
    assert error.value.__cause__ is None
    return "".join(came), error.value


def test_an_answer_comes_token_by_token(server: ChatServer, client: ChatClient) -> None:
    tokens = list(client.stream(QUESTION, timeout=10, temperature=0.2))
    assert "".join(tokens) == REPLY
    assert len(tokens) > 3
    (call,) = server.calls
    assert call.body == {"model": "test-model", "messages": QUESTION, "stream": True, "temperature": 0.2}
    assert "authorization" not in call.headers


def test_nothing_is_sent_before_the_first_token_is_asked_for(server: ChatServer, client: ChatClient) -> None:
    client.stream(QUESTION, timeout=10)
    assert server.calls == []


def test_the_only_model_is_asked_for_once(server: ChatServer) -> None:
    client = ChatClient(server.url)
    assert [answer(client) for _ in range(3)] == [REPLY] * 3
    assert client.name == "test-model"
    assert [call.path for call in server.calls].count("/v1/models") == 1
    assert {call.body["model"] for call in server.requests} == {"test-model"}


def test_of_several_models_the_first_is_taken(server: ChatServer) -> None:
    server.models = ("first", "second")
    assert ChatClient(server.url).name == "first"


def test_many_threads_ask_for_the_model_once(server: ChatServer) -> None:
    client = ChatClient(server.url)
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(answer(client, 30.0))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [REPLY] * 8
    assert [call.path for call in server.calls].count("/v1/models") == 1


def test_a_server_without_models_asks_for_a_name(server: ChatServer) -> None:
    server.models = ()
    came, error = failure(ChatClient(server.url))
    assert (came, error.kind) == ("", "refused")
    assert "say which one" in str(error)


def test_the_name_of_a_server_that_does_not_answer_is_its_address(server: ChatServer) -> None:
    client = ChatClient(server.url)
    server.key = "another"
    assert client.name == server.url.removeprefix("http://").removesuffix("/v1")
    server.key = None
    assert client.name == "test-model"


@pytest.mark.parametrize(
    "step",
    [
        failing(500),
        failing(503),
        too_many(after=0),
        too_many(),
        dropped(),
        malformed(),
        broken(""),
        cut_off(""),
    ],
)
def test_before_the_first_token_it_is_tried_again(server: ChatServer, client: ChatClient, step: Step) -> None:
    server.script(step, step)
    assert answer(client) == REPLY
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (failing(500), "unavailable"),
        (too_many(after=0), "rate-limited"),
        (dropped(), "unavailable"),
        (malformed(), "unavailable"),
        (error_in_stream(429), "rate-limited"),
        (error_in_stream("server_error"), "unavailable"),
    ],
)
def test_after_the_last_attempt_it_says_why(
    server: ChatServer, client: ChatClient, step: Step, kind: str
) -> None:
    server.script(*[step] * 3)
    came, error = failure(client)
    assert (came, error.kind) == ("", kind)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (failing(400), "refused"),
        (failing(401), "refused"),
        (failing(403), "refused"),
        (failing(404), "refused"),
        (failing(402), "refused"),
        (failing(429, code="insufficient_quota"), "refused"),
        (failing(307, Location="http://127.0.0.1:9/"), "refused"),
        (too_long(), "too-long"),
        (failing(413), "too-long"),
        (failing(400, message="this exceeds the available context size:"), "too-long"),
        (error_in_stream("context_length_exceeded"), "too-long"),
        (error_in_stream(400), "refused"),
        (raw(b"<html>secret-text</html>", "text/html"), "refused"),
        (Step(text="", finish="content_filter"), "refused"),
        (Step(text="", finish="tool_calls"), "refused"),
    ],
)  # fmt: skip
def test_what_will_never_be_taken_is_asked_once(
    server: ChatServer, client: ChatClient, step: Step, kind: str
) -> None:
    server.script(step)
    came, error = failure(client)
    assert (came, error.kind) == ("", kind)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "step",
    [
        cut_off("Half an"),
        broken("Half an"),
        out_of_tokens("Half an"),
        error_in_stream(500, text="Half an"),
        error_in_stream(429, text="Half an"),
        Step(text="Half an", finish="content_filter"),
    ],
)
def test_after_the_first_token_what_came_is_kept_and_called_cut_off(
    server: ChatServer, client: ChatClient, step: Step
) -> None:
    server.script(step)
    came, error = failure(client)
    assert (came, error.kind) == ("Half an", "cut-off")
    assert len(server.requests) == 1


@pytest.mark.parametrize("step", [stalled("Half an"), trickled("Half an")])
def test_the_deadline_ends_an_answer_that_stalls_or_trickles(
    server: ChatServer, client: ChatClient, step: Step
) -> None:
    server.script(step)
    start = time.monotonic()
    came, error = failure(client, timeout=0.5)
    assert (came, error.kind) == ("Half an", "cut-off")
    assert time.monotonic() - start < 5
    server.wait_for_hang_ups(1)


@pytest.mark.parametrize("step", [slow(30.0), Step(delay=30.0), trickled(""), stalled("")])
def test_the_deadline_ends_waiting_for_the_first_token(
    server: ChatServer, client: ChatClient, step: Step
) -> None:
    server.script(step)
    start = time.monotonic()
    came, error = failure(client, timeout=0.4)
    assert (came, error.kind) == ("", "unavailable")
    assert time.monotonic() - start < 5
    assert len(server.requests) == 1


def test_a_slow_first_token_within_the_deadline_is_waited_for(server: ChatServer, client: ChatClient) -> None:
    server.script(slow(0.3))
    assert answer(client) == REPLY


def test_a_server_that_asks_to_wait_beyond_the_deadline_is_not_waited_for(
    server: ChatServer, client: ChatClient
) -> None:
    server.script(too_many(after=50.0))
    start = time.monotonic()
    assert failure(client)[1].kind == "rate-limited"
    assert time.monotonic() - start < 5


def test_an_iterator_that_is_closed_closes_the_connection(server: ChatServer, client: ChatClient) -> None:
    server.script(stalled("Half an answer"))
    tokens = client.stream(QUESTION, timeout=60)
    assert next(tokens)
    tokens.close()  # type: ignore[attr-defined]
    server.wait_for_hang_ups(1)
    end = time.monotonic() + 5
    while any(thread.name == "firstlight-stream" for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_an_iterator_that_is_forgotten_closes_the_connection(server: ChatServer, client: ChatClient) -> None:
    server.script(stalled("Half an answer"))
    tokens = client.stream(QUESTION, timeout=60)
    assert next(tokens)
    del tokens
    server.wait_for_hang_ups(1)


@pytest.mark.parametrize("as_event", [True, False])
def test_a_stop_is_heard_while_the_server_is_silent(
    server: ChatServer, client: ChatClient, as_event: bool
) -> None:
    server.hold()
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    start = time.monotonic()
    assert failure(client, timeout=60, stop=stop if as_event else stop.is_set)[1].kind == "unavailable"
    assert time.monotonic() - start < 5


def test_a_stop_is_heard_between_attempts(server: ChatServer, client: ChatClient) -> None:
    server.script(too_many(after=50.0))
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    start = time.monotonic()
    failure(client, timeout=60, stop=stop)
    assert time.monotonic() - start < 5


def test_a_finished_answer_does_not_wait_for_the_connection_to_end(
    server: ChatServer, client: ChatClient
) -> None:
    server.script(Step(text="All of it.", ending="finish"))
    start = time.monotonic()
    assert answer(client, timeout=30) == "All of it."
    assert time.monotonic() - start < 5


def chunk(**delta: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


def test_what_a_model_thinks_is_no_part_of_its_answer(server: ChatServer, client: ChatClient) -> None:
    thinking = chunk(reasoning_content="hm") + chunk(reasoning="hm", content=None)
    server.script(raw(thinking + chunk(content="42") + b"data: [DONE]\n\n"))
    assert answer(client) == "42"
    server.script(ok("<think>\nIs it [1]?\n</think>\n\n42 <think>"))
    assert answer(client) == "42 <think>"


def test_a_model_that_only_thought_until_its_tokens_were_gone_is_cut_off(
    server: ChatServer, client: ChatClient
) -> None:
    server.script(out_of_tokens("<think>and so on and so"))
    came, error = failure(client)
    assert (came, error.kind) == ("", "cut-off")


@given(
    st.lists(st.sampled_from(["<", "think", ">", "</think>", "</thi", "nk>", "a", " ", "\n"]), max_size=12)
)
def test_thinking_is_left_out_wherever_it_is_cut(pieces: list[str]) -> None:
    def read(parts: list[str]) -> str:
        reader = Answer()
        return ("".join([*map(reader.take, parts), reader.rest()])).lstrip()

    text = "".join(pieces)
    assert read(pieces) == read([text]) == read(list(text))
    if not text.lstrip().startswith("<think>"):
        assert read(pieces) == text.lstrip()


def test_parts_other_choices_usage_and_comments_are_understood(
    server: ChatServer, client: ChatClient
) -> None:
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "42"}]
    other = b'data: {"choices": [{"index": 1, "delta": {"content": "no"}}]}\n\n'
    usage = b'data: {"choices": [], "usage": {}}\n\n'
    server.script(raw(b": ping\n\n" + other + usage + chunk(content=parts) + b"data: [DONE]\n\n"))
    assert answer(client) == "42"


def test_a_server_that_does_not_stream_is_understood(server: ChatServer, client: ChatClient) -> None:
    message = {"choices": [{"index": 0, "message": {"content": "42"}, "finish_reason": "stop"}]}
    server.script(raw(json.dumps(message).encode(), "application/json"))
    assert answer(client) == "42"


@pytest.mark.parametrize(
    "body",
    [
        b"data: 7\n\n",
        b'data: {"choices": 7}\n\n',
        b'data: {"choices": [7]}\n\n',
        b'data: {"choices": [{"delta": {"content": 7}}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b"\xff\xfe\x00",
        b"",
        b"nothing of this kind",
        b"data: \xff\n\n",
    ],
)
def test_nonsense_is_no_answer(server: ChatServer, body: bytes) -> None:
    client = ChatClient(server.url, model="m", waits=())
    server.script(raw(body))
    assert failure(client)[1].kind == "unavailable"


def test_an_answer_without_end_is_cut_off(
    server: ChatServer, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm, "_MAX_CHARACTERS", 100)
    server.script(ok("again and " * 1000))
    came, error = failure(client)
    assert error.kind == "cut-off"
    assert 100 < len(came) < 200
    monkeypatch.setattr(llm, "MAX_ANSWER", 100)
    assert failure(client)[1].kind in ("cut-off", "refused")


def test_where_nobody_listens_it_is_unavailable(server: ChatServer, client: ChatClient) -> None:
    server.stop()
    came, error = failure(client)
    assert (came, error.kind) == ("", "unavailable")
    assert "no connection" in str(error)


def test_a_key_goes_along_and_is_never_shown(server: ChatServer, caplog: pytest.LogCaptureFixture) -> None:
    server.key = "sk-secret-1"
    client = ChatClient(server.url, key="sk-secret-1")
    with caplog.at_level(logging.DEBUG):
        assert answer(client) == REPLY
    assert "sk-secret" not in repr(client) + repr(vars(client)) + caplog.text
    assert "secret-text" not in caplog.text
    assert "wants a key" in str(failure(ChatClient(server.url, model="m"))[1])
    assert "does not take the key" in str(failure(ChatClient(server.url, model="m", key="sk-secret-2"))[1])


@pytest.mark.parametrize("url", ["http://models.example.com/v1", "http://10.0.0.1:8080/v1"])
def test_a_key_does_not_travel_over_plain_http(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^llm: a key does not travel over plain http"):
        ChatClient(url, key="sk-secret-1")
    ChatClient(url)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://a/v1", "http://a:b@c/v1", "http://a/v1?key=b"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^llm: "):
        ChatClient(url)


def test_importing_it_loads_no_client() -> None:
    code = (
        "import sys, firstlight.digest.llm as llm\nllm.ChatClient('http://127.0.0.1:9/v1')\n"
        "print(sorted({'httpx2', 'stamina', 'ssl', 'numpy'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ConfigError, match=r"pip install 'firstlight\[http\]'"):
        answer(ChatClient("http://127.0.0.1:9/v1"))
