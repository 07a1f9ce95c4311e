from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.digest.sse import Event, EventParser, OversizedEventError


def events(content: bytes, *cuts: int) -> list[Event]:
    parser = EventParser()
    edges = [0, *sorted(cuts), len(content)]
    found = []
    for start, end in pairwise(edges):
        found += parser.feed(content[start:end])
    return found


def oracle(content: bytes) -> list[Event]:
    """The standard's own words, on the whole stream at once."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    found: list[Event] = []
    data: list[str] = []
    kind = ""
    lines = re.split(r"\r\n|\r|\n", text)
    for line in lines[:-1]:  # the last has no end
        if not line:
            if data:
                found.append(Event("\n".join(data), kind or "message"))
            data, kind = [], ""
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data.append(value)
            elif name == "event":
                kind = value
    return found


FIELDS = ["data", "data:", "data: x", "data:  two", "data:ä漢🙂", "event: error", "id: 7", "retry: 1"]
LINES = st.sampled_from([*FIELDS, ": comment", ":", "", "", ""])
ENDS = st.sampled_from(["\n", "\r", "\r\n"])
STREAMS = st.one_of(
    st.lists(st.tuples(LINES, ENDS)).map(lambda lines: "".join(a + b for a, b in lines).encode()),
    st.binary(max_size=80),
    st.text("dat: \r\n\ufeffé", max_size=60).map(str.encode),
)


@given(STREAMS, st.booleans(), st.data())
def test_any_stream_cut_anywhere_gives_the_events_of_the_standard(
    content: bytes, with_bom: bool, data: st.DataObject
) -> None:
    content = b"\xef\xbb\xbf" + content if with_bom else content
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=8))
    assert events(content, *cuts) == oracle(content)


@given(STREAMS)
def test_a_stream_of_single_bytes_gives_the_same_events(content: bytes) -> None:
    assert events(content, *range(len(content))) == oracle(content)


def test_the_examples_of_the_standard() -> None:
    assert events(b"data: YHOO\ndata: +2\ndata: 10\n\n") == [Event("YHOO\n+2\n10")]
    stream = b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
    assert [event.data for event in events(stream)] == ["first event", "second event", " third event"]
    assert [event.data for event in events(b"data\n\ndata\ndata\n\ndata:")] == ["", "\n"]
    assert events(b"data:test\n\ndata: test\n\n") == [Event("test")] * 2


def test_an_event_is_given_at_its_blank_line_and_not_a_byte_later() -> None:
    parser = EventParser()
    assert parser.feed(b"data: a\r") == []
    assert parser.feed(b"\r") == [Event("a")]
    assert parser.feed(b"\ndata: b\r\n") == []
    assert parser.feed(b"\r") == [Event("b")]
    assert parser.feed(b"\n") == []


def test_an_event_that_the_end_cuts_is_none() -> None:
    assert events(b"data: a\n\ndata: b\n") == [Event("a")]


def test_a_type_names_one_event_alone() -> None:
    assert events(b"event: error\ndata: a\n\ndata: b\n\n") == [Event("a", "error"), Event("b")]
    assert events(b"event: nothing\n\ndata: b\n\n") == [Event("b")]


@pytest.mark.parametrize("content", [b"data: " + b"x" * 200, b"data: xxxxxxxx\n" * 20, b"x" * 101])
def test_what_never_ends_is_refused_before_it_fills_the_memory(content: bytes) -> None:
    parser = EventParser(most=100)

    def feed() -> None:
        for at in range(len(content)):
            parser.feed(content[at : at + 1])

    with pytest.raises(OversizedEventError, match="more than 100 bytes"):
        feed()


def test_long_streams_of_short_events_are_no_matter() -> None:
    parser = EventParser(most=100)
    assert sum(len(parser.feed(b"data: " + b"x" * 50 + b"\n\n")) for _ in range(1000)) == 1000
