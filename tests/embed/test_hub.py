from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from tests.embed import tiny_model

from firstlight.embed import download as downloads
from firstlight.embed import hub
from firstlight.embed.download import download
from firstlight.embed.hub import hub_embedder
from firstlight.embed.types import Embedder
from firstlight.embed.windows import windows
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from firstlight.embed.hub import HubEmbedder

REVISION = "0123456789abcdef0123456789abcdef01234567"
MODEL = f"org/name@{REVISION}"
NETWORK = "onnx/model.onnx"


class Answer(NamedTuple):
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    length: int | None = None  # what is said of the body, where that is not true


class Hub(ThreadingHTTPServer):
    """A hub of one model; `answers` takes the place of the file of that name."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = tiny_model.files()
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str) -> Answer:
        name = path.removeprefix(f"/org/name/resolve/{REVISION}/")
        self.asked.append(name)
        if name in self.answers:
            return self.answers[name]
        return Answer(body=self.files[name]) if name in self.files else Answer(404)


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        answer = self.server.answer(self.path)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body) if answer.length is None else answer.length))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    for package in ("onnxruntime", "tokenizers", "httpx2"):
        pytest.importorskip(package, reason="the extras 'local' and 'http' are not installed")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Hub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url + "/")
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def make(server: Hub, tmp_path: Path) -> Callable[..., HubEmbedder]:
    def make(model: str = MODEL, *, allow_downloads: bool = True, threads: int = 1) -> HubEmbedder:
        return hub_embedder(
            model, folder=tmp_path / "models", allow_downloads=allow_downloads, threads=threads
        )

    return make


def unit(*rows: list[float]) -> list[list[float]]:
    table = np.array(rows)
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).tolist()  # type: ignore[no-any-return]


def test_a_model_is_fetched_at_its_first_use_and_then_never_again(
    server: Hub, make: Callable[..., HubEmbedder]
) -> None:
    embedder = make()
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimensions, embedder.max_tokens) == ("org/name", 0, 0)
    assert not embedder.is_here
    assert REVISION in embedder.fingerprint
    assert server.asked == []
    vectors = embedder.embed(["alpha", "beta beta"], "document")
    np.testing.assert_allclose(vectors, unit([1, 1, 8], [1, 13, 0]), atol=1e-6)
    assert (embedder.dimensions, embedder.max_tokens, embedder.is_here) == (3, 16, True)
    assert sorted(server.asked) == sorted(server.files)

    server.shutdown()
    again = make(allow_downloads=False)
    assert again.embed(["alpha", "beta beta"], "query").tobytes() == vectors.tobytes()
    assert again.dimensions == 3
    assert len(server.asked) == 4


def test_a_model_may_pool_by_its_first_token(server: Hub, make: Callable[..., HubEmbedder]) -> None:
    server.files["1_Pooling/config.json"] = tiny_model.config(
        word_embedding_dimension=3, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False
    )
    assert make().embed(["alpha"], "document").tolist() == [[1, 0, 0]]


def test_a_network_may_stand_at_the_top_and_want_other_inputs(
    server: Hub, make: Callable[..., HubEmbedder]
) -> None:
    del server.files[NETWORK]
    server.files["model.onnx"] = tiny_model.network(inputs=("input_ids", "attention_mask", "token_type_ids"))
    np.testing.assert_allclose(make().embed(["alpha"], "document"), unit([1, 1, 8]), atol=1e-6)


def test_texts_are_neither_cut_nor_padded_and_their_windows_fit(make: Callable[..., HubEmbedder]) -> None:
    embedder = make()
    long = "alpha beta " * 20
    with pytest.raises(EmbeddingError, match="42 tokens, org/name takes 16") as caught:
        embedder.embed([long], "document")
    assert caught.value.kind == "too-large"
    parts = windows(long, embedder)
    assert "".join(parts) == long
    assert len(parts) == 3
    assert embedder.embed(parts, "document").shape == (3, 3)


def test_a_marker_inside_a_text_is_text(make: Callable[..., HubEmbedder]) -> None:
    marker, unknown = make().embed(["[SEP]", "- - -"], "document")
    assert marker.tobytes() == unknown.tobytes()


def test_the_bits_do_not_depend_on_threads(make: Callable[..., HubEmbedder]) -> None:
    texts = [f"alpha {'beta ' * (n % 9)}" for n in range(50)]
    assert make(threads=3).embed(texts, "document").tobytes() == make().embed(texts, "document").tobytes()


def test_threads_that_come_first_together_fetch_each_file_once(
    server: Hub, make: Callable[..., HubEmbedder]
) -> None:
    embedder = make()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: embedder.embed(["alpha"], "document"), range(8)))
    assert sorted(server.asked) == sorted(server.files)


def test_what_was_fetched_before_an_interruption_is_kept(
    server: Hub, make: Callable[..., HubEmbedder], tmp_path: Path
) -> None:
    server.answers[NETWORK] = Answer(503)
    embedder = make()
    with pytest.raises(EmbeddingError, match="503") as caught:
        embedder.fetch()
    assert caught.value.kind == "unavailable"
    del server.answers[NETWORK]
    server.asked.clear()
    embedder.fetch()
    assert server.asked == [NETWORK]
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    "model",
    [
        "org/name",
        "org/name@main",
        f"org/name@{REVISION[:-1]}",
        f"org/name@{REVISION.upper()}",
        f"org/name@{REVISION}/..",
        f"org/name@{REVISION}\n",
    ],
)
def test_a_model_that_is_not_pinned_is_refused(make: Callable[..., HubEmbedder], model: str) -> None:
    with pytest.raises(ConfigError, match="all 40 digits"):
        make(model)


@pytest.mark.parametrize(
    "name", ["", "name", "../name", "org/..", "org/../x", "a/b/c", "org/na me", "/x", "org/n..m"]
)
def test_a_name_that_is_none_is_refused(make: Callable[..., HubEmbedder], name: str) -> None:
    with pytest.raises(ConfigError, match="no model of the hub"):
        make(f"{name}@{REVISION}")


def test_nothing_is_fetched_where_the_user_does_not_allow_it(
    server: Hub, make: Callable[..., HubEmbedder]
) -> None:
    with pytest.raises(ConfigError, match="FIRSTLIGHT_ALLOW_DOWNLOADS=1"):
        make(allow_downloads=False)
    assert server.asked == []


@pytest.mark.parametrize(
    "missing", ["sentence_bert_config.json", "1_Pooling/config.json", "tokenizer.json", NETWORK]
)
def test_a_model_that_lacks_a_file_is_refused(
    server: Hub, make: Callable[..., HubEmbedder], missing: str
) -> None:
    del server.files[missing]
    with pytest.raises(ConfigError, match=f"it has no {missing}"):
        make().embed(["alpha"], "document")


@pytest.mark.parametrize(
    ("file", "data", "reason"),
    [
        ("sentence_bert_config.json", b"{", "cannot be read"),
        ("sentence_bert_config.json", b"[]", "is no table"),
        ("sentence_bert_config.json", b'{"max_seq_length": null}', "max_seq_length"),
        ("1_Pooling/config.json", b'{"pooling_mode_max_tokens": true}', "pools by pooling_mode_max_tokens"),
        ("1_Pooling/config.json", b"{}", "pools by nothing"),
        ("1_Pooling/config.json", b'{"pooling_mode_mean_tokens": true}', "word_embedding_dimension"),
        ("tokenizer.json", b'{"version": "1.0"}', "tokenizer.json cannot be read"),
        (NETWORK, b"no model", "cannot be loaded"),
        (NETWORK, b"", "cannot be loaded"),
        (NETWORK, tiny_model.network(inputs=("input_ids", "pixels")), "the input 'pixels'"),
        (NETWORK, tiny_model.network(rank=2), r"cannot be loaded|no output"),
    ],
)
def test_a_model_of_an_unknown_kind_is_refused(
    server: Hub, make: Callable[..., HubEmbedder], file: str, data: bytes, reason: str
) -> None:
    server.files[file] = data
    with pytest.raises(ConfigError, match=reason):
        make().embed(["alpha"], "document")


def test_vectors_of_another_length_than_said_are_refused(
    server: Hub, make: Callable[..., HubEmbedder]
) -> None:
    server.files["1_Pooling/config.json"] = tiny_model.config(
        word_embedding_dimension=4, pooling_mode_mean_tokens=True
    )
    with pytest.raises(EmbeddingError, match="3 numbers, not 4"):
        make().embed(["alpha"], "document")


def test_a_missing_extra_is_told_with_the_command_that_adds_it(
    make: Callable[..., HubEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'firstlight\[http\]'"):
        make().fetch()
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'firstlight\[local\]'"):
        make()


# One file


def fetched(server: Hub, target: Path, *, max_bytes: int = 1000) -> bool:
    return download(f"{server.url}/file", target, max_bytes=max_bytes)


def test_a_file_is_put_in_place_and_a_missing_one_is_told(server: Hub, tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    assert not fetched(server, target)
    assert not target.exists()
    server.answers["/file"] = Answer(body=b"data")
    assert fetched(server, target)
    assert target.read_bytes() == b"data"


def test_redirects_within_the_host_are_followed(server: Hub, tmp_path: Path) -> None:
    digest = sha256(b"data").hexdigest()
    claims = {"x-linked-size": "4", "x-linked-etag": f'"{digest}"'}
    server.answers["/file"] = Answer(302, headers={"location": "/elsewhere", **claims})
    server.answers["/elsewhere"] = Answer(body=b"data")
    assert fetched(server, tmp_path / "file")


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:{port}/x",
        "http://127.0.0.1:1/x",
        "http://example.com/x",
        "file:///etc/passwd",
        "ftp://h/x",
    ],
)
def test_redirects_to_another_host_are_followed_over_https_alone(
    server: Hub, tmp_path: Path, location: str
) -> None:
    server.answers["/file"] = Answer(302, headers={"location": location.format(port=server.server_port)})
    server.answers["/x"] = Answer(body=b"data")
    with pytest.raises(EmbeddingError, match=r"another host|cannot be fetched"):
        fetched(server, tmp_path / "file")
    assert server.asked == ["/file"]


def test_a_circle_of_redirects_ends(server: Hub, tmp_path: Path) -> None:
    server.answers["/file"] = Answer(302, headers={"location": "/file"})
    with pytest.raises(EmbeddingError, match="in a circle"):
        fetched(server, tmp_path / "file")
    assert len(server.asked) == 5


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (Answer(429), "unavailable", "429"),
        (Answer(500), "unavailable", "500"),
        (Answer(400), "refused", "400"),
        (Answer(206, b"da"), "refused", "206"),
        (Answer(body=b"d" * 1001), "refused", "1,000 bytes"),
        (Answer(body=b"data", length=9), "unavailable", "cannot be fetched"),
        (Answer(body=b"data", headers={"x-linked-size": "9"}), "unavailable", "did not arrive"),
        (Answer(body=b"data", headers={"x-linked-etag": f'"{"0" * 64}"'}), "unavailable", "did not arrive"),
    ],
)
def test_a_file_that_does_not_come_whole_leaves_nothing_behind(
    server: Hub, tmp_path: Path, answer: Answer, kind: str, reason: str
) -> None:
    server.answers["/file"] = answer
    with pytest.raises(EmbeddingError, match=reason) as caught:
        fetched(server, tmp_path / "file")
    assert caught.value.kind == kind
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_file_behind_a_login_is_refused(server: Hub, tmp_path: Path, status: int) -> None:
    server.answers["/file"] = Answer(status)
    with pytest.raises(ConfigError, match="only public models"):
        fetched(server, tmp_path / "file")


def test_a_hub_that_is_not_there_may_be_there_later(server: Hub, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="tried again later") as caught:
        download("http://127.0.0.1:1/file", tmp_path / "file", max_bytes=9)
    assert caught.value.kind == "unavailable"


@pytest.mark.parametrize(
    "url", ["http://example.com/file", "ftp://example.com/file", "file:///x", "x", "http://[/x"]
)
def test_only_https_is_asked_beyond_this_machine(server: Hub, tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="https alone"):
        download(url, tmp_path / "file", max_bytes=9)


def test_an_address_is_shown_without_login_and_signature(server: Hub, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        download("http://user:secret@example.com/file?secret=1", tmp_path / "file", max_bytes=9)
    assert "secret" not in str(caught.value)


def test_a_folder_that_cannot_be_written_is_told(server: Hub, tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"")
    server.answers["/file"] = Answer(body=b"data")
    with pytest.raises(ConfigError, match="models cannot be kept here"):
        fetched(server, tmp_path / "taken" / "file")
