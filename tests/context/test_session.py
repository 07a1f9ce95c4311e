"""Within a conversation no passage is handed out twice."""

from __future__ import annotations

import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.context import ContextLayer
from firstlight.context.render import NOTHING_NEW
from firstlight.context.session import _covered

PAGES = [f"Page {number} is about the node." for number in range(9)]


def test_no_passage_comes_twice() -> None:
    layer = ContextLayer([*PAGES, PAGES[0]])
    with layer.session() as session:
        found = [hit.text for _ in range(6) for hit in session.search("node", top_k=2)]
        assert len(found) == len(set(found)) == 9
        assert not session.search("node")
    assert layer.search("node", top_k=9).hits == ContextLayer([*PAGES, PAGES[0]]).search("node", top_k=9).hits
    with layer.session() as session:
        assert len(session.search("node", top_k=20)) == 9


def test_what_was_mostly_handed_out_does_not_come_again() -> None:
    text = "\n\n".join(f"Paragraph {number} of the node. {'It goes on. ' * 30}" for number in range(60))
    session = ContextLayer([text]).session()
    found = [hit for _ in range(30) for hit in session.search("node", top_k=2)]
    assert len({hit.start for hit in found}) == len(found) > 3
    assert session.search("node").reason == "no embedder; ranked by BM25 alone"


def test_searches_at_once_share_nothing() -> None:
    session, found = ContextLayer(PAGES).session(), list[str]()
    threads = [
        threading.Thread(target=lambda: found.extend(hit.path for hit in session.search("node", top_k=2)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(set(found)) == 8


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6)


@settings(max_examples=200)
@given(SPANS, st.integers(0, 30), st.integers(0, 30))
def test_what_is_covered_is_counted_once(spans: list[tuple[int, int]], start: int, end: int) -> None:
    expected = sum(any(low <= at < high for low, high in spans) for at in range(start, end))
    assert _covered(spans, start, end) == expected


def test_what_did_not_fit_into_a_reply_may_still_come() -> None:
    long = "\n".join(f"The node of line {number}." for number in range(60))
    session = ContextLayer(["Short, this node.", long]).session()
    tool = session.as_tool(max_tokens=80)
    assert "doc-2" not in str(tool("short node"))
    assert "doc-2" in str(tool("short node"))
    assert tool("short node") == NOTHING_NEW
