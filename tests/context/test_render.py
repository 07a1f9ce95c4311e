"""What a language model reads of results."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.context import ContextLayer, render
from firstlight.context.render import LEAST_TOKENS, fit
from firstlight.text import est_tokens

WORDS = ["node", "pool", "drain", "水", "cafe\u0301", "\r\n"]
PARAGRAPH = st.lists(st.sampled_from(WORDS), min_size=1, max_size=200)
PAGE = st.lists(PARAGRAPH.map(" ".join), min_size=1, max_size=8).map("\n\n# Next\n\n".join)


def numbered(count: int, *, words: int = 12) -> str:
    return "\n".join(f"Line {number} node {'word ' * words}" for number in range(1, count + 1))


def test_passages_are_numbered_below_their_sources() -> None:
    layer = ContextLayer(["# Drain\n\n## Before\n\nCordon the node.\n", "A node is a machine.\n"])
    assert render(layer.search("cordon node")) == (
        "[1] doc-1:1-5 (Drain > Before)\n# Drain\n\n## Before\n\nCordon the node.\n\n"
        "[2] doc-2:1\nA node is a machine."
    )


def test_nothing_is_said_in_a_fixed_sentence() -> None:
    nothing = render(ContextLayer(["Text."]).search("zebra"))
    assert nothing == "No passage of the documents matches. Try other words."
    assert render(ContextLayer([]).search("zebra")) == "There are no documents to search."


def test_neighbours_become_one_passage_in_rendering_only() -> None:
    text = "\n\n".join(f"Paragraph {number} of the node. {'It goes on. ' * 30}" for number in range(30))
    layer = ContextLayer([text])
    results = layer.search("node", top_k=9)
    assert len(results) > 2
    shown = render(results, max_tokens=100_000)
    assert re.findall(r"^\[\d+\] .*", shown, re.MULTILINE) == ["[1] doc-1:1-59"]
    assert shown.split("\n", 1)[1] == text.strip("\n")


def test_what_does_not_fit_is_skipped_and_the_rest_goes_on() -> None:
    layer = ContextLayer(["Short, this node.", numbered(60), "A word, in a sentence that goes on longer."])
    results = layer.search("short node word", top_k=9)
    assert [hit.path for hit in results][:2] == ["doc-1", "doc-2"]
    assert results[-1].path == "doc-3"
    assert render(results, max_tokens=80) == (
        "[1] doc-1:1\nShort, this node.\n\n[2] doc-3:1\nA word, in a sentence that goes on longer."
    )


def test_a_first_passage_that_is_too_long_is_cut_at_a_line() -> None:
    layer = ContextLayer([numbered(40)])
    shown = render(layer.search("node"), max_tokens=200)
    assert est_tokens(shown) <= 200
    head, *lines, end = shown.splitlines()
    assert end == "…"
    assert head == f"[1] doc-1:1-{len(lines)}"
    assert lines == numbered(40).splitlines()[: len(lines)]
    assert len(lines) > 3


def test_documents_of_one_name_are_not_mixed() -> None:
    (hit,) = ContextLayer(["The node is one."]).search("node")
    results = ContextLayer(["The node is one."]).search("node")
    other = replace(hit, rank=2, text="The node was two.")
    assert render(replace(results, hits=(hit, other))).count("doc-1:1") == 2


def test_a_budget_that_holds_nothing_is_refused() -> None:
    results = ContextLayer([]).search("node")
    with pytest.raises(ValueError, match="max_tokens"):
        render(results, max_tokens=LEAST_TOKENS - 1)


@settings(max_examples=60)
@given(st.lists(PAGE, max_size=5), st.integers(1, 9), st.integers(LEAST_TOKENS, 1500))
def test_a_reply_is_within_its_budget_and_says_what_the_hits_say(
    pages: list[str], top_k: int, max_tokens: int
) -> None:
    layer = ContextLayer(pages)
    results = layer.search("node drain 水", top_k=top_k)
    rendered = fit(results, max_tokens=max_tokens)
    assert est_tokens(rendered.text) <= max_tokens
    assert bool(rendered.hits) == bool(results.hits)
    whole = fit(results, max_tokens=10**6)
    assert whole.hits == results.hits
    for hit in results:
        assert hit.text.strip("\r\n") in whole.text
