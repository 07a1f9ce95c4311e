"""Asking a provider, as often and at the pace that it bears."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from firstlight.embed.failures import LaterError, failure, no_json
from firstlight.embed.http import UnreachedError
from firstlight.embed.limits import PROVIDERS
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from types import ModuleType

    from firstlight.embed.failures import Asked
    from firstlight.embed.http import Connections
    from firstlight.embed.pace import Pace
    from firstlight.embed.types import Kind

_T = TypeVar("_T")
# An answer that is no answer is not asked for a third time.
_WRONG_ANSWERS = 2


class Patience(NamedTuple):
    """How long, and how often.

    Attributes:
        timeout: Seconds that one attempt at a batch may take, from the name lookup to the last byte.
        query_timeout: The same for a question; whoever asks it may go on without the answer much earlier.
        retries: How often a batch is tried again.
        backoff: Seconds before the first of those, and the most before any; in between they double.
    """

    timeout: float = 60.0
    query_timeout: float = 30.0
    retries: int = 6
    backoff: tuple[float, float] = (0.5, 30.0)


class Attempts:
    """Asks over connections, at a pace, with patience; thread-safe."""

    def __init__(self, connections: Connections, pace: Pace, patience: Patience) -> None:
        self._connections, self._pace, self._patience = connections, pace, patience

    def ask(
        self,
        path: str,
        body: bytes | None,
        read: Callable[[Any], _T],
        *,
        asked: Asked,
        kind: Kind,
        stop: threading.Event | None,
        timeout: float | None = None,
    ) -> _T:
        """Return what `read` makes of the answer; for a question one attempt is made, for a batch several.

        Args:
            path: Where, below the base URL.
            body: What is sent; None asks with a GET.
            read: Takes the answer's JSON. That it raises means that this is none.
            asked: Who is asked.
            kind: "query" waits for nobody.
            stop: Ends batches.
            timeout: Seconds of one attempt, where it is not the usual ones.

        Raises:
            EmbeddingError: There is no answer that can be used.
        """

        def once(timeout: float, stop: threading.Event | None) -> _T:
            return _read(self._send(path, body, asked, timeout, stop), read, asked)

        if kind == "document":
            return self._again(lambda: once(timeout or self._patience.timeout, stop), stop)
        with self._pace.question():
            try:
                return once(timeout or self._patience.query_timeout, None)
            except LaterError as later:
                self._put_off(later, 0.0)
                raise

    def _again(self, once: Callable[[], _T], stop: threading.Event | None) -> _T:
        stamina = _stamina()
        wrong = 0

        def goes_on(error: Exception) -> float | bool:
            nonlocal wrong
            is_wrong = isinstance(error, EmbeddingError) and error.kind == "wrong-answer"
            wrong += is_wrong
            # No wait of stamina's own: the pace's can be stopped, and is the same for all threads.
            return 0.0 if isinstance(error, LaterError) or (is_wrong and wrong < _WRONG_ANSWERS) else False

        first, longest = self._patience.backoff
        own = 0.0
        for attempt in stamina.retry_context(
            on=goes_on,
            attempts=self._patience.retries + 1,
            timeout=None,
            wait_initial=first,
            wait_max=longest,
            wait_jitter=0,
        ):
            with attempt:
                self._pace.wait(stop, own=own)
                try:
                    return once()
                except LaterError as later:
                    own = self._put_off(later, self._pace.jittered(attempt.next_wait))
                    raise
        raise AssertionError("stamina raises the last error")  # pragma: no cover

    def _put_off(self, later: LaterError, seconds: float) -> float:
        """Return how long to wait: as the provider says, else `seconds`; all wait where it is too busy."""
        seconds = later.after or seconds
        if later.all_wait:
            self._pace.hold(seconds)
        return seconds

    def _send(
        self, path: str, body: bytes | None, asked: Asked, timeout: float, stop: threading.Event | None
    ) -> bytes:
        try:
            reply = self._connections.send(path, body, timeout=timeout, stop=stop)
        except UnreachedError as error:
            what = f"{asked.name}: {error.what}"
            if error.again:
                raise LaterError(f"{what}; {PROVIDERS[asked.kind].start}") from error
            raise EmbeddingError(what, kind="refused") from error
        if not 200 <= reply.status < 300:
            raise failure(reply, asked)
        return reply.content


def _read(content: bytes, read: Callable[[Any], _T], asked: Asked) -> _T:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        raise no_json(asked) from None  # its context holds the answer
    try:
        return read(answer)
    except EmbeddingError as error:
        raise EmbeddingError(f"{asked.name}: {error}", kind=error.kind) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise EmbeddingError(
            f"{asked.name}: the answer has another format ({type(error).__name__}); check base_url",
            kind="wrong-answer",
        ) from None


def _stamina() -> ModuleType:
    try:
        import stamina  # noqa: PLC0415  # an extra, loaded when first needed
    except ImportError as error:
        raise ConfigError(
            "embedding over HTTP is not installed: pip install 'firstlight[http]'", key="embedder"
        ) from error
    # It warns of each retry; where nobody set up logging, that would go to the user's terminal.
    logger = logging.getLogger("stamina")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return stamina
