"""The tool of an agent: what frameworks read of it, and what a model reads of its replies."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, get_type_hints

import pytest

from firstlight.context import ContextLayer
from firstlight.text import est_tokens

LAYER = ContextLayer([f"# Page {number}\n\n{'The node is drained. ' * 60}\n" for number in range(30)])
TOOLS = pytest.mark.parametrize(
    "tool", [LAYER.as_tool(), LAYER.as_tool(asynchronous=True)], ids=["sync", "async"]
)


def call(tool: Any, *given: Any, **options: Any) -> str:
    reply = tool(*given, **options)
    said = asyncio.run(reply) if inspect.iscoroutine(reply) else reply
    assert isinstance(said, str)
    return said


def schema(tool: Any) -> dict[str, Any]:
    """The tool as an OpenAI-style API takes it."""
    names = {str: "string", int: "integer"}
    summary, _, rest = (inspect.getdoc(tool) or "").partition("\n\nArgs:\n")
    said = dict(line.strip().split(": ", 1) for line in rest.split("\n\n")[0].splitlines() if ": " in line)
    parameters = inspect.signature(tool).parameters
    hints = get_type_hints(tool)
    return {
        "name": tool.__name__,
        "description": summary,
        "parameters": {
            "type": "object",
            "properties": {
                name: {"type": names[hints[name]], "description": said[name]} for name in parameters
            },
            "required": [name for name, one in parameters.items() if one.default is one.empty],
        },
    }


@TOOLS
def test_frameworks_learn_all_they_ask(tool: Any) -> None:
    assert get_type_hints(tool) == {"query": str, "max_results": int, "return": str}
    # Not every framework resolves strings.
    assert [one.annotation for one in inspect.signature(tool).parameters.values()] == [str, int]
    made = schema(tool)
    assert made["name"] == "search_documents"
    assert made["description"].startswith("Search the documents")
    assert made["parameters"]["required"] == ["query"]
    assert all(one["description"] for one in made["parameters"]["properties"].values())
    assert "Returns:" in tool.__doc__


def test_the_asynchronous_one_is_a_coroutine_function() -> None:
    assert inspect.iscoroutinefunction(LAYER.as_tool(asynchronous=True))
    assert not inspect.iscoroutinefunction(LAYER.as_tool())


@TOOLS
def test_a_reply_is_numbered_passages_within_the_budget(tool: Any) -> None:
    said = call(tool, "drained node", max_results=20)
    assert said.startswith("[1] doc-")
    assert 1000 < est_tokens(said) <= 2000


@TOOLS
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("",), "The query is empty"),
        ((" \n",), "The query is empty"),
        ((["node"],), "The query must be a text"),
        (("node", 0), "max_results must be"),
        (("node", 21), "max_results must be"),
        (("node", "many"), "max_results must be"),
        (("?!",), "No passage of the documents matches"),
        (("zebra",), "No passage of the documents matches"),
    ],
)
def test_what_a_model_can_put_right_comes_back_as_text(tool: Any, given: Any, expected: str) -> None:
    assert call(tool, *given).startswith(expected)


def test_a_tool_of_no_documents_says_so() -> None:
    assert ContextLayer([]).as_tool()("node") == "There are no documents to search."


def test_a_budget_that_holds_nothing_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        LAYER.as_tool(max_tokens=10)
