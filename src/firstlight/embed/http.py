"""Bytes to a provider and back, within a deadline: what every HTTP embedder is sent over.

HTTP clients bound each read, not the whole: a server that sends a byte now and then would hold its caller for
ever, and a name that does not resolve for minutes. So each exchange runs in a thread of its own, and the
caller waits for it no longer than the deadline, or until it is told to stop. What is left behind is cut off:
its connection is closed, and a request that has not gone out yet never does.

A key travels to the host of `base_url` and nowhere else: redirects are not followed, and the environment's
proxies are not used, for they would see plain requests to a server in the house (a proxy may be given). Whom
TLS trusts is the system's business, or that of SSL_CERT_FILE and SSL_CERT_DIR.
"""

from __future__ import annotations

import socket
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.embed.address import check_access
from firstlight.embed.limits import MAX_ANSWER
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    import httpx2

_INSTALL = "pip install 'firstlight[http]'"
# How long after a stop its caller is let go, at most.
_SLICE = 0.1


class Reply(NamedTuple):
    """An answer, whatever its status; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class UnreachedError(Exception):
    """No answer: the connection failed or broke, the deadline passed, or the answer was no HTTP.

    Args:
        what: What happened, in words that hold nothing of what was sent or received.
        again: Whether another attempt may go better.
    """

    def __init__(self, what: str, *, again: bool = True) -> None:
        super().__init__(what)
        self.what = what
        self.again = again


class Connections:
    """The kept connections to one provider; thread-safe, one request a connection at a time.

    Args:
        base_url: Where the provider is; what is asked for is appended.
        key: Sent as a bearer token.
        proxy: The proxy to go through; none where it is None.

    Raises:
        ConfigError: The address is none, or the key would travel where anybody can read it.
    """

    def __init__(self, base_url: str, *, key: str | None = None, proxy: str | None = None) -> None:
        check_access(base_url, key, proxy=proxy)
        self._base_url, self._proxy = base_url.rstrip("/"), proxy
        self._headers = {"Accept": "application/json", "User-Agent": "firstlight"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._idle: deque[_Line] = deque()
        self._trusted: ssl.SSLContext | None = None
        self._closed = False
        weakref.finalize(self, _close_all, self._idle)

    def __repr__(self) -> str:
        return "Connections()"

    @property
    def base_url(self) -> str:
        """Where the provider is, without a slash at its end."""
        return self._base_url

    def send(
        self,
        path: str,
        body: bytes | None,
        *,
        timeout: float,
        stop: threading.Event | None = None,
    ) -> Reply:
        """Return the answer to a POST of JSON, or to a GET where there is no body.

        Args:
            path: Appended to the base URL.
            body: The JSON, in UTF-8.
            timeout: Seconds for all of it, from the name lookup to the last byte.
            stop: Ends the waiting.

        Raises:
            UnreachedError: There is no answer.
            EmbeddingError: It was stopped.
            ConfigError: The extra `http` is not installed.
        """
        line = self._idle_line() or _Line(self.client())
        exchange = _Exchange(line, self._base_url + path, body, timeout)
        try:
            reply = exchange.wait(stop)
        except BaseException:  # Ctrl-C too: whatever ends the waiting ends the exchange
            exchange.abandon()
            raise
        self._idle.append(line)
        if self._closed:
            self.close()
        return reply

    def close(self) -> None:
        """Close what is kept; a later call opens, and closes, its own."""
        self._closed = True
        _close_all(self._idle)

    def _idle_line(self) -> _Line | None:
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def client(self) -> httpx2.Client:
        """Return a new client with one connection at most, which its caller closes; see `streaming`.

        Raises:
            ConfigError: The extra `http` is not installed.
        """
        try:
            import httpx2  # noqa: PLC0415  # an extra, and 0.1 s: loaded when first needed
        except ImportError as error:
            raise ConfigError(f"embedding over HTTP is not installed: {_INSTALL}", key="embedder") from error
        if self._trusted is None:
            self._trusted = _trusted(self._base_url)
        return httpx2.Client(
            headers=self._headers,
            verify=self._trusted,
            proxy=self._proxy,
            trust_env=False,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=1),
        )


@dataclass(slots=True)
class _Line:
    """A client, and the socket of its one connection."""

    client: httpx2.Client
    socket: socket.socket | None = None


class _Exchange:
    """One request and its answer, in a thread of their own."""

    def __init__(self, line: _Line, url: str, body: bytes | None, timeout: float) -> None:
        self._line, self._url, self._body, self._timeout = line, url, body, timeout
        self._done, self._abandoned = threading.Event(), threading.Event()
        self._reply: Reply | None = None
        self._error: BaseException | None = None
        self._deadline = time.monotonic() + timeout
        threading.Thread(target=self._run, name="firstlight-http", daemon=True).start()

    def wait(self, stop: threading.Event | None) -> Reply:
        while not self._done.wait(max(min(_SLICE, self._deadline - time.monotonic()), 0.0)):
            if stop is not None and stop.is_set():
                raise EmbeddingError("embedding was stopped", kind="unavailable")
            if time.monotonic() >= self._deadline:
                raise UnreachedError(f"no answer within {self._timeout:g} s")
        if self._error is not None:
            raise unreached(self._error) from None  # its words may repeat what came
        assert self._reply is not None  # noqa: S101  # it is done, and did not fail
        return self._reply

    def abandon(self) -> None:
        self._abandoned.set()
        shut_down(self._line.socket)
        self._line.client.close()

    def _run(self) -> None:
        try:
            self._reply = self._exchange()
        except BaseException as error:  # noqa: BLE001  # handed to the caller's thread, which raises it
            self._error = error
        finally:
            self._done.set()

    def _exchange(self) -> Reply:
        content = bytearray()
        with self._line.client.stream(
            "GET" if self._body is None else "POST",
            self._url,
            content=self._body,
            headers=None if self._body is None else {"Content-Type": "application/json"},
            timeout=self._timeout,
            extensions={"trace": self._go_on},
        ) as response:
            for piece in response.iter_bytes():
                self._go_on()
                content += piece
                if len(content) > MAX_ANSWER:
                    raise UnreachedError(f"an answer of more than {MAX_ANSWER // 2**20} MB", again=False)
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status_code, headers, bytes(content))

    def _go_on(self, stage: str = "", info: Mapping[str, Any] | None = None) -> None:
        """Go no further where nobody waits any more; called before and after each stage of an exchange."""
        if (connected := socket_of(stage, info)) is not None:
            self._line.socket = connected
        if self._abandoned.is_set() and goes_on(stage):
            raise UnreachedError("nobody waits any more")


def goes_on(stage: str) -> bool:
    """Tell whether an exchange goes on after this stage; one that ends anyway must not be disturbed.

    Example:
        >>> goes_on("http11.send_request_body.started"), goes_on("http11.response_closed.started")
        (True, False)
    """
    return not stage.endswith(".failed") and "close" not in stage


def socket_of(stage: str, info: Mapping[str, Any] | None) -> socket.socket | None:
    """Return the socket of a connection that this stage of an exchange has opened."""
    if not info or stage not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
        return None
    opened: socket.socket | None = info["return_value"].get_extra_info("socket")
    return opened


def shut_down(reading: socket.socket | None) -> None:
    """End what a thread reads from a socket, at once: closing alone would not wake it."""
    if reading is not None:
        with suppress(OSError):
            socket.socket.shutdown(reading, socket.SHUT_RDWR)  # not TLS's own, which would wait for an answer


def _trusted(url: str) -> ssl.SSLContext:
    """Return whom TLS trusts; nobody where there is none, which saves reading the certificates (50 ms)."""
    import ssl  # noqa: PLC0415

    import httpx2  # noqa: PLC0415

    return httpx2.create_ssl_context() if url.startswith("https") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def unreached(error: BaseException) -> BaseException:
    """Return what an exchange failed with, in words that hold nothing of what was sent or received."""
    import ssl  # noqa: PLC0415

    import httpx2  # noqa: PLC0415

    if isinstance(error, httpx2.InvalidURL):
        return UnreachedError("base_url is no address", again=False)
    if not isinstance(error, httpx2.HTTPError):
        return error
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return UnreachedError(
                "its certificate is not trusted (SSL_CERT_FILE may name another one)", again=False
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.TimeoutException):
        return UnreachedError("no answer in time")
    return UnreachedError(
        "no connection" if isinstance(error, httpx2.ConnectError) else "the connection broke"
    )


def _close_all(lines: deque[_Line]) -> None:
    while lines:
        lines.pop().client.close()
