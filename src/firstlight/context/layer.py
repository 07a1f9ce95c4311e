"""The facade: the documents that one conversation carries."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Self

from firstlight.context.documents import documents_of
from firstlight.context.parts import Joined, Part

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from os import PathLike

    from firstlight.context.documents import ContextDocument
    from firstlight.context.model import Model
    from firstlight.context.parts import Piece
    from firstlight.context.search import Answer, Asked
    from firstlight.context.session import Session
    from firstlight.context.shelf import Ready
    from firstlight.context.upgrade import Upgrade
    from firstlight.embed.types import Embedder
    from firstlight.rank.types import Results

__all__ = ["ContextLayer"]

# Segments that are searched one by one; a conversation that adds more gets them merged.
_MOST_PIECES = 16


class ContextLayer:
    r"""Documents in memory, searchable; immutable and thread-safe.

    Making one costs nothing: the first search indexes, or `prewarm` does. With an embedder the first answers
    are lexical; the passages are embedded behind them, and later answers are hybrid.

    Args:
        docs: Texts, whose origins are `doc-1`, `doc-2` and so on, or documents of another layer.
        embedder: A spec such as `local` or `openai:MODEL`, an Embedder, or None: words alone.

    Raises:
        TypeError: `docs` is no list of texts.
        ConfigError: The embedder cannot be had.

    Example:
        >>> layer = ContextLayer(["# Drain\n\nCordon the node first.\n", "# Backups\n\nEvery night.\n"])
        >>> layer
        <ContextLayer: 2 documents, not indexed yet>
        >>> [(hit.path, hit.title, hit.line_start) for hit in layer.search("cordon a node")]
        [('doc-1', 'Drain', 1)]
    """

    def __init__(
        self, docs: Iterable[str | ContextDocument], *, embedder: str | Embedder | None = None
    ) -> None:
        documents = documents_of(docs)
        self._set(documents, (Part(documents),) if documents else (), _opened(embedder))

    @classmethod
    def from_files(
        cls, paths: Iterable[str | PathLike[str]], *, embedder: str | Embedder | None = None
    ) -> Self:
        """Read files, and make a layer of them in the order of their paths, which are their origins.

        Args:
            paths: Files of any kind that is read (Markdown, text, HTML, PDF, DOCX), each once; folders, of
                which the documents are read as a Corpus would; and globs.
            embedder: As for `ContextLayer`.

        Raises:
            DocumentError: Something named is not there or cannot be read; the error names it.
            TypeError: `paths` is no list of paths.
        """
        from firstlight.context.files import read_documents  # noqa: PLC0415  # texts need none of it

        return cls(read_documents(paths), embedder=embedder)

    def _set(
        self, documents: tuple[ContextDocument, ...], pieces: tuple[Piece, ...], model: Model | None
    ) -> None:
        self._documents = documents
        self._pieces = pieces
        self._model = model
        self._lock = threading.Lock()
        self._ready: Ready | None = None
        self._upgrade: Upgrade | None = None

    @property
    def docs(self) -> tuple[ContextDocument, ...]:
        """The documents, each with its `origin`, `title` and `text`."""
        return self._documents

    def with_docs(self, docs: Iterable[str | ContextDocument]) -> Self:
        """Return a layer that has more documents; what is built of these, and their vectors, serve it too.

        Raises:
            TypeError: `docs` is no list of texts.
        """
        more = documents_of(docs, before=len(self._documents))
        pieces = self._pieces
        if more and len(pieces) >= _MOST_PIECES:
            pieces = (Joined(pieces),)
        made = self.__class__.__new__(self.__class__)
        made._set(self._documents + more, (*pieces, Part(more)) if more else pieces, self._model)
        return made

    def prewarm(self) -> None:
        """Do now what the first search would do: index, and begin to embed behind that.

        Raises:
            DocumentError: The front matter of a document is damaged; the error names it.
        """
        self._built()
        if self._upgrade is not None:
            self._upgrade.start()

    def search(self, query: str, *, top_k: int = 3) -> Results:
        """Return the passages that answer best, without overlaps.

        Args:
            query: What is asked, in words; a "quoted phrase" has to be there word for word.
            top_k: How many at most.

        Raises:
            DocumentError: The front matter of a document is damaged; the error names it.
            ValueError: `top_k` is below 1.
        """
        from firstlight.context.search import Asked, check_question  # noqa: PLC0415  # not to be made with

        check_question(query, top_k)
        return self._answer(Asked(query, top_k)).results

    async def asearch(self, query: str, *, top_k: int = 3) -> Results:
        """Search in a thread, and leave the event loop free; see `search`."""
        from firstlight.context.threads import in_thread  # noqa: PLC0415

        return await in_thread(self.search, query, top_k=top_k)

    def session(self) -> Session:
        """Return a conversation: within it no passage is handed out twice."""
        from firstlight.context.session import Session  # noqa: PLC0415

        return Session(self._answer)

    def as_tool(
        self, *, asynchronous: bool = False, max_tokens: int = 2000
    ) -> Callable[..., str] | Callable[..., Awaitable[str]]:
        """Return a function that agent frameworks take as a tool: it has a name, a docstring and types.

        It returns rendered passages. What a model can put right, such as an empty query, comes back as text.
        `session().as_tool()` makes one that never repeats a passage.

        Args:
            asynchronous: Whether to return a coroutine function, which works in a thread.
            max_tokens: The most estimated tokens of a reply.
        """
        from firstlight.context.tool import make_tool, rendered_search  # noqa: PLC0415

        return make_tool(rendered_search(self.search), asynchronous=asynchronous, max_tokens=max_tokens)

    def wait_background(self, timeout: float | None = None) -> bool:
        """Return True once nothing is left to embed, False after `timeout` seconds or where that failed.

        Nothing is embedded before the first search, or `prewarm`: until then it is False.
        """
        if self._model is None:
            return True
        return self._ready is not None and (self._upgrade is None or self._upgrade.wait(timeout))

    def __len__(self) -> int:
        return len(self._documents)

    def __bool__(self) -> bool:
        return True  # a layer without documents is a layer

    def __repr__(self) -> str:
        many, ready = len(self._documents), self._ready
        documents = f"{many:,} document{'' if many == 1 else 's'}"
        if ready is None:
            return f"<{type(self).__name__}: {documents}, not indexed yet>"
        passages = len(ready.passages)
        return f"<{type(self).__name__}: {documents}, {passages:,} passage{'' if passages == 1 else 's'}>"

    def _built(self) -> Ready:
        """Return what is searched; of those who ask at once, the first builds it."""
        ready = self._ready
        if ready is None:
            from firstlight.context.shelf import make_ready  # noqa: PLC0415  # NumPy and the parsers

            with self._lock:
                ready = self._ready
                if ready is None:
                    ready = make_ready(self._pieces)
                    if self._model is not None and ready.passages:
                        self._upgrade = _upgrade(self, self._model, ready)
                    self._ready = ready
        return ready

    def _answer(self, asked: Asked) -> Answer:
        from firstlight.context.search import answer  # noqa: PLC0415

        ready = self._built()
        given = answer(ready, asked, generation=len(self._pieces), model=self._model, upgrade=self._upgrade)
        if self._upgrade is not None:
            self._upgrade.start(given.best)
        return given


def _opened(embedder: str | Embedder | None) -> Model | None:
    if embedder is None:
        return None
    from firstlight.context.model import open_model  # noqa: PLC0415  # words alone need none of it

    return open_model(embedder)


def _upgrade(layer: ContextLayer, model: Model, ready: Ready) -> Upgrade:
    """Return what embeds the layer's passages; it ends with the layer."""
    from firstlight.context.upgrade import Upgrade  # noqa: PLC0415

    made = Upgrade(model, ready.passages)
    weakref.finalize(layer, made.stop.set)
    return made
