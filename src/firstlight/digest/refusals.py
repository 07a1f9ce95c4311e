"""What a chat endpoint means that gives no answer: of which kind, and whether to ask again.

As with embedding, of what a server says only its status and its code are passed on: its words may repeat what
it was sent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.embed.failures import NO_QUOTA, PASSING, is_too_large, said
from firstlight.embed.pace import retry_after
from firstlight.errors import ChatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firstlight.errors import ChatTrouble

__all__ = ["Asked", "LaterChatError", "refusal", "refusal_within"]

_LIMITED = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests"})


class Asked(NamedTuple):
    """Who was asked: as errors name it, and whether with a key."""

    who: str
    has_key: bool


class LaterChatError(ChatError):
    """There is no answer now, and another attempt may go better.

    Args:
        reason: What happened.
        kind: "unavailable" or "rate-limited".
        after: The seconds that the server asks to wait; None where it does not say.
    """

    def __init__(self, reason: str, *, kind: ChatTrouble = "unavailable", after: float | None = None) -> None:
        super().__init__(reason, kind=kind)
        self.after = after


def refusal(status: int, headers: Mapping[str, str], content: bytes, asked: Asked) -> ChatError:
    """Return what an answer that is no success means.

    Args:
        status: Its status.
        headers: Its headers, their names in lower case.
        content: The beginning of its body.
        asked: Who was asked.
    """
    codes, words = said(content)
    what = f"{asked.who} answered with status {status}{f' ({codes[0]})' if codes else ''}"
    if status == 402 or not NO_QUOTA.isdisjoint(codes):
        return ChatError(f"{what}: there is nothing left to spend; see to the account", kind="refused")
    if is_too_large(status, codes, words):
        return ChatError(f"{what}: the passages are more than the model takes", kind="too-long")
    if status == 429 or not _LIMITED.isdisjoint(codes):
        after = retry_after(headers)
        return LaterChatError(
            f"{what}: it has too much to do; try again later", kind="rate-limited", after=after
        )
    if status in PASSING or status >= 500:
        return LaterChatError(f"{what}: try again later", after=retry_after(headers))
    return ChatError(f"{what}: {_way_out(status, asked)}", kind="refused")


def refusal_within(error: Mapping[str, Any], asked: Asked) -> ChatError:
    """Return what an error means that comes where an answer should, after a status of 200."""
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return refusal(status, {}, json.dumps({"error": dict(error)}).encode(), asked)


def _way_out(status: int, asked: Asked) -> str:
    if 300 <= status < 400:
        return "it redirects elsewhere, which is not followed; name the final address"
    if status in (401, 403):
        return "it does not take the key" if asked.has_key else "it wants a key"
    if status == 404:
        return "check the address, which mostly ends in /v1, and the model's name"
    return "it will not take this request; check the model's name and options"
