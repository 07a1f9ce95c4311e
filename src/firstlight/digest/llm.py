"""A language model behind any OpenAI-compatible chat endpoint: its answer, token by token.

An answer is asked for again only while nothing of it has come. From its first token on it ends as it should,
or in a ChatError of the kind "cut-off": what was yielded until then is all there is.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from firstlight.digest.chunks import Answer, FormatError, chunks, whole
from firstlight.digest.refusals import Asked, LaterChatError, refusal, refusal_within
from firstlight.embed.http import Connections, UnreachedError
from firstlight.embed.limits import MAX_ANSWER
from firstlight.embed.pace import Pace
from firstlight.embed.streaming import LateError, StoppedError, Stream
from firstlight.errors import ChatError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from firstlight.digest.chunks import Chunk

    Stop: TypeAlias = threading.Event | Callable[[], bool] | None

__all__ = ["TIMEOUT", "ChatClient"]

_T = TypeVar("_T")
# Seconds for a whole answer, where its caller says nothing.
TIMEOUT = 45.0
# Seconds to say which model is served: no work, and somebody waits.
_TELL_TIMEOUT = 1.5
_WAITS = (0.5, 2.0)  # seconds before the second and the third attempt
_SLICE = 0.1
# What is no answer any more but a model that runs in circles.
_MAX_CHARACTERS = 1_000_000
_MAX_REFUSAL = 1 << 16


class ChatClient:
    """A chat endpoint; thread-safe. Nothing is sent before it is first needed.

    Args:
        url: What comes before `/chat/completions`, as in `http://127.0.0.1:8080/v1`.
        model: What the server calls the model; None takes the first that it says it has.
        key: Sent as a bearer token, to this address and nowhere else; never shown.
        waits: The seconds before each further attempt, of which each lasts half to one and a half; where the
            server says how long, that is waited.

    Raises:
        ConfigError: The address is none, or the key would travel where anybody can read it.
    """

    def __init__(
        self, url: str, *, model: str | None = None, key: str | None = None, waits: Sequence[float] = _WAITS
    ) -> None:
        try:
            self._connections = Connections(url, key=key)
        except ConfigError as error:
            raise ConfigError(error.reason, key="llm") from None
        self._where = urlsplit(url).netloc
        self._asked = Asked(f"the language model at {self._where}", has_key=key is not None)
        self._model = model
        self._waits = tuple(waits)
        self._asking = threading.Lock()

    def __repr__(self) -> str:
        return f"ChatClient({self._where!r}, model={self._model!r})"

    def begin_in_child(self) -> None:
        """Begin with a free lock: the thread that held it stayed in the parent."""
        self._asking = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name there; the server is asked once. Its address while it does not answer."""
        try:
            return self._served(time.monotonic() + _TELL_TIMEOUT, bool)
        except (ChatError, ConfigError):
            return self._where

    def stream(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        timeout: float = TIMEOUT,
        stop: Stop = None,
        **options: Any,
    ) -> Iterator[str]:
        """Yield the answer's text as it comes; closing the iterator closes the connection.

        Args:
            messages: The conversation: `role` and `content` of each.
            timeout: Seconds from the first `next` to the end, attempts and pauses included.
            stop: Ends it: an event, or a function that is asked ten times a second.
            options: More of what the endpoint takes, such as `temperature` or `max_tokens`.

        Raises:
            ChatError: There is no answer, or no end of it; see its `kind`.
            ConfigError: The extra `http` is not installed.
        """
        deadline = time.monotonic() + timeout
        stopped = stop.is_set if isinstance(stop, threading.Event) else stop or bool
        for wait in (*self._waits, None):
            begun = False
            try:
                with closing(self._attempt(messages, options, deadline, stopped)) as texts:
                    for text in texts:
                        begun = True
                        yield text
            except ChatError as error:
                self._pause_after(error, wait, begun=begun, deadline=deadline, stopped=stopped)
            else:
                return

    def _pause_after(
        self,
        error: ChatError,
        wait: float | None,
        *,
        begun: bool,
        deadline: float,
        stopped: Callable[[], bool],
    ) -> None:
        """Wait until another attempt may be made, or raise the error where none may."""
        if begun and error.kind != "cut-off":
            raise ChatError(str(error), kind="cut-off") from None
        if not isinstance(error, LaterChatError):
            raise error
        pause = None if wait is None else error.after or Pace().jittered(wait)
        if pause is None or time.monotonic() + pause >= deadline:
            raise ChatError(str(error), kind=error.kind) from None
        until = time.monotonic() + pause
        while (left := until - time.monotonic()) > 0:
            if stopped():
                raise ChatError("the answer was stopped") from None
            time.sleep(min(left, _SLICE))

    def _attempt(
        self,
        messages: Sequence[Mapping[str, str]],
        options: Mapping[str, Any],
        deadline: float,
        stopped: Callable[[], bool],
    ) -> Generator[str]:
        """Yield an answer; a LaterChatError where another attempt may go better."""
        body = _body(self._served(deadline, stopped), messages, options)
        answer, size, finish = Answer(), 0, ""
        with closing(self._exchange("/chat/completions", body, deadline, stopped, _read_answer)) as came:
            for chunk in came:
                if chunk.error is not None:
                    raise refusal_within(chunk.error, self._asked)
                if text := answer.take(chunk.text):
                    size += len(text)
                    yield text
                if size > _MAX_CHARACTERS:
                    raise ChatError(f"{self._asked.who} does not come to an end", kind="cut-off")
                finish = chunk.finish
                if finish:  # a server may keep the connection open after it
                    break
        if rest := answer.rest():
            yield rest
        self._judge(finish, begun=bool(size or rest))

    def _judge(self, finish: str, *, begun: bool) -> None:
        """Raise where an answer did not end as it should."""
        who = self._asked.who
        if not finish:
            raise LaterChatError(f"{who} broke off")
        if finish == "length":
            raise ChatError(f"{who} came to the most tokens that it gives in one answer", kind="cut-off")
        if finish == "content_filter":
            raise ChatError(f"{who} does not answer this: its content filter", kind="refused")
        if finish in ("tool_calls", "function_call") and not begun:
            raise ChatError(f"{who} called a tool, and was offered none", kind="refused")

    def _exchange(
        self,
        path: str,
        body: bytes | None,
        deadline: float,
        stopped: Callable[[], bool],
        read: Callable[[Stream], Iterator[_T]],
    ) -> Generator[_T]:
        """Yield what `read` makes of an answer; whatever goes wrong is a ChatError."""
        who = self._asked.who
        timeout = max(deadline - time.monotonic(), 0.0)
        if find_spec("httpx2") is None:
            raise ConfigError("a chat endpoint needs an extra: pip install 'firstlight[http]'", key="llm")
        try:
            with Stream(
                self._connections, path, body, timeout=timeout, most=MAX_ANSWER, stop=stopped
            ) as stream:
                if not 200 <= stream.status < 300:
                    raise refusal(stream.status, stream.headers, _beginning(stream), self._asked)
                yield from read(stream)
        except FormatError as error:
            raise LaterChatError(f"{who} sent {error}; check the address") from None
        except LateError as error:
            raise ChatError(f"{who}: {error.what}") from None
        except UnreachedError as error:
            if error.again:
                raise LaterChatError(f"{who}: {error.what}; start the server, or check the address") from None
            raise ChatError(f"{who}: {error.what}", kind="refused") from None
        except StoppedError:
            raise ChatError("the answer was stopped") from None

    def _served(self, deadline: float, stopped: Callable[[], bool]) -> str:
        """Return the model's name, as it was given, or as the server says, which is asked once."""
        if self._model is not None:
            return self._model
        while not self._asking.acquire(timeout=_SLICE):  # another thread asks
            if stopped() or time.monotonic() >= deadline:
                raise ChatError(f"{self._asked.who} did not say in time what it serves")
        try:
            if self._model is None:
                (self._model,) = self._exchange("/models", None, deadline, stopped, _read_models)
            return self._model
        finally:
            self._asking.release()


def _body(model: str, messages: Sequence[Mapping[str, str]], options: Mapping[str, Any]) -> bytes:
    content = {**options, "model": model, "messages": [dict(said) for said in messages], "stream": True}
    # A lone surrogate, as broken text may hold one, is no character that JSON can send.
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


def _read_answer(stream: Stream) -> Iterator[Chunk]:
    kind = stream.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/html":
        raise UnreachedError("it answered with a web page: check the address", again=False)
    if kind == "application/json":  # of a server that does not stream
        yield whole(b"".join(stream.pieces()))
    else:
        yield from chunks(stream.pieces())


def _read_models(stream: Stream) -> Iterator[str]:
    """Yield the name of the first model."""
    try:
        found = json.loads(b"".join(stream.pieces()))
        name = found["data"][0]["id"]
    except (ValueError, RecursionError, LookupError, TypeError):
        name = None
    if not isinstance(name, str) or not name:
        raise UnreachedError("it names no model: say which one", again=False)
    yield name


def _beginning(stream: Stream) -> bytes:
    """Return the beginning of an error's body, as far as it comes: the status alone says enough."""
    content = bytearray()
    with suppress(UnreachedError):
        for piece in stream.pieces():
            content += piece
            if len(content) >= _MAX_REFUSAL:
                break
    return bytes(content)
