"""A conversation with a layer: what was handed out once does not come again."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from firstlight.context.search import Asked, check_question

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from firstlight.context.search import Answer
    from firstlight.rank.types import Candidate, Results

    Span = tuple[int, int]

__all__ = ["Session"]

_MOSTLY = 0.5  # a passage of which more was handed out says little that is new


class Session:
    """Searches of which none repeats a passage; thread-safe.

    A passage counts as handed out where its text was, in whichever document, or most of it.

    Args:
        ask: Searches the layer.

    Example:
        >>> from firstlight.context import ContextLayer
        >>> layer = ContextLayer(["Cordon the node first.", "A node is a machine."])
        >>> with layer.session() as session:
        ...     [[hit.path for hit in session.search("node", top_k=1)] for _ in range(3)]
        [['doc-1'], ['doc-2'], []]
    """

    def __init__(self, ask: Callable[[Asked], Answer]) -> None:
        self._search = ask
        self._lock = threading.Lock()
        self._forget()

    def search(self, query: str, *, top_k: int = 3) -> Results:
        """Return the passages that answer best, of those that were not handed out yet; see `ContextLayer`."""
        check_question(query, top_k)
        with self._lock:
            answer = self._ask(query, top_k)
            self._hand_out(answer.kept)
            return answer.results

    async def asearch(self, query: str, *, top_k: int = 3) -> Results:
        """Search in a thread, and leave the event loop free; see `search`."""
        from firstlight.context.threads import in_thread  # noqa: PLC0415

        return await in_thread(self.search, query, top_k=top_k)

    def as_tool(
        self, *, asynchronous: bool = False, max_tokens: int = 2000
    ) -> Callable[..., str] | Callable[..., Awaitable[str]]:
        """Return a tool that never repeats a passage; one that did not fit into a reply may still come.

        See `ContextLayer.as_tool`.
        """
        from firstlight.context.tool import make_tool  # noqa: PLC0415

        return make_tool(self._rendered, asynchronous=asynchronous, max_tokens=max_tokens)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._forget()

    def _rendered(self, query: str, top_k: int, max_tokens: int) -> str:
        from firstlight.context.render import fit  # noqa: PLC0415

        check_question(query, top_k)
        with self._lock:
            answer = self._ask(query, top_k)
            rendered = fit(answer.results, max_tokens=max_tokens, told=bool(self._texts))
            shown = {hit.rank for hit in rendered.hits}
            self._hand_out([candidate for rank, candidate in enumerate(answer.kept, 1) if rank in shown])
            return rendered.text

    def _ask(self, query: str, top_k: int) -> Answer:
        return self._search(Asked(query, top_k, self._is_fresh))  # its other half

    def _forget(self) -> None:
        self._texts: set[bytes] = set()
        self._spans: dict[int, list[Span]] = {}

    def _hand_out(self, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            self._texts.add(candidate.content_hash)
            self._spans.setdefault(candidate.document, []).append((candidate.start, candidate.end))

    def _is_fresh(self, candidate: Candidate) -> bool:
        if candidate.content_hash in self._texts:
            return False
        covered = _covered(self._spans.get(candidate.document, ()), candidate.start, candidate.end)
        return covered <= _MOSTLY * (candidate.end - candidate.start)


def _covered(spans: Sequence[Span], start: int, end: int) -> int:
    """Return how much of a range lies in some of the spans, which may overlap."""
    covered, after = 0, start
    for low, high in sorted(spans):
        low, high = max(low, after), min(high, end)  # noqa: PLW2901
        if low < high:
            covered += high - low
            after = high
    return covered
