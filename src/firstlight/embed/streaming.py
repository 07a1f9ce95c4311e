"""An answer that comes piece by piece, within one deadline, from a server that may stall or trickle.

As in `http`, a thread of its own reads it, so that whoever waits is let go at the deadline or when told to
stop, whatever the server does. A stream that is left, in the middle or at its end, has its connection closed.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from firstlight.embed.http import UnreachedError, goes_on, shut_down, socket_of, unreached

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Mapping

    from firstlight.embed.http import Connections

# How long after a stop its caller is let go, at most.
_SLICE = 0.1


class LateError(UnreachedError):
    """The deadline passed."""


class StoppedError(Exception):
    """The caller was told to stop."""


class _Head(NamedTuple):
    status: int
    headers: Mapping[str, str]


class _End(NamedTuple):
    error: BaseException | None


class Stream:
    """An answer as it comes; a context manager, which has the status and the headers once it is entered.

    Args:
        connections: Where to.
        path: Appended to the base URL.
        body: The JSON to POST; None asks with a GET.
        timeout: Seconds from now to the last byte, whoever is slow.
        most: How many bytes of an answer are taken.
        stop: Tells whether to end the waiting.

    Raises:
        UnreachedError: There is no answer, or it breaks off, lasts too long or is too much; in every method.
        StoppedError: It was stopped; in every method.
        ConfigError: The extra `http` is not installed.
    """

    def __init__(
        self,
        connections: Connections,
        path: str,
        body: bytes | None,
        *,
        timeout: float,
        most: int,
        stop: Callable[[], bool] = bool,
    ) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._url, self._body, self._timeout, self._most, self._stop = (
            connections.base_url + path,
            body,
            timeout,
            most,
            stop,
        )
        self._deadline = time.monotonic() + timeout
        self._arrived: SimpleQueue[_Head | bytes | _End] = SimpleQueue()
        self._left = threading.Event()
        self._socket: socket.socket | None = None
        self._client = connections.client()
        threading.Thread(target=self._run, name="firstlight-stream", daemon=True).start()

    def __enter__(self) -> Self:
        try:
            self.status, self.headers = self._head()
        except BaseException:  # Ctrl-C too
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave it: the connection is closed, and its thread ends."""
        self._left.set()
        shut_down(self._socket)

    def pieces(self) -> Iterator[bytes]:
        """Yield what comes, as it comes, to the end of the answer."""
        while True:
            piece = self._next()
            if not isinstance(piece, bytes):
                if isinstance(piece, _End) and piece.error is None:
                    return
                raise self._problem(piece)
            yield piece

    def _head(self) -> _Head:
        head = self._next()
        if isinstance(head, _Head):
            return head
        raise self._problem(head)

    def _next(self) -> _Head | bytes | _End:
        while True:
            if self._stop():
                raise StoppedError
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise LateError(f"no answer within {self._timeout:.3g} s", again=False)
            with suppress(Empty):
                return self._arrived.get(timeout=min(_SLICE, left))

    def _problem(self, end: object) -> BaseException:
        if isinstance(end, _End) and end.error is not None:
            return unreached(end.error)
        return UnreachedError("the connection broke")

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._read()
        except BaseException as raised:  # noqa: BLE001  # handed to the caller's thread, which raises it
            error = raised
        finally:
            self._client.close()
            self._arrived.put(_End(error))

    def _read(self) -> None:
        size = 0
        with self._open() as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            self._arrived.put(_Head(response.status_code, headers))
            for piece in response.iter_bytes():
                self._go_on()
                size += len(piece)
                if size > self._most:
                    raise UnreachedError(f"an answer of more than {self._most:,} bytes", again=False)
                self._arrived.put(piece)

    def _open(self) -> Any:
        headers = {"Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"}
        if self._body is not None:
            headers["Content-Type"] = "application/json"
        return self._client.stream(
            "GET" if self._body is None else "POST",
            self._url,
            content=self._body,
            headers=headers,
            timeout=self._timeout,
            extensions={"trace": self._go_on},
        )

    def _go_on(self, stage: str = "", info: Mapping[str, Any] | None = None) -> None:
        """Go no further where nobody waits any more; called before and after each stage of an exchange."""
        if (connected := socket_of(stage, info)) is not None:
            self._socket = connected
        if self._left.is_set() and goes_on(stage):
            raise UnreachedError("nobody waits any more")
