"""What an OpenAI-compatible chat endpoint sends, piece by piece: the answer's text, and how it ended.

What a model thinks before it answers is no part of the answer: `reasoning_content` (or `reasoning`) is not
looked at, and what stands between `<think>` and `</think>` at the beginning is left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.digest.sse import EventParser, OversizedEventError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["DONE", "Answer", "Chunk", "FormatError", "chunks", "whole"]

DONE = "[DONE]"
_OPEN, _CLOSE = "<think>", "</think>"


class FormatError(Exception):
    """What came is no answer of a chat endpoint; the message holds nothing of it."""


class Chunk(NamedTuple):
    """A piece of an answer.

    Attributes:
        text: What it adds.
        finish: Why the answer ends with it; empty where it goes on.
        error: The object by which a server says that it failed, in the middle of its answer; else None.
    """

    text: str = ""
    finish: str = ""
    error: dict[str, Any] | None = None


def chunks(pieces: Iterable[bytes]) -> Iterator[Chunk]:
    """Yield the chunks of a stream of server-sent events, to `[DONE]` (whose `finish` is that) or its end.

    Raises:
        FormatError: An event is no chunk of a chat.
    """
    parser = EventParser()
    for piece in pieces:
        try:
            events = parser.feed(piece)
        except OversizedEventError as error:
            raise FormatError(str(error)) from None
        for event in events:
            if event.data.strip() == DONE:
                yield Chunk(finish=DONE)
                return
            yield _chunk(event.data, part="delta")


def whole(content: bytes) -> Chunk:
    """Return the one chunk that an answer of a server is, which does not stream.

    Raises:
        FormatError: It is no answer of a chat.
    """
    chunk = _chunk(content.decode("utf-8", "replace"), part="message")
    return chunk if chunk.error is not None else chunk._replace(finish=chunk.finish or DONE)


class Answer:
    r"""Leaves out what a model thinks aloud before its answer.

    Example:
        >>> answer = Answer()
        >>> [answer.take(text) for text in ("<th", "ink>Hm.</thi", "nk>\n", "Forty", "-two")]
        ['', '', '', 'Forty', '-two']
    """

    def __init__(self) -> None:
        self._held = ""
        self._begun = self._thinks = False

    def take(self, text: str) -> str:
        """Return what of `text`, and of what was held back before it, is the answer."""
        if self._begun:
            return text
        self._held = (self._held + text).lstrip()
        if not self._thinks:
            if len(self._held) < len(_OPEN) and _OPEN.startswith(self._held):
                return ""
            self._thinks = self._held.startswith(_OPEN)
        if self._thinks:
            _, closed, after = self._held.partition(_CLOSE)
            if not closed:
                self._held = self._held[: len(_OPEN)] + self._held[len(_OPEN) :][-len(_CLOSE) :]
                return ""
            self._held, self._thinks = after.lstrip(), False
            if not self._held:  # white space after it is no beginning of an answer
                return ""
        self._begun = True
        return self._held

    def rest(self) -> str:
        """Return what was held back, once there is no more to come."""
        return "" if self._begun or self._thinks else self._held


def _chunk(data: str, *, part: str) -> Chunk:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise FormatError("an answer that is no JSON") from None  # the context holds what came
    if not isinstance(found, dict):
        raise FormatError("an answer in another format")
    if (error := found.get("error")) or found.get("object") == "error":
        return Chunk(error=error if isinstance(error, dict) else found)
    choices = found.get("choices")
    if not choices:
        return Chunk()  # the usage, or a sign of life
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise FormatError("an answer in another format")
    choice = choices[0]
    if choice.get("index"):  # another answer to the same question, which was not asked for
        return Chunk()
    said = choice.get(part)
    finish = choice.get("finish_reason")
    return Chunk(_text(said) if isinstance(said, dict) else "", finish if isinstance(finish, str) else "")


def _text(said: dict[str, Any]) -> str:
    content = said.get("content") or said.get("refusal") or ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise FormatError("an answer in another format")
    parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "".join(text for part in parts if isinstance(text := part.get("text"), str))
