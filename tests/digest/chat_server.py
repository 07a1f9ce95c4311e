"""A small real HTTP server on loopback that speaks OpenAI's chat format, streamed, and misbehaves.

    with ChatServer(reply="It is 42 [1].") as server:
        server.script(too_many(after=0), cut_off("It is"))  # the next two requests for an answer
        client = ChatClient(server.url)
        ...
        assert server.requests[0].body["stream"]

Steps of a script are taken by requests for an answer, in the order in which these come; when none is left,
`reply` is given, a few characters an event. `hold()` lets requests in and answers none until `release()`.
From any folder of tests: `from tests.digest.chat_server import ChatServer, too_many`.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

Ending = Literal["done", "finish", "cut", "broken", "stalled", "trickled", "dropped"]
Messages = list[dict[str, str]]

_CHAT = "/v1/chat/completions"
_PIECE = 5  # characters of an event
_NUDGE = 0.02  # seconds between the bytes of a trickle


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one request for an answer is answered with.

    Attributes:
        status: The HTTP status; an error from 300 on.
        code: The machine-readable code of an error.
        message: The words of an error; what the request said last follows them, as real servers echo it.
        headers: More headers.
        delay: Seconds before anything comes.
        think: Seconds between the headers and the first token.
        text: The answer; None is the server's `reply`.
        finish: Its finish_reason.
        ending: After the text: "done" (finish_reason, usage, [DONE]), "finish" (finish_reason alone, and the
            connection stays open), "cut" (a clean end without either), "broken" (the connection breaks),
            "stalled" (nothing more comes), "trickled" (comments without end); "dropped" is no answer at all.
        raw: These bytes instead of the answer's events.
        kind: The content type.
    """

    status: int = 200
    code: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    think: float = 0.0
    text: str | None = None
    finish: str = "stop"
    ending: Ending = "done"
    raw: bytes | None = None
    kind: str = "text/event-stream; charset=utf-8"


def ok(text: str | None = None) -> Step:
    """A right answer."""
    return Step(text=text)


def slow(seconds: float) -> Step:
    """A right answer, whose first token takes a while."""
    return Step(think=seconds)


def failing(status: int, *, code: str = "", message: str = "it failed for", **headers: str) -> Step:
    """An error of that status."""
    return Step(status=status, code=code, message=message, headers=headers)


def too_many(*, after: float | None = None) -> Step:
    """429, with a Retry-After."""
    headers = {} if after is None else {"Retry-After": str(after)}
    return Step(status=429, code="rate_limit_exceeded", message="slow down with", headers=headers)


def too_long() -> Step:
    """400 as OpenAI says it when the conversation is longer than the model's context."""
    return Step(
        status=400, code="context_length_exceeded", message="maximum context length is 8192 tokens for"
    )


def cut_off(text: str | None = None) -> Step:
    """An answer that ends in the middle, without a finish_reason or [DONE]."""
    return Step(text=text, ending="cut")


def broken(text: str | None = None) -> Step:
    """An answer whose connection breaks in the middle."""
    return Step(text=text, ending="broken")


def out_of_tokens(text: str | None = None) -> Step:
    """An answer that ends at the most tokens that the server gives."""
    return Step(text=text, finish="length")


def stalled(text: str | None = None) -> Step:
    """The beginning of an answer, and then nothing for ever."""
    return Step(text=text, ending="stalled")


def trickled(text: str | None = None) -> Step:
    """The beginning of an answer, and then signs of life for ever."""
    return Step(text=text, ending="trickled")


def dropped() -> Step:
    """A connection that ends without an answer."""
    return Step(ending="dropped")


def malformed() -> Step:
    """An event that is no JSON."""
    return Step(raw=b'data: {"choices": [{"delta"\n\n')


def error_in_stream(code: object = "server_error", *, text: str = "") -> Step:
    """An error object where an answer, or the rest of one, should come."""
    begun = b"".join(map(_event, _pieces(text)))
    return Step(raw=begun + _event({"error": {"message": "it failed", "type": "error", "code": code}}))


def raw(content: bytes, kind: str = Step().kind) -> Step:
    """These bytes."""
    return Step(raw=content, kind=kind)


@dataclass(frozen=True, slots=True)
class Call:
    """A request that came in: its path, its headers (names in lower case), and its body."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def messages(self) -> Messages:
        """The conversation."""
        messages: Messages = self.body.get("messages", [])
        return messages


class ChatServer:
    """The server; a context manager, or `start()` and `stop()`.

    Args:
        reply: The answer, or what makes one of the conversation.
        models: What it says that it serves.
        key: What requests must bring as a bearer token, else a 401.
    """

    def __init__(
        self,
        *,
        reply: str | Callable[[Messages], str] = "It says so in the first passage [1].",
        models: tuple[str, ...] = ("test-model",),
        key: str | None = None,
    ) -> None:
        self.reply, self.models, self.key = reply, models, key
        self.calls: list[Call] = []
        self.stopping = threading.Event()
        self._steps: deque[Step] = deque()
        self._open = threading.Event()
        self._open.set()
        self._changed = threading.Condition()
        self._hung_up = 0
        self._http: _Listener | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Listen on a free port of loopback."""
        self._http = _Listener(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="chat-server")
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

    @property
    def url(self) -> str:
        """The address of a chat client."""
        assert self._http is not None, "the server is not running"
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def script(self, *steps: Step) -> None:
        """Say what the next requests for an answer get, after those scripted already."""
        with self._changed:
            self._steps.extend(steps)

    def hold(self) -> None:
        """Let requests for an answer in, but answer none."""
        self._open.clear()

    def release(self) -> None:
        """Answer what was held, and what comes from now on."""
        self._open.set()

    @property
    def requests(self) -> list[Call]:
        """The calls that asked for an answer."""
        return [call for call in self.calls if call.path == _CHAT]

    def wait_for_calls(self, count: int, *, timeout: float = 10.0) -> None:
        """Wait until `count` requests for an answer have come in since the start."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, timeout), self.calls

    def wait_for_hang_ups(self, count: int, *, timeout: float = 10.0) -> None:
        """Wait until `count` clients went away in the middle of an answer."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._hung_up >= count, timeout), self._hung_up

    def take(self, call: Call) -> Step:
        """Count a request, and return what it is answered with."""
        with self._changed:
            self.calls.append(call)
            self._changed.notify_all()
            step = self._steps.popleft() if self._steps and call.path == _CHAT else Step()
        if call.path == _CHAT:
            self._open.wait()
        if self.key is not None and call.headers.get("authorization") != f"Bearer {self.key}":
            return failing(401, code="invalid_api_key", message="incorrect key provided for")
        if call.path not in (_CHAT, "/v1/models"):
            return failing(404, code="not_found", message="no such path:")
        return step

    def left(self) -> None:
        """Count a client that went away."""
        with self._changed:
            self._hung_up += 1
            self._changed.notify_all()

    def answer(self, call: Call, step: Step) -> str:
        """Return the text of an answer."""
        if step.text is not None:
            return step.text
        return self.reply if isinstance(self.reply, str) else self.reply(call.messages)


def _event(content: str | object) -> bytes:
    """Return the bytes of an event: of a piece of an answer, or of another object."""
    if isinstance(content, str):
        content = _choice({"content": content})
    return b"data: " + json.dumps(content, ensure_ascii=False).encode() + b"\n\n"


def _choice(delta: Mapping[str, str], finish: str | None = None) -> object:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "test-model", "choices": choices}


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


class _Listener(ThreadingHTTPServer):
    daemon_threads = False  # every thread is joined when the server is closed

    def __init__(self, owner: ChatServer) -> None:
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
        owner = self.server.owner
        call = Call(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        step = owner.take(call)
        owner.stopping.wait(step.delay)
        if step.ending == "dropped":
            self._break()
        elif step.status >= 300:
            last = call.messages[-1]["content"] if call.messages else ""
            error = {"message": f"{step.message} {last}", "type": "error", "code": step.code or None}
            self._send(json.dumps({"error": error}).encode(), step)
        elif call.path == "/v1/models":
            models = [{"id": name, "object": "model"} for name in owner.models]
            self._send(json.dumps({"object": "list", "data": models}).encode(), step)
        else:
            try:
                self._stream(call, step)
            except OSError:
                owner.left()
                self.close_connection = True

    def _send(self, content: bytes, step: Step) -> None:
        self.send_response(step.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in step.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, call: Call, step: Step) -> None:
        self.send_response(200)
        self.send_header("Content-Type", step.kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.server.owner.stopping.wait(step.think)
        for piece in self._events(call, step):
            self._chunk(piece)
        if step.ending == "broken":
            self._break()
        elif step.ending in ("stalled", "finish"):
            self._wait_for_hang_up()
        else:
            self._chunk(b"")

    def _events(self, call: Call, step: Step) -> Iterator[bytes]:
        if step.raw is not None:
            if step.raw:
                yield step.raw
            return
        yield _event(_choice({"role": "assistant", "content": ""}))
        yield from map(_event, _pieces(self.server.owner.answer(call, step)))
        if step.ending in ("done", "finish"):
            yield _event(_choice({}, step.finish))
        if step.ending == "done":
            yield _event({"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 7}})
            yield b"data: [DONE]\n\n"
        while step.ending == "trickled" and not self.server.owner.stopping.wait(_NUDGE):
            yield b":"

    def _chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))

    def _wait_for_hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            if not self.connection.recv(1) and not self.server.owner.stopping.is_set():
                self.server.owner.left()

    def _break(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
