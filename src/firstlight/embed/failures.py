"""What an answer that is not the wanted one means: which error, and whether to ask again.

Of what a provider says only its status and its code are passed on: its words often repeat the text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from firstlight.embed.limits import PROVIDERS
from firstlight.embed.pace import retry_after
from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from firstlight.embed.http import Reply


class LaterError(EmbeddingError):
    """There are no vectors now, and another attempt may go better.

    Args:
        reason: What happened.
        after: The seconds that the provider asks to wait; None where it does not say.
        all_wait: Whether the provider has too much to do, so that no other call should go either.
    """

    def __init__(self, reason: str, *, after: float | None = None, all_wait: bool = False) -> None:
        super().__init__(reason, kind="unavailable")
        self.after = after
        self.all_wait = all_wait


class ShutOutError(EmbeddingError):
    """The provider takes nothing from here, whatever the texts: no other text would fare better."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, kind="refused")


class Asked(NamedTuple):
    """Who was asked, as errors name it."""

    name: str
    kind: str
    model: str
    has_key: bool


# Too many at once, too early, a conflict, a backend that failed (text-embeddings-inference): it may pass.
PASSING = frozenset({408, 409, 424, 425, 429})
# No key, a wrong one, no such place or model: nothing that a text could be blamed for.
_SHUT_OUT = frozenset({401, 403, 404, 405, 407})
_BUSY = frozenset({429, 503})
NO_QUOTA = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"}
)
_LARGE_CODES = frozenset(
    {"context_length_exceeded", "max_tokens_per_request", "string_above_max_length", "array_above_max_length"}
)
# How OpenAI, Ollama, llama.cpp, vLLM and text-embeddings-inference say it; with 400, 413, 422 or 500.
_LARGE = re.compile(
    r"context (length|size|window)|too many tokens|max\w* (input|sequence|tokens|number of tokens)"
    r"|too (large|long) to (process|embed)|input (is )?too (large|long)|must have less than \d+ tokens"
    r"|reduce (the|your) (length|input|prompt)",
    re.IGNORECASE,
)
# Words beyond these are the text's own rather than the provider's.
_WORDS = 300
# A code is a short identifier, never a key or a text: letters and underscores.
_CODE = re.compile(r"[A-Za-z_]{2,40}")


def failure(reply: Reply, asked: Asked) -> EmbeddingError:
    """Return what an answer that is no success means."""
    codes, words = said(reply.content)
    what = f"{asked.name} answered with status {reply.status}{f' ({codes[0]})' if codes else ''}"
    if reply.status == 402 or not NO_QUOTA.isdisjoint(codes):
        return EmbeddingError(f"{what}: there is nothing left to spend; see to the account", kind="quota")
    if is_too_large(reply.status, codes, words):
        return EmbeddingError(f"{what}: it takes fewer or shorter texts", kind="too-large")
    if reply.status in PASSING or reply.status >= 500:
        busy = reply.status in _BUSY
        return LaterError(f"{what}: try again later", after=retry_after(reply.headers), all_wait=busy)
    if reply.status in _SHUT_OUT or 300 <= reply.status < 400:
        return ShutOutError(f"{what}: {_way_out(reply.status, asked)}")
    return EmbeddingError(f"{what}: {_way_out(reply.status, asked)}", kind="refused")


def no_json(asked: Asked) -> LaterError:
    """Return the error of an answer that broke off, or never was JSON."""
    return LaterError(f"{asked.name} answered with what is no JSON: try again later, or check base_url")


def is_too_large(status: int, codes: tuple[str, ...], words: str) -> bool:
    """Tell whether a provider says that it was sent more than it takes.

    Example:
        >>> is_too_large(400, (), "the request exceeds the available context size")
        True
        >>> is_too_large(400, ("invalid_api_key",), "")
        False
    """
    if status == 413 or not _LARGE_CODES.isdisjoint(codes):
        return True
    return status in (400, 422, 500) and _LARGE.search(words) is not None


def _way_out(status: int, asked: Asked) -> str:
    variable = PROVIDERS[asked.kind].key_variable
    if 300 <= status < 400:
        return "it redirects elsewhere, which is not followed; put the final address into base_url"
    if status in (401, 403):
        return f"{'it does not take the key in' if asked.has_key else 'it wants a key: set'} {variable}"
    if status == 404 and asked.kind == "ollama":
        return f"run `ollama pull {asked.model}`, or check base_url"
    if status == 404:
        return "check the model's name and base_url"
    return "it will not take this request; check the model's name and options"


def said(content: bytes) -> tuple[tuple[str, ...], str]:
    """Return the codes that an error's body gives, and the beginning of its words."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return (), ""
    error = body.get("error", body) if isinstance(body, dict) else {}
    inner = error if isinstance(error, dict) else {"message": error, "type": body.get("error_type")}
    given = (inner.get(name) for name in ("code", "type", "error_type"))
    codes = tuple(code for code in given if isinstance(code, str) and _CODE.fullmatch(code))
    return codes, str(inner.get("message", ""))[:_WORDS]
