"""Embeds the passages of a layer behind its answers: a daemon thread that ends when all have a vector."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from firstlight.corpus.calibrate import ENOUGH, NONSENSE, floor_of, own_floor
from firstlight.corpus.languages import is_known
from firstlight.corpus.prepare import own_title
from firstlight.corpus.snapshot import Embedded
from firstlight.embed.calls import ask, limits_of
from firstlight.embed.embedding import embed_documents
from firstlight.embed.inputs import input_hash, input_text
from firstlight.embed.unit import mean
from firstlight.errors import EmbeddingError, FirstlightError
from firstlight.store.embedders import SERVING, EmbedderRow
from firstlight.store.exact import ExactVectors
from firstlight.store.vector_rows import Portion, Stamp
from firstlight.store.vectors import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from firstlight.context.model import Model
    from firstlight.context.parts import Held

    Vector = NDArray[np.float32]

__all__ = ["Upgrade"]

_PAUSE = 10.0  # seconds before a provider that failed is tried again, if a search still asks for it

_END_SECONDS = 2.0  # that the end of the process waits for a call of an embedder

_log = logging.getLogger(__name__)
# What is at work; some models abort the process if it ends in the middle of a call.
_running: set[Upgrade] = set()


@atexit.register
def _end_all() -> None:
    working = list(_running)
    for upgrade in working:
        upgrade.stop.set()
    for upgrade in working:
        upgrade.wait_for_thread(_END_SECONDS)


class Upgrade:
    """How far the embedding of a layer is; thread-safe.

    Args:
        model: The embedder.
        passages: All of the layer, by number.
    """

    def __init__(self, model: Model, passages: Sequence[Held]) -> None:
        self._model = model
        self._passages = passages
        self._changed = threading.Condition()
        self._rows: dict[int, Vector] = {}
        self._foreign: set[int] = set()
        self._failed: set[int] = set()
        self._floor: float | None = None
        self._vectors: ExactVectors | None = None
        self._thread: threading.Thread | None = None
        self._is_over = False
        self._not_before = 0.0
        self.stop = threading.Event()
        self.trouble = ""

    def start(self, wanted: Sequence[int] = ()) -> None:
        """Have what lacks a vector embedded, `wanted` first; what runs already, or is over, stays so."""
        with self._changed:
            if self._is_over or self._thread is not None or self.stop.is_set():
                return
            if time.monotonic() < self._not_before:
                return
            order = [*dict.fromkeys([*wanted, *range(len(self._passages))])]
            self._thread = threading.Thread(
                target=self._run, args=(order,), name="firstlight-context", daemon=True
            )
            _running.add(self)
            self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Return True once every passage that can have a vector has one, False after `timeout` seconds.

        False at once where nothing is being done, because it failed or was never asked for.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._thread is None, timeout)
            return self._is_over

    def wait_for_thread(self, timeout: float) -> None:
        """Return when nothing runs any more, or after `timeout` seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def state(self) -> Embedded:
        """Return what there is of vectors."""
        embedder = self._model.embedder
        with self._changed:
            rows = len(self._rows)
            counts = Counts(rows, len(self._failed), len(self._foreign), rows, len(self._passages))
            if rows and (self._vectors is None or len(self._vectors) != rows):
                matrix = np.stack(list(self._rows.values()))
                chunks = np.fromiter(self._rows, np.int64, rows)
                stamp = Stamp("", 0, matrix.shape[1], 0, rows)
                self._vectors = ExactVectors(stamp, Portion(np.arange(rows), chunks, matrix))
            dimensions = self._vectors.portion.rows.shape[1] if self._vectors is not None else 0
            recorded = EmbedderRow(
                0, SERVING, self._model.spec, str(embedder.name), "", dimensions, self._floor, 0
            )
            return Embedded(recorded, counts, self._vectors)

    def _run(self, order: Sequence[int]) -> None:
        is_over, trouble, is_final = False, "", False
        try:
            self._embed(order)
            is_over = not self.stop.is_set()
        except (FirstlightError, MemoryError) as error:
            trouble = str(error) or "there is not enough memory"
            is_final = not isinstance(error, EmbeddingError) or error.kind != "unavailable"
            _log.warning("passages are not embedded: %s", trouble)
        finally:
            with self._changed:
                self._is_over, self.trouble, self._thread = is_over, trouble, None
                self._not_before = float("inf") if is_final else time.monotonic() + _PAUSE * bool(trouble)
                _running.discard(self)
                self._changed.notify_all()

    def _embed(self, order: Sequence[int]) -> None:
        own = own_floor(self._model.embedder)
        with self._changed:
            self._floor = own
        hashes: dict[int, bytes] = {}
        for outcomes in embed_documents(
            self._model.embedder, self._items(order, hashes), cache=None, stop=self.stop.is_set
        ):
            for outcome in outcomes:
                if outcome.vectors is None:
                    with self._changed:
                        self._failed.add(outcome.key)
                    continue
                vector = mean(outcome.vectors)
                self._keep(outcome.key, vector)
                self._model.known[hashes[outcome.key]] = vector
            if self._floor is None and len(self._rows) >= ENOUGH:
                self._calibrate()
        if own is None and self._rows and not self.stop.is_set():
            self._calibrate()  # that of a few passages does not hold for all

    def _items(self, order: Sequence[int], hashes: dict[int, bytes]) -> Iterator[tuple[int, str]]:
        """Yield the passages that have to be embedded; settle those that need not."""
        languages = self._model.embedder.languages
        for held in (self._passages[number] for number in order if number not in self._rows):
            text = held.chunk.text
            if not is_known(text, held.language, languages):
                with self._changed:
                    self._foreign.add(held.number)
                continue
            document = held.document
            given = input_text(own_title(document.origin, document.title), held.chunk.headings, text)
            hashes[held.number] = input_hash(given)
            vector = self._model.known.get(hashes[held.number])
            if vector is not None:
                self._keep(held.number, vector)
            else:
                yield held.number, given

    def _keep(self, number: int, vector: Vector) -> None:
        with self._changed:
            first = next(iter(self._rows.values()), vector)
            if len(first) != len(vector):
                raise EmbeddingError(
                    f"{self._model.embedder.name} now answers with {len(vector)} dimensions, and had "
                    f"{len(first)}",
                    kind="wrong-answer",
                )
            self._rows[number] = vector

    def _calibrate(self) -> None:
        """Find the cosine that nonsense reaches; above it a passage is a match."""
        embedder = self._model.embedder
        passages = np.stack(list(self._rows.values()))
        size = limits_of(embedder).texts
        nonsense = [
            ask(embedder, NONSENSE[first : first + size], "query", dimensions=passages.shape[1])
            for first in range(0, len(NONSENSE), size)
        ]
        floor = floor_of(np.concatenate(nonsense), passages)
        with self._changed:
            self._floor = floor
