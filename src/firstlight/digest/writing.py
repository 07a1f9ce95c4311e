"""An answer from passages, as a language model writes it: whole, broken off, or from fewer passages."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from firstlight.digest.citations import checked
from firstlight.digest.deadline import DeadlineError
from firstlight.digest.prompt import messages
from firstlight.errors import ChatError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Generator, Iterator

    from firstlight.digest.deadline import Calls, Deadline
    from firstlight.digest.gate import Place
    from firstlight.digest.types import Digest, Llm, Passage

    Fewer = Callable[[tuple[Passage, ...]], tuple[Passage, ...]]

__all__ = ["Writer"]


class Writer(NamedTuple):
    """A language model, and what an answer of it is bound by.

    Attributes:
        llm: The model.
        calls: What makes calls that end in time.
        deadline: When the answer has to be whole.
        place: At the gate; left as soon as the answer is whole.
    """

    llm: Llm
    calls: Calls
    deadline: Deadline
    place: Place

    def write(self, digest: Digest, question: str, fewer: Fewer) -> Generator[str, None, Digest]:
        """Yield the answer from a digest's passages, and return the digest with it.

        What came of an answer that breaks off is kept, and the digest is provisional. Passages that are more
        than the model takes are asked about once more, the better half of them.

        Args:
            digest: What is known of it before.
            question: What is asked.
            fewer: Returns the better half of passages; all of them where they cannot be parted.

        Raises:
            ChatError: There is no answer.
            DeadlineError: Nothing of it came in time.
        """
        try:
            return (yield from self._write(digest, question, is_last=False))
        except ChatError as error:
            passages = fewer(digest.passages) if _is_too_long(error) else digest.passages
            if len(passages) == len(digest.passages):
                raise
        reason = (
            f"{digest.reason}; that was more than {self.llm.name} takes, and it read the better half: "
            f"{len(passages)} of {len(digest.passages)} passages"
        )
        return (yield from self._write(replace(digest, passages=passages, reason=reason), question))

    def _write(self, digest: Digest, question: str, *, is_last: bool = True) -> Generator[str, None, Digest]:
        asked = messages(question, digest.passages)

        def answer(stop: threading.Event) -> Iterator[str]:
            is_over = True
            try:
                yield from self.llm.stream(asked, timeout=self.deadline.left(), stop=stop)
            except ChatError as error:
                is_over = is_last or not _is_too_long(error)
                raise
            finally:  # however slowly the answer is read
                if is_over:
                    self.place.leave()

        parts: list[str] = []
        with closing(self.calls.stream(answer, until=self.deadline)) as tokens:
            try:
                for token in tokens:
                    parts.append(token)
                    yield token
            except (ChatError, DeadlineError) as error:
                if not "".join(parts).strip() or not self._breaks_off(error):
                    raise
                reason = f"{digest.reason}; the answer breaks off: {error}"
                digest = replace(digest, provisional=True, reason=reason)
        whole = checked("".join(parts), digest.passages)
        return replace(digest, text=whole.text, citations=whole.citations, removed=whole.removed)

    def _breaks_off(self, error: ChatError | DeadlineError) -> bool:
        """Tell whether what came before the error is the beginning of an answer."""
        if isinstance(error, ChatError):
            return error.kind == "cut-off"
        return not self.deadline.left()  # else the engine was closed


def _is_too_long(error: ChatError) -> bool:
    return error.kind == "too-long"
