"""The words of the digest floor: the passages that a question is answered from, and the answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from firstlight.rank.json import rounded
from firstlight.text.pages import CHUNK_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    Retrieval: TypeAlias = Literal["whole", "head", "hybrid", "bm25", "cached"]

__all__ = [
    "CHUNK_TOKENS",
    "EMBED_BATCH",
    "EMBED_SYNC_MAX",
    "MAX_DOC_CHUNKS",
    "QUEUE_MAX",
    "SMALL_DOC",
    "TIMEOUT",
    "Citation",
    "Digest",
    "Llm",
    "Passage",
]

# Estimated tokens: a document of so many is read whole, and passages of a longer one are chosen up to it.
SMALL_DOC = 8000
# Chunks of one embedding call of the background worker, and the most that a question embeds while it waits.
EMBED_BATCH = 32
EMBED_SYNC_MAX = 48
# The worker embeds so many chunks of a document, and has so many documents queued behind the one at hand.
MAX_DOC_CHUNKS = 5000
QUEUE_MAX = 4
# Seconds from the question to the end of its answer.
TIMEOUT = 45.0


class Llm(Protocol):
    """A language model; any object with these names serves."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def stream(self, messages: Sequence[Mapping[str, str]], **options: Any) -> Iterator[str]:
        """Yield the answer's text as it comes.

        Args:
            messages: The conversation, as OpenAI's chat endpoint takes it: `role` and `content`.
            options: `timeout`, the seconds that the whole answer may take; `stop`, a threading.Event that
                ends it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that the answer was made from: `document[start:end] == text`.

    Attributes:
        number: What the answer cites it by, from 1, in document order.
        start: The offset of its first code point in the document.
        end: The offset after its last code point.
        line_start: The 1-based line of its first code point.
        line_end: The 1-based line of its last code point.
        page: The 1-based page that it begins on; None in a document without form feeds.
        text: The passage itself.
        score: What it was chosen by, 0 to 1: see `Digest.retrieval`.
        page_end: The page that it ends on.
    """

    number: int
    start: int
    end: int
    line_start: int
    line_end: int
    page: int | None
    text: str
    score: float = 0.0
    page_end: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the passage in its one JSON shape; the score is rounded to 6 decimals."""
        return {**asdict(self), "score": rounded(self.score)}


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in an answer that names a passage.

    Attributes:
        number: The passage's.
        start: The offset in the document of what is cited: the passage's, or that of a sentence in it.
        end: The offset in the document after it.
        answer_start: The offset in the answer of the marker, `[3]`; of the sentence itself in an extract.
        answer_end: The offset in the answer after it.
    """

    number: int
    start: int
    end: int
    answer_start: int
    answer_end: int

    def to_dict(self) -> dict[str, Any]:
        """Return the citation in its one JSON shape."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Digest:
    """An answer from one document, and how it came about.

    Attributes:
        text: The answer.
        retrieval: How its passages were chosen: `whole` (all of them), `head` (the leading ones), `hybrid`
            (cosine and words), `bm25` (words alone), or `cached` (as the same question's before).
        embedded: How many chunks of the document had a vector then; `total` is how many there are.
        passages: What the answer was made from, in document order.
        citations: Where the answer names passages, in the answer's order.
        provisional: Whether the same question may be answered better later: once the document is embedded,
            or because this answer breaks off.
        timings: The seconds of each step: chunk, lookup, embed_question, embed, select, llm, total.
        reason: Why this retrieval, in one line.
        model: The embedding model, or None.
        llm: The language model; None where the answer is an extract.
        removed: How many citations pointed nowhere, and were removed.
    """

    text: str
    retrieval: Retrieval
    embedded: int
    total: int
    passages: tuple[Passage, ...]
    citations: tuple[Citation, ...]
    provisional: bool
    timings: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    model: str | None = None
    llm: str | None = None
    removed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the digest in its one JSON shape."""
        return {
            "text": self.text,
            "retrieval": self.retrieval,
            "embedded": self.embedded,
            "total": self.total,
            "model": self.model,
            "llm": self.llm,
            "reason": self.reason,
            "provisional": self.provisional,
            "passages": [passage.to_dict() for passage in self.passages],
            "citations": [citation.to_dict() for citation in self.citations],
            "removed": self.removed,
            "timings": {step: rounded(seconds) for step, seconds in self.timings.items()},
        }
