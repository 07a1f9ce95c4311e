"""What lifts a corpus from BM25 to hybrid behind its answers: its embedder, and its worker."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from firstlight.corpus.embedding import is_named, open_embedding
from firstlight.errors import ConfigError
from firstlight.store.embedders import SERVING, read_embedders
from firstlight.store.vectors import count_vectors
from firstlight.text.tokens import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firstlight.corpus.background import Background
    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.reports import Plan
    from firstlight.corpus.site import Site
    from firstlight.corpus.types import Report
    from firstlight.corpus.worker import Step
    from firstlight.embed.types import Embedder
    from firstlight.store.embedders import EmbedderRow

VARIABLE = "FIRSTLIGHT_BACKGROUND"
# A mode rises when more of what was asked for is there.
_RISE = ("bm25", "partial", "hybrid")
# More threads than this hardly embed faster, and leave nothing for anybody else.
_MOST_THREADS = 8


class Upgrade:
    """One corpus object's embedder, opened when it is first needed.

    Args:
        site: The corpus.
        given: The embedder as it was given: a spec, an object, or None.
        wanted: Whether to embed in a thread of this process without being asked.
    """

    def __init__(self, site: Site, given: str | Embedder | None, *, wanted: bool) -> None:
        self._site = site
        self._given = given
        self._wanted = wanted and os.environ.get(VARIABLE) != "0"
        self._opened: list[Embedding | None] = []
        self._background: Background | None = None
        self._callbacks: list[Callable[[str], object]] = []
        self._mode = "bm25"
        self._lock = threading.RLock()

    def embedding(self) -> Embedding | None:
        """Return the embedder, or None where there is none.

        Raises:
            ConfigError: It is named and cannot be had.
        """
        with self._lock:
            if not self._opened:
                self._opened.append(open_embedding(self._given, self._site.config))
            return self._opened[0]

    def required(self) -> Embedding:
        """Return the embedder.

        Raises:
            ConfigError: There is none.
        """
        embedding = self.embedding()
        if embedding is None:
            raise ConfigError(
                "there is no embedder: pip install 'firstlight[local]', or name one", key="embedder"
            )
        return embedding

    def pending(self) -> tuple[int, int]:
        """Return how many chunks wait for a vector, and their estimated tokens; nothing is opened for it."""
        if not is_named(self._given, self._site.config) or not self._site.database.exists():
            return 0, 0
        with self._site.database.read() as connection:
            row = read_embedders(connection).get(SERVING)
            number = 0 if row is None else row.id
            chunks = count_vectors(connection, number).waiting
            if not chunks:
                return 0, 0
            from firstlight.store.pending import mean_pending_size  # noqa: PLC0415  # mostly nothing waits

            return chunks, tokens_of(round(chunks * mean_pending_size(connection, number)))

    def planned(self, plan: Plan) -> tuple[int, int]:
        """Return how many chunks would lack a vector after `plan`, and their estimated tokens.

        Nothing is written; new and changed files are read and cut as a sync would.
        """
        embedding = self.embedding()
        if embedding is None:
            return 0, 0
        from firstlight.corpus.forecast import forecast  # noqa: PLC0415  # imports the parsers

        return forecast(self._site, embedding, plan)

    def embed_now(self, report: Report | None) -> None:
        """Embed all that waits, with as many threads as there are cores; see `Corpus.sync`."""
        from firstlight.corpus.background import embed_now  # noqa: PLC0415
        from firstlight.corpus.types import Progress  # noqa: PLC0415

        def progress(step: Step) -> None:
            if report is not None:
                report(Progress(0, 0, 0, step.settled, step.total))
            self.rose(step.mode)

        embedding = self.opened_at_work(self.required().given)
        try:
            embed_now(self._site, embedding, progress)
        finally:
            embedding.close()

    def opened_at_work(self, given: str | Embedder) -> Embedding:
        """Open an embedder with as many threads as there are cores, for work that somebody waits for.

        Raises:
            ConfigError: It cannot be had, or is `none`.
        """
        threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
        embedding = open_embedding(given, self._site.config, threads=threads)
        if embedding is None:
            raise ConfigError(f"'{given}' makes no vectors", key="embedder")
        return embedding

    def follow(self, recorded: EmbedderRow, found: Embedding | None = None) -> None:
        """Go on with the embedder that the index has vectors of now, where this object knows it.

        Args:
            recorded: That embedder.
            found: One that this object may not know yet.
        """
        self.pause()
        with self._lock:
            known = self._opened if found is None else [found, *self._opened]
            self._opened = sorted(known, key=lambda each: each is None or not each.made(recorded))

    def pause(self) -> None:
        """End the worker of this process; another begins when there is something to do."""
        with self._lock:
            background, self._background = self._background, None
        if background is not None:
            background.stop()

    def start(self) -> None:
        """Begin to embed in the background, where that is wanted and there is something to embed."""
        if self._wanted and self.embedding() is not None:
            self._worker().start(again=True)

    def wait(self, timeout: float | None) -> bool:
        """Embed in the background and return True once nothing waits; see `Corpus.wait_background`."""
        return self.embedding() is None or self._worker().wait(timeout)

    def answered(self, mode: str, wanted: Sequence[int]) -> None:
        """Take note of an answer, and of the chunks that it would have liked to have vectors of."""
        if mode != "bm25":  # which may be this one question's fault
            self.rose(mode)
        if wanted:
            from firstlight.store.wanted import want  # noqa: PLC0415

            self._site.database.try_write(lambda connection: want(connection, wanted))
            if self._wanted:
                self._worker().start()

    def subscribe(self, callback: Callable[[str], object]) -> Callable[[], None]:
        """Have `callback` called with the mode whenever it rises; see `Corpus.subscribe`."""
        with self._lock:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return unsubscribe

    def rose(self, mode: str) -> None:
        """Tell who subscribed, where the mode is a higher one than before."""
        if mode not in _RISE:
            return
        with self._lock:
            is_higher = _RISE.index(mode) > _RISE.index(self._mode)
            self._mode = mode
            callbacks = list(self._callbacks) if is_higher else []
        for callback in callbacks:
            try:
                callback(mode)
            except Exception:  # theirs, and nothing to end the embedding for
                import logging  # noqa: PLC0415  # which a search pays for only here

                logging.getLogger(__name__).exception("a subscriber failed")

    def close(self) -> None:
        """End the worker of this process."""
        self.pause()
        with self._lock:
            opened = self._opened
        for embedding in opened:
            if embedding is not None:
                embedding.close()

    def _worker(self) -> Background:
        from firstlight.corpus.background import Background  # noqa: PLC0415  # imports the writing half

        with self._lock:
            if self._background is None:
                self._background = Background(self._site, self.required(), lambda step: self.rose(step.mode))
            return self._background
