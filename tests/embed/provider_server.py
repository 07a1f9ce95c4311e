"""A small real HTTP server on loopback that speaks each provider's wire format, and misbehaves.

It answers `POST /v1/embeddings` (OpenAI), `POST /api/embed` and `GET /api/tags` (Ollama), `POST /embed` and
`GET /info` (text-embeddings-inference). A text's vector is derived from the text alone, so that order can be
checked, and everything is counted: `calls` has every request, `inputs` each text of which a vector went out.

    with ProviderServer(dimensions=8) as server:
        server.script(too_many(after=0), ok(), dropped())  # the next three requests for vectors
        embedder = OpenAIEmbedder("test-model", base_url=server.url("openai"))
        ...
        assert server.times("this text") == 1

Steps of a script are taken by requests for vectors, in the order in which these come; when none is left,
answers are right. `hold()` lets requests come in and be counted, and answers none until `release()`. From any
folder of tests: `from tests.embed.provider_server import ProviderServer, too_many`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

Kind = Literal["openai", "ollama", "tei"]
Rows = list[list[float]]

KINDS: tuple[Kind, ...] = ("openai", "ollama", "tei")
_PATHS: dict[str, Kind] = {"/v1/embeddings": "openai", "/api/embed": "ollama", "/embed": "tei"}
_ROOTS = {"openai": "/v1", "ollama": "", "tei": ""}
_BATCH = 32  # what a text-embeddings-inference server takes by default


def vector_of(text: str, dimensions: int) -> list[float]:
    """Return the text's own vector, which is not of unit length: a client has to see to that."""
    noise = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(2 * dimensions)
    return [
        int.from_bytes(noise[at : at + 2], "big") / 32768 - 1 + 1 / 65536
        for at in range(0, 2 * dimensions, 2)
    ]


def unit(text: str, dimensions: int) -> NDArray[np.float32]:
    """Return what an embedder should make of the text's vector: float32[dimensions], of unit length."""
    vector = np.array(vector_of(text, dimensions))
    scaled: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
    return scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one request for vectors is answered with.

    Attributes:
        status: The HTTP status; an error from 300 on.
        code: The machine-readable code of an error.
        message: The words of an error; the first text of the request follows them, as real providers echo it.
        headers: More headers.
        delay: Seconds before the answer.
        spoil: What is done to the right vectors.
        ending: "whole", "truncated" (half of the body, with a length that says so), "dropped" (no answer at
            all) or "trickled" (a byte each 20 ms, headers first, without end).
    """

    status: int = 200
    code: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    spoil: Callable[[Rows], Rows] = list
    ending: Literal["whole", "truncated", "dropped", "trickled"] = "whole"


def ok() -> Step:
    """A right answer."""
    return Step()


def late(seconds: float) -> Step:
    """A right answer, after a while."""
    return Step(delay=seconds)


def failing(status: int, *, code: str = "", message: str = "it failed for", **headers: str) -> Step:
    """An error of that status."""
    return Step(status=status, code=code, message=message, headers=headers)


def too_many(*, after: float | str | None = None) -> Step:
    """429; `after` is its Retry-After, in seconds or as an HTTP date."""
    headers = {} if after is None else {"Retry-After": str(after)}
    return Step(status=429, code="rate_limit_exceeded", message="slow down with", headers=headers)


def no_quota(status: int = 429) -> Step:
    """429 as OpenAI says it when nothing is left to spend; others say 402."""
    return Step(status=status, code="insufficient_quota", message="you exceeded your current quota with")


def too_large() -> Step:
    """413."""
    return Step(status=413, code="Validation", message="batch size > maximum allowed batch size:")


def too_long(status: int = 400) -> Step:
    """A text that is longer than the model takes, in the words that OpenAI and Ollama share."""
    return Step(status=status, message="the input length exceeds the maximum context length:")


def redirect(url: str) -> Step:
    """A redirect to another place."""
    return Step(status=307, headers={"Location": url})


def short(fewer: int = 1) -> Step:
    """Fewer vectors than texts."""
    return Step(spoil=lambda rows: rows[:-fewer])


def wrong_dimension(dimensions: int = 3) -> Step:
    """Vectors of another length."""
    return Step(spoil=lambda rows: [(row * dimensions)[:dimensions] for row in rows])


def not_a_number() -> Step:
    """NaN in the last vector."""
    return Step(spoil=lambda rows: [*rows[:-1], [float("nan"), *rows[-1][1:]]])


def zero() -> Step:
    """A last vector of zeros."""
    return Step(spoil=lambda rows: [*rows[:-1], [0.0] * len(rows[-1])])


def truncated() -> Step:
    """Half an answer."""
    return Step(ending="truncated")


def dropped() -> Step:
    """A connection that ends without an answer."""
    return Step(ending="dropped")


def trickled() -> Step:
    """An answer of which a byte comes now and then, for ever."""
    return Step(ending="trickled")


@dataclass(frozen=True, slots=True)
class Call:
    """A request that came in: its path, the texts in it, and its headers, their names in lower case."""

    path: str
    texts: tuple[str, ...]
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class ProviderServer:
    """The server; a context manager, or `start()` and `stop()`.

    Args:
        dimensions: The length of its vectors.
        model: What it says that it serves; a request for another model is a 404, unless this is empty.
        revision: The digest or commit that it gives the model.
        max_texts: More texts than that in a request are a 413.
        max_bytes: A longer body is a 413.
        max_chars: A longer text is refused as too long for the model.
        key: What requests must bring as a bearer token, else a 401.
        vector: (text, dimensions) -> what its vector is.
        shuffled: Answers in OpenAI's format come in another order, as their indices say.
    """

    def __init__(
        self,
        *,
        dimensions: int = 8,
        model: str = "",
        revision: str = "0123abcd",
        max_texts: int | None = None,
        max_bytes: int | None = None,
        max_chars: int | None = None,
        key: str | None = None,
        vector: Callable[[str, int], list[float]] = vector_of,
        shuffled: bool = False,
    ) -> None:
        self.dimensions, self.model, self.revision = dimensions, model, revision
        self.max_texts, self.max_bytes, self.max_chars, self.key = max_texts, max_bytes, max_chars, key
        self.vector, self.shuffled = vector, shuffled
        self.calls: list[Call] = []
        self.inputs: list[str] = []
        self.connections_made = 0
        self.stopping = threading.Event()
        self._steps: deque[Step] = deque()
        self._open = threading.Event()
        self._open.set()
        self._changed = threading.Condition()
        self._http: _Listener | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Listen on a free port of loopback."""
        self._http = _Listener(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="provider-server")
        self._thread.start()
        return self

    def stop(self) -> None:
        """Answer what is held, close every connection and end every thread."""
        if self._http is None or self._thread is None:
            return
        self.stopping.set()
        self.release()
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join()
        self._http = self._thread = None

    def url(self, kind: Kind) -> str:
        """Return the `base_url` of a provider."""
        assert self._http is not None, "the server is not running"
        return f"http://127.0.0.1:{self._http.server_address[1]}{_ROOTS[kind]}"

    def script(self, *steps: Step) -> None:
        """Say what the next requests for vectors are answered with, after those scripted already."""
        with self._changed:
            self._steps.extend(steps)

    def hold(self) -> None:
        """Let requests for vectors in, but answer none."""
        self._open.clear()

    def release(self) -> None:
        """Answer what was held, and what comes from now on."""
        self._open.set()

    def wait_for_calls(self, count: int, *, timeout: float = 10.0) -> None:
        """Wait until `count` requests for vectors have come in since the start."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, timeout), self.requests

    @property
    def requests(self) -> list[Call]:
        """The calls that asked for vectors."""
        return [call for call in self.calls if call.path in _PATHS]

    def times(self, text: str) -> int:
        """Return how often a vector of that text went out, whatever a model's prefix before it."""
        return sum(given.endswith(text) for given in self.inputs)

    def take(self, call: Call) -> Step:
        """Count a request, and return what it is answered with."""
        with self._changed:
            self.calls.append(call)
            self._changed.notify_all()
            step = self._steps.popleft() if self._steps and call.path in _PATHS else Step()
        if call.path in _PATHS:
            self._open.wait()
        return step if step != Step() else self._judge(call)

    def give(self, call: Call, step: Step) -> object:
        """Return the body of an answer, and count the texts whose vectors are in it."""
        if call.path == "/info":
            return _info(self.model or "test-model", self.revision)
        if call.path == "/api/tags":
            name = self.model or "test-model"
            name = name if ":" in name else f"{name}:latest"
            return {"models": [{"name": name, "model": name, "digest": self.revision}]}
        kind = _PATHS.get(call.path, "tei")
        if step.status >= 300:
            return _error(kind, step, call.texts)
        rows = step.spoil([self.vector(text, self.dimensions) for text in call.texts])
        if step.ending == "whole":
            with self._changed:
                self.inputs.extend(call.texts)
        return _answer(kind, rows, shuffled=self.shuffled)

    def _judge(self, call: Call) -> Step:
        if self.key is not None and call.headers.get("authorization") != f"Bearer {self.key}":
            return failing(401, code="invalid_api_key", message="incorrect key provided for")
        if call.path in ("/info", "/api/tags"):
            return Step()
        if call.path not in _PATHS:
            return failing(404, code="not_found", message="no such path:")
        if self.model and call.body.get("model", self.model) != self.model:
            return failing(404, code="model_not_found", message="no such model for")
        return self._measure(call)

    def _measure(self, call: Call) -> Step:
        size = int(call.headers.get("content-length", 0))
        if len(call.texts) > (self.max_texts or len(call.texts)) or size > (self.max_bytes or size):
            return too_large()
        if self.max_chars and any(len(text) > self.max_chars for text in call.texts):
            return replace(too_long(), status=413) if _PATHS[call.path] == "tei" else too_long()
        return Step()


def _answer(kind: Kind, rows: Rows, *, shuffled: bool) -> object:
    if kind == "ollama":
        return {"model": "test-model", "embeddings": rows}
    if kind == "tei":
        return rows
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return {"object": "list", "data": data[::-1] if shuffled else data, "usage": {"total_tokens": 1}}


def _error(kind: Kind, step: Step, texts: Sequence[str]) -> object:
    words = f"{step.message} {texts[0] if texts else ''}"
    if kind == "ollama":
        return {"error": words}
    if kind == "tei":
        return {"error": words, "error_type": step.code or "Backend"}
    return {"error": {"message": words, "type": step.code or "server_error", "code": step.code or None}}


def _info(model: str, revision: str) -> object:
    return {
        "model_id": model,
        "model_sha": revision,
        "model_dtype": "float32",
        "model_type": {"embedding": {"pooling": "mean"}},
        "max_concurrent_requests": 512,
        "max_input_length": 384,
        "max_batch_tokens": 16384,
        "max_client_batch_size": _BATCH,
        "auto_truncate": False,
        "version": "1.7.1",
    }


class _Listener(ThreadingHTTPServer):
    daemon_threads = False  # every thread is joined when the server is closed

    def __init__(self, owner: ProviderServer) -> None:
        self.owner = owner
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def hang_up(self) -> None:
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients of tests go away in the middle on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def setup(self) -> None:
        self.server.connections.add(self.request)
        self.server.owner.connections_made += 1  # of a test's few, and read once they are over
        super().setup()

    def finish(self) -> None:
        self.server.connections.discard(self.request)
        super().finish()

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def _serve(self, body: Mapping[str, Any]) -> None:
        given = body.get("input", body.get("inputs", []))
        texts = (given,) if isinstance(given, str) else tuple(given)
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(self.path, texts, headers, body)
        step = self.server.owner.take(call)
        self.server.owner.stopping.wait(step.delay)
        if step.ending == "dropped":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        content = json.dumps(self.server.owner.give(call, step)).encode()
        if step.ending == "trickled":
            self._trickle()
        else:
            self._send(step, content)

    def _send(self, step: Step, content: bytes) -> None:
        self.send_response(step.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in step.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content if step.ending == "whole" else content[: len(content) // 2])
        if step.ending == "truncated":
            self.close_connection = True

    def _trickle(self) -> None:
        self.close_connection = True
        for byte in self._endless():
            self.wfile.write(bytes([byte]))
            self.server.owner.stopping.wait(0.02)

    def _endless(self) -> Iterator[int]:
        yield from b"HTTP/1.1 200 OK\r\nX-Slow: "
        while not self.server.owner.stopping.is_set():
            yield from b"z"
