from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.store.payload import dump_payload, load_payload

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.dates()
    | st.datetimes(timezones=st.just(UTC)).map(lambda when: when.replace(fold=0))
)
names = st.text() | st.sampled_from(["$day", "$instant", "$$day", "$"])
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=10)


@settings(max_examples=50)
@given(st.dictionaries(names, values, max_size=5))
def test_a_payload_comes_back_as_it_was(fields: dict[str, Any]) -> None:
    again = load_payload(dump_payload(fields))
    assert again == fields
    assert repr(again) == repr(fields)


def test_a_day_and_an_instant_keep_their_type() -> None:
    zone = timezone(timedelta(hours=2))
    fields: dict[str, Any] = {"day": date(2026, 1, 31), "instant": datetime(2026, 1, 31, 12, tzinfo=zone)}
    again = load_payload(dump_payload(fields))
    assert again == fields
    assert type(again["day"]) is date
    assert type(again["instant"]) is datetime


@pytest.mark.parametrize(
    "fields", [{}, {"a": {}}, {"$day": "not a day"}, {"a": {"$day": "x", "b": 1}}, {"a": {"$day": 5}}]
)
def test_a_documents_own_dollars_mean_nothing(fields: dict[str, Any]) -> None:
    assert load_payload(dump_payload(fields)) == fields


def test_a_lone_surrogate_does_not_stop_a_document() -> None:
    fields: dict[str, Any] = {"a": "\ud800"}
    dump_payload(fields).encode()
    assert load_payload(dump_payload(fields)) == fields
