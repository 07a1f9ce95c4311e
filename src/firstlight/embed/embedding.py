"""Texts of documents -> vectors: from the cache where it has them, else from the embedder, each text once."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from firstlight.embed.batches import fill
from firstlight.embed.calls import Caller, Stopped, windows_of
from firstlight.embed.inputs import input_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from firstlight.embed.batches import Window
    from firstlight.embed.cache import VectorCache
    from firstlight.embed.calls import Done
    from firstlight.embed.types import Embedder, Vectors

# How many items are looked up at once; as many texts, and those of one call, are in memory.
_PORTION = 64
# How many texts' vectors are remembered beside the cache, for texts that come again.
_REMEMBERED = 1024


class Outcome(NamedTuple):
    """What became of an item.

    Attributes:
        key: The caller's own number for it.
        vectors: float32[windows, d] of unit length, or None.
        reason: Why this text will never have vectors, without any of it.
        cached: Whether they were there already.
    """

    key: int
    vectors: Vectors | None
    reason: str | None
    cached: bool


def embed_documents(
    embedder: Embedder,
    items: Iterable[tuple[int, str]],
    *,
    cache: VectorCache | None,
    caller_class: str = "default",
    spend: Callable[[int], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[list[Outcome]]:
    """Yield what becomes of the items as it is known: what is cached at once, the rest after each call.

    What a call brings is in the cache before it is yielded, so that nothing is bought twice however this
    ends. Calls are made in the order of the items; those are taken as they are needed.

    Args:
        embedder: The model.
        items: A number and the input text of each; the first ones are embedded first.
        cache: Where vectors are kept.
        caller_class: Whose they are.
        spend: Told the estimated tokens of each call before it is made; may raise an EmbeddingError.
        stop: Asked between calls; what is not finished then is left out.

    Raises:
        EmbeddingError: Nothing more can be embedded now; everything before was yielded.
    """
    caller = Caller(embedder, spend=spend, stop=stop)
    desk = _Desk(embedder, cache, caller_class)
    source = iter(items)
    held: list[Window] = []
    try:
        while not stop() and (portion := list(islice(source, _PORTION))):
            known, missing = desk.take(portion)
            if known:
                yield known
            for parts in missing:
                calls, held = fill(held, parts, caller.limits)
                for call in calls:
                    yield from desk.settle(caller.ask(desk.wanted(call)))
        if held:
            yield from desk.settle(caller.ask(desk.wanted(held)))
    except Stopped:
        return


@dataclass(slots=True)
class _Work:
    """A text on its way: who waits for it, how many windows it has, and the vectors of the first of them."""

    keys: list[int]
    windows: int
    parts: list[Vectors] = field(default_factory=list)


class _Desk:
    """Knows what is on its way and what came of it."""

    def __init__(self, embedder: Embedder, cache: VectorCache | None, caller_class: str) -> None:
        self._embedder = embedder
        self._cache = cache
        self._caller_class = caller_class
        self._works: dict[bytes, _Work] = {}
        self._settled: OrderedDict[bytes, tuple[Vectors | None, str | None]] = OrderedDict()

    def take(self, portion: Sequence[tuple[int, str]]) -> tuple[list[Outcome], list[list[Window]]]:
        """Return the outcomes that are known already, and the windows of the texts that are new."""
        hashed = [(key, text, input_hash(text)) for key, text in portion]
        cached = self._cached(
            [it for _, _, it in hashed if it not in self._works and it not in self._settled]
        )
        known: list[Outcome] = []
        missing: list[list[Window]] = []
        for key, text, item in hashed:
            if item in self._works:
                self._works[item].keys.append(key)
            elif item in self._settled:
                vectors, reason = self._settled[item]
                known.append(Outcome(key, vectors, reason, cached=vectors is not None))
            elif item in cached:
                known.append(Outcome(key, cached[item], None, cached=True))
            else:
                parts = windows_of(self._embedder, item, text)
                self._works[item] = _Work([key], len(parts))
                missing.append(parts)
        return known, missing

    def wanted(self, call: Sequence[Window]) -> list[Window]:
        """Return the windows without those of texts that have failed since."""
        return [window for window in call if window.item in self._works]

    def settle(self, answers: Iterable[list[Done]]) -> Iterator[list[Outcome]]:
        """Yield the outcomes that each answer completes, once their vectors are kept."""
        for answer in answers:
            complete: dict[bytes, Vectors] = {}
            failed: dict[bytes, str] = {}
            for window, vectors, reason in answer:
                if vectors is None:
                    failed[window.item] = reason or ""
                    continue
                work = self._works[window.item]
                work.parts.append(vectors)
                if len(work.parts) == work.windows:
                    complete[window.item] = np.concatenate(work.parts)
            self._keep(complete)
            outcomes = [
                *(
                    outcome
                    for item, vectors in complete.items()
                    for outcome in self._settle(item, vectors, None)
                ),
                *(outcome for item, reason in failed.items() for outcome in self._settle(item, None, reason)),
            ]
            if outcomes:
                yield outcomes

    def _settle(self, item: bytes, vectors: Vectors | None, reason: str | None) -> list[Outcome]:
        self._settled[item] = (vectors, reason)
        if len(self._settled) > _REMEMBERED:
            self._settled.popitem(last=False)
        return [Outcome(key, vectors, reason, cached=False) for key in self._works.pop(item).keys]

    def _cached(self, hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        if self._cache is None:
            return {}
        found = self._cache.get_many(self._embedder.fingerprint, hashes, caller_class=self._caller_class)
        length = self._embedder.dimensions
        return {item: vectors for item, vectors in found.items() if length in (0, vectors.shape[1])}

    def _keep(self, vectors: dict[bytes, Vectors]) -> None:
        if self._cache is not None and vectors:
            self._cache.put_many(
                # Some embedders know themselves only after their first answer.
                self._embedder.fingerprint,
                vectors,
                caller_class=self._caller_class,
                name=str(self._embedder.name),
            )
