"""Documents that were asked about a moment ago: cut, and their words counted, once."""

from __future__ import annotations

import hashlib
import re
import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from firstlight.digest.select import page_starts
from firstlight.digest.types import CHUNK_TOKENS
from firstlight.embed.inputs import input_hash
from firstlight.lexical.direct import score_texts
from firstlight.lexical.languages import detect_language
from firstlight.text.pages import split_pages
from firstlight.text.tokens import est_tokens, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from firstlight.digest.select import Scores
    from firstlight.lexical.index import Index
    from firstlight.lexical.types import Query
    from firstlight.text.types import Chunk

__all__ = ["Documents", "LongText", "cleaned"]

_T = TypeVar("_T")
_HALVES = re.compile("[\ud800-\udfff]")
# Documents that are kept, and their characters all together; what is kept of one is about thrice its text.
_MOST_KEPT = 8
_MOST_CHARACTERS = 32_000_000


def cleaned(text: str) -> tuple[str, int]:
    r"""Return `text` without what no model takes, character for character, so that every offset holds.

    A NUL becomes a space, and half a surrogate pair the replacement character; no text that was decoded from
    a file has either.

    Returns:
        The text, and its size in UTF-8.

    Example:
        >>> cleaned("a\0b\ud800c") == ("a b\ufffdc", 7)
        True
    """
    text = text.replace("\0", " ")
    if text.isascii():
        return text, len(text)
    try:
        return text, len(text.encode())
    except UnicodeEncodeError:
        text = _HALVES.sub("\ufffd", text)
        return text, len(text.encode())


class _once(Generic[_T]):  # noqa: N801  # a decorator
    """`functools.cached_property` without its lock, which all documents of a process would share."""

    def __init__(self, find: Callable[[Any], _T]) -> None:
        self._find = find
        self.__doc__ = find.__doc__

    def __get__(self, instance: LongText, owner: object) -> _T:
        found = self._find(instance)
        instance.__dict__[self._find.__name__] = found
        return found


class LongText:
    """A document, and what is known of it; each thing is found when it is first asked for, once.

    Args:
        given: Its text, as it was given.
        chunk_tokens: The most estimated tokens of a chunk.

    Attributes:
        text: Its text, cleaned.
        tokens: Its estimated tokens.
    """

    def __init__(self, given: str, *, chunk_tokens: int = CHUNK_TOKENS) -> None:
        self.given = given
        self._chunk_tokens = chunk_tokens
        self.text, size = cleaned(given)
        self.tokens = tokens_of(size)
        self._cutting = threading.Lock()
        self._indexing = threading.Lock()
        self._chunks: list[Chunk] | None = None
        self._index: Index | None = None

    @_once
    def content_hash(self) -> bytes:
        """The sha256 of its text."""
        return hashlib.sha256(self.text.encode()).digest()

    @_once
    def language(self) -> str:
        """What it is written in, as far as that is in Latin letters."""
        return detect_language(self.text)

    @property
    def chunks(self) -> list[Chunk]:
        """Its chunks."""
        with self._cutting:  # of many who ask at once one cuts, and the others wait
            if self._chunks is None:
                self._chunks = split_pages(self.text, self._chunk_tokens)
            return self._chunks

    @_once
    def texts(self) -> list[str]:
        """The chunks' texts."""
        return [chunk.text for chunk in self.chunks]

    @_once
    def sizes(self) -> list[int]:
        """The chunks' estimated tokens."""
        return [est_tokens(text) for text in self.texts]

    @_once
    def hashes(self) -> list[bytes]:
        """The hashes that the chunks' vectors are kept by."""
        return [input_hash(text) for text in self.texts]

    @_once
    def pages(self) -> list[int]:
        """Where its pages begin."""
        return page_starts(self.text)

    @property
    def is_indexed(self) -> bool:
        """Whether there is an index already."""
        return self._index is not None

    def index(self) -> Index:
        """Return the index of the chunks."""
        from firstlight.lexical.build import SegmentBuilder  # noqa: PLC0415  # first questions need none
        from firstlight.lexical.index import Index  # noqa: PLC0415
        from firstlight.lexical.types import Indexable  # noqa: PLC0415

        with self._indexing:
            if self._index is None:
                builder = SegmentBuilder()
                try:
                    items = [Indexable(text, language=self.language) for text in self.texts]
                    builder.add(range(len(items)), items)
                    self._index = Index([(builder.finish(), None)])
                finally:
                    builder.close()
            return self._index

    def bm25(self, query: Query) -> Scores:
        """Return the BM25 score of each chunk, the same bits with an index and without."""
        if self._index is not None:
            return self._index.scores(query)
        return score_texts(query, self.texts, language=self.language)


class Documents:
    """The last documents, by their text and who asked; one class of callers never meets another's."""

    def __init__(self, *, most: int = _MOST_KEPT, characters: int = _MOST_CHARACTERS) -> None:
        self._most, self._characters = most, characters
        self._lock = threading.Lock()
        self._kept: list[tuple[str, LongText]] = []  # the last one last

    def get(self, text: str, caller_class: str) -> LongText:
        """Return the document with that text."""
        with self._lock:
            for place, (owner, document) in enumerate(self._kept):
                # Comparing texts takes a tenth of what hashing one would.
                if owner == caller_class and (document.given is text or document.given == text):
                    self._kept.append(self._kept.pop(place))
                    return document
        document = LongText(text)
        with self._lock:
            for owner, other in self._kept:
                if owner == caller_class and other.given == text:  # another thread was quicker
                    return other
            self._kept.append((caller_class, document))
            while len(self._kept) > self._most or (self._size() > self._characters and len(self._kept) > 1):
                self._kept.pop(0)
        return document

    def begin_in_child(self) -> None:
        """Forget all, locks included: a thread of the parent's may have been at work on any."""
        self._lock = threading.Lock()
        self._kept = []

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()

    def _size(self) -> int:
        return sum(len(document.text) for _, document in self._kept)
