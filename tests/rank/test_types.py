from __future__ import annotations

import dataclasses
import json
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firstlight.rank import Hit, Results

HIT = Hit(
    rank=1,
    id="9f",
    path="ops/drain.md",
    title="Drain",
    headings=("Nodes", "Drain"),
    start=812,
    end=2310,
    line_start=31,
    line_end=74,
    text="Drain the node.",
    snippet="Drain",
    score=0.9130000001,
    scores={"bm25": 11.2},
    matched=("drain", "node"),
    unmatched=(),
    payload={"area": "platform"},
    highlights=((0, 5),),
)
RESULTS = Results("drain a node", "bm25", 0, 12, None, 3, "no embedder", (HIT,))


def test_results_have_the_one_json_shape() -> None:
    assert RESULTS.to_dict() == {
        "query": "drain a node",
        "mode": "bm25",
        "embedded": 0,
        "total": 12,
        "model": None,
        "generation": 3,
        "reason": "no embedder",
        "hits": [
            {
                "rank": 1,
                "id": "9f",
                "path": "ops/drain.md",
                "title": "Drain",
                "headings": ["Nodes", "Drain"],
                "start": 812,
                "end": 2310,
                "line_start": 31,
                "line_end": 74,
                "text": "Drain the node.",
                "snippet": "Drain",
                "score": 0.913,
                "scores": {"bm25": 11.2},
                "matched": ["drain", "node"],
                "unmatched": [],
                "payload": {"area": "platform"},
                "stale": False,
                "also_in": [],
            }
        ],
    }


def test_the_shape_keeps_its_order() -> None:
    assert list(HIT.to_dict()) == [
        field.name for field in dataclasses.fields(Hit) if field.name != "highlights"
    ]
    assert list(RESULTS.to_dict()) == [field.name for field in dataclasses.fields(Results)]


def test_dates_are_iso_and_what_json_cannot_say_is_null() -> None:
    payload = {
        "seen": date(2024, 5, 1),
        "at": datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))),
        "nested": {"share": float("nan"), 3: [float("inf"), (1, b"\x00")]},
        "tags": {"b", "a"},
        "first": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        "utc": datetime(2024, 5, 1, 12, tzinfo=UTC),
    }
    assert dataclasses.replace(HIT, payload=payload).to_dict()["payload"] == {
        "seen": "2024-05-01",
        "at": "2024-05-01T10:00:00Z",
        "nested": {"share": None, "3": [None, [1, "AA=="]]},
        "tags": ["a", "b"],
        "first": "0001-01-01T00:00:00+14:00",
        "utc": "2024-05-01T12:00:00Z",
    }


payload_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.dates()
    | st.datetimes()
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.integers() | st.dates(), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), payload_values, max_size=4), st.floats(), st.text())
def test_results_are_always_json(payload: dict[str, Any], score: float, text: str) -> None:
    hit = dataclasses.replace(
        HIT, payload=payload, score=score, scores={"bm25": np.float64(score)}, text=text
    )
    shown = dataclasses.replace(RESULTS, hits=(hit,)).to_dict()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown


def test_results_are_a_sequence_of_hits() -> None:
    more = dataclasses.replace(RESULTS, hits=tuple(dataclasses.replace(HIT, rank=n) for n in range(1, 6)))
    assert (len(more), more[0].rank, more[-1].rank, [hit.rank for hit in more]) == (5, 1, 5, [1, 2, 3, 4, 5])
    assert [hit.rank for hit in more[1:3]] == [2, 3]
    assert more[2] in more
    assert more
    assert not dataclasses.replace(RESULTS, hits=())


def test_results_show_themselves_in_a_line() -> None:
    assert repr(RESULTS) == "<Results 'drain a node' bm25: 1 hit: ops/drain.md:31 0.913>"
    assert repr(dataclasses.replace(RESULTS, hits=())) == "<Results 'drain a node' bm25: 0 hits>"
    assert repr(dataclasses.replace(RESULTS, hits=(HIT,) * 5)).endswith(", 2 more>")
