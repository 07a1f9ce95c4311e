"""Tools of an agent: functions whose name, docstring and types tell a framework all it asks.

Their annotations are types rather than strings: not every framework resolves strings.
"""

from collections.abc import Awaitable, Callable
from inspect import cleandoc
from typing import Protocol

from firstlight.context.render import LEAST_TOKENS, fit
from firstlight.rank.types import Results

__all__ = ["MOST_RESULTS", "make_tool", "rendered_search"]

MOST_RESULTS = 20
EMPTY = "The query is empty: say in a few words what to look for."
WRONG_QUERY = "The query must be a text: say in a few words what to look for."
WRONG_COUNT = f"max_results must be a whole number from 1 to {MOST_RESULTS}."


class Render(Protocol):
    """Searches, and returns the text for the model."""

    def __call__(self, query: str, top_k: int, max_tokens: int) -> str: ...


def rendered_search(search: Callable[..., Results]) -> Render:
    """Return a function that searches and renders."""

    def ask(query: str, top_k: int, max_tokens: int) -> str:
        return fit(search(query, top_k=top_k), max_tokens=max_tokens).text

    return ask


def make_tool(
    render: Render, *, asynchronous: bool, max_tokens: int
) -> Callable[..., str] | Callable[..., Awaitable[str]]:
    """Return a tool, or one that hops to a thread.

    Args:
        render: What it calls.
        asynchronous: Whether it is a coroutine function.
        max_tokens: The most estimated tokens of a reply.

    Raises:
        ValueError: `max_tokens` is too small for any reply.
    """
    if max_tokens < LEAST_TOKENS:
        raise ValueError(f"max_tokens must be {LEAST_TOKENS} or more, not {max_tokens}")

    def reply(query: object, max_results: object) -> str:
        if not isinstance(query, str):
            return WRONG_QUERY
        if not query.strip():
            return EMPTY
        if not isinstance(max_results, int) or not 1 <= max_results <= MOST_RESULTS:
            return WRONG_COUNT
        return render(query, int(max_results), max_tokens)

    def search_documents(query: str, max_results: int = 5) -> str:
        """Search the documents at hand for passages that answer a question.

        Each passage comes below its source (path:lines), by which it can be cited.

        Args:
            query: What to look for: a question, or a few words. A "quoted phrase" is found word
                for word.
            max_results: The most passages to return, from 1 to 20.

        Returns:
            Numbered passages, the best first, or a sentence that says why there are none.
        """
        return reply(query, max_results)

    # As it is read: not every framework takes the indentation off.
    search_documents.__doc__ = cleandoc(search_documents.__doc__ or "")
    if not asynchronous:
        return search_documents
    return _asynchronous(reply, search_documents.__doc__)


def _asynchronous(reply: Callable[[object, object], str], doc: str | None) -> Callable[..., Awaitable[str]]:
    from firstlight.context.threads import in_thread  # noqa: PLC0415

    async def search_documents(query: str, max_results: int = 5) -> str:
        return await in_thread(reply, query, max_results)

    search_documents.__doc__ = doc
    return search_documents
