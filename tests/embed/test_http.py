from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.embed.provider_server import dropped, late, redirect, trickled, truncated

from firstlight.embed import http
from firstlight.embed.address import check_access
from firstlight.embed.http import Connections, UnreachedError
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.embed.provider_server import ProviderServer, Step

BODY = b'{"inputs": ["a text"]}'


@pytest.fixture
def connections(provider: ProviderServer) -> Iterator[Connections]:
    made = Connections(provider.url("tei"), key="sk-secret-1")
    yield made
    made.close()


def test_a_body_is_posted_with_the_key_and_none_is_a_get(
    provider: ProviderServer, connections: Connections
) -> None:
    assert connections.send("/embed", BODY, timeout=10).status == 200
    reply = connections.send("/info", None, timeout=10)
    assert b"model_id" in reply.content
    assert reply.headers["content-type"] == "application/json"
    assert [call.path for call in provider.calls] == ["/embed", "/info"]
    assert {call.headers["authorization"] for call in provider.calls} == {"Bearer sk-secret-1"}


def test_a_connection_is_kept_for_the_next_request(
    provider: ProviderServer, connections: Connections
) -> None:
    for _ in range(3):
        connections.send("/embed", BODY, timeout=10)
    assert provider.connections_made == 1


def test_many_threads_share_the_connections(provider: ProviderServer, connections: Connections) -> None:
    replies: list[int] = []

    def send() -> None:
        for _ in range(5):
            replies.append(connections.send("/embed", BODY, timeout=30).status)  # noqa: PERF401

    threads = [threading.Thread(target=send) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [200] * 80
    assert provider.connections_made <= 16


@pytest.mark.parametrize("step", [late(5.0), trickled()])
def test_the_deadline_is_that_of_the_whole_exchange(
    provider: ProviderServer, connections: Connections, step: Step
) -> None:
    provider.script(step)
    start = time.monotonic()
    with pytest.raises(UnreachedError, match="no answer within"):
        connections.send("/embed", BODY, timeout=0.3)
    assert time.monotonic() - start < 4.0
    assert connections.send("/embed", BODY, timeout=10).status == 200


def test_a_stop_ends_an_exchange_that_is_under_way(
    provider: ProviderServer, connections: Connections
) -> None:
    provider.hold()
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    start = time.monotonic()
    with pytest.raises(EmbeddingError, match="stopped"):
        connections.send("/embed", BODY, timeout=60, stop=stop)
    assert time.monotonic() - start < 4.0


@pytest.mark.parametrize("step", [late(5.0), trickled()])
def test_what_is_left_behind_ends_its_thread(
    provider: ProviderServer, connections: Connections, step: Step
) -> None:
    provider.script(step)
    with pytest.raises(UnreachedError):
        connections.send("/embed", BODY, timeout=0.2)
    end = time.monotonic() + 5
    while any(thread.name == "firstlight-http" for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_kept_connection_that_is_left_behind_ends_its_thread_at_once(
    provider: ProviderServer, connections: Connections
) -> None:
    connections.send("/embed", BODY, timeout=10)
    provider.hold()
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(EmbeddingError, match="stopped"):
        connections.send("/embed", BODY, timeout=60, stop=stop)
    for thread in threading.enumerate():
        if thread.name == "firstlight-http":
            thread.join(5)
            assert not thread.is_alive()
    provider.release()
    assert connections.send("/embed", BODY, timeout=10).status == 200


@pytest.mark.parametrize("step", [dropped(), truncated()])
def test_a_broken_connection_is_worth_another_attempt(
    provider: ProviderServer, connections: Connections, step: Step
) -> None:
    provider.script(step)
    with pytest.raises(UnreachedError, match="the connection broke") as error:
        connections.send("/embed", BODY, timeout=10)
    assert error.value.again


def test_where_nobody_listens_there_is_no_connection(provider: ProviderServer) -> None:
    url = provider.url("tei")
    provider.stop()
    with pytest.raises(UnreachedError, match="no connection"):
        Connections(url).send("/embed", BODY, timeout=10)


def test_an_endless_answer_is_not_read(
    provider: ProviderServer, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_ANSWER", 100)
    with pytest.raises(UnreachedError, match="an answer of more than") as error:
        connections.send("/embed", BODY, timeout=10)
    assert not error.value.again


def test_a_redirect_is_not_followed(provider: ProviderServer, connections: Connections) -> None:
    provider.script(redirect("http://127.0.0.1:9/elsewhere"))
    assert connections.send("/embed", BODY, timeout=10).status == 307
    assert len(provider.calls) == 1


def test_proxies_of_the_environment_are_not_used(
    provider: ProviderServer, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert connections.send("/embed", BODY, timeout=10).status == 200


def test_a_proxy_that_was_given_is_used(provider: ProviderServer) -> None:
    with_proxy = Connections("http://models.invalid", proxy=provider.url("tei"))
    assert with_proxy.send("/info", None, timeout=10).status == 404
    assert provider.calls[0].path == "http://models.invalid/info"
    with_proxy.close()


def test_after_close_nothing_is_kept_open(provider: ProviderServer, connections: Connections) -> None:
    connections.send("/embed", BODY, timeout=10)
    connections.close()
    assert connections.send("/embed", BODY, timeout=10).status == 200
    assert provider.connections_made == 2


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models.example.com",
        "ftp://a",
        "http://",
        "http://a:b@c",
        "https://a/?x=1",
        "https://a#b",
        "http://a:port",
    ],
)
def test_an_address_that_is_none_is_refused_unseen(url: str) -> None:
    with pytest.raises(ConfigError, match=r"^base_url: .*say http\(s\)://HOST") as error:
        check_access(url, None)
    assert not url or url not in str(error.value)


@pytest.mark.parametrize(
    "host", ["models.example.com", "10.0.0.7:8080", "localhost.example.com", "[2001:db8::1]"]
)
def test_a_key_does_not_travel_over_plain_http(host: str) -> None:
    check_access(f"http://{host}", None)
    check_access(f"https://{host}", "sk-secret-1")
    with pytest.raises(ConfigError, match="does not travel over plain http") as error:
        check_access(f"HTTP://{host}", "sk-secret-1")
    assert "sk-secret" not in str(error.value)


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "127.9.9.9", "[::1]:80"])
def test_a_key_may_go_to_this_machine_but_not_through_a_proxy(host: str) -> None:
    check_access(f"http://{host}", "sk-secret-1")
    with pytest.raises(ConfigError, match="plain http"):
        check_access(f"http://{host}", "sk-secret-1", proxy="http://proxy.example.com")


@pytest.mark.parametrize("key", ["", "sk-secret-ü", "sk-secret 1", "sk-secret-1\n", "sk-secret\r\nX: y"])
def test_a_key_that_no_header_takes_is_refused_unseen(key: str) -> None:
    with pytest.raises(ConfigError, match=r"^key: ") as error:
        check_access("https://a.example.com", key)
    assert "secret" not in str(error.value)


def test_importing_a_provider_loads_no_client() -> None:
    code = (
        "import sys, firstlight.embed.openai, firstlight.embed.ollama, firstlight.embed.tei\n"
        "firstlight.embed.openai.OpenAIEmbedder('m', base_url='http://127.0.0.1:9')\n"
        "print(sorted({'httpx2', 'stamina', 'tenacity', 'email.utils', 'ssl'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ConfigError, match=r"pip install 'firstlight\[http\]'"):
        Connections("http://127.0.0.1:9").send("/embed", BODY, timeout=1)
