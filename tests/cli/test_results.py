from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from firstlight.cli.results import mode_line, render_hit
from firstlight.cli.terminal import Style
from firstlight.rank.types import Hit, Results

HIT = Hit(
    rank=1,
    id="9f",
    path="ops/drain.md",
    title="Drain a node",
    headings=("Nodes", "Drain"),
    start=0,
    end=20,
    line_start=31,
    line_end=33,
    text="Drain the node first.",
    snippet="Drain the node first.",
    score=0.9134,
    scores={"bm25": 11.25, "term:drain": 8.0, "term:node": 3.25},
    matched=("drain", "node"),
    unmatched=("kubectl",),
    payload={},
    highlights=((0, 5), (10, 14)),
)


def lines(hit: Hit, *, folder: str = "docs", colour: bool = False, explain: bool = False) -> list[str]:
    style = Style(colour)
    return list(render_hit(hit, folder=Path(folder), columns=60, style=style, explain=explain))


def test_a_hit_is_title_and_headings_then_path_and_line_then_the_snippet() -> None:
    assert lines(HIT) == [
        "1  Drain a node > Nodes > Drain",
        "   docs/ops/drain.md:31",
        "   Drain the node first.",
    ]


def test_the_path_is_one_that_an_editor_can_open_from_here() -> None:
    assert lines(HIT, folder=".")[1] == "   ops/drain.md:31"
    assert lines(HIT, folder="../docs/")[1] == "   ../docs/ops/drain.md:31"


def test_the_line_is_that_of_the_first_match() -> None:
    hit = replace(
        HIT,
        text="# Drain\r\n\r\nfirst.\rThen wait.\nAnd drain.",
        snippet="Then wait.\nAnd drain.",
        highlights=((15, 20),),
    )
    assert lines(hit)[1] == "   docs/ops/drain.md:35"


def test_the_title_is_not_said_twice() -> None:
    hit = replace(HIT, headings=("Drain a node", "Before you start"))
    assert lines(hit)[0] == "1  Drain a node > Before you start"


def test_anchors_and_emphasis_of_headings_are_not_shown() -> None:
    hit = replace(HIT, title="Refs", headings=("Refs {#refs}", "`toRef()` {#to-ref}"))
    assert lines(hit)[0] == "1  Refs > toRef()"


def test_on_a_terminal_the_matches_are_lit() -> None:
    assert lines(HIT, colour=True)[1:] == [
        "   \x1b[2mdocs/ops/drain.md:31\x1b[0m",
        "   \x1b[1;33mDrain\x1b[0m the \x1b[1;33mnode\x1b[0m first.",
    ]


@pytest.mark.parametrize("field", ["title", "path", "snippet"])
def test_no_part_of_a_document_acts_on_the_terminal(field: str) -> None:
    hit = replace(HIT, highlights=())
    object.__setattr__(hit, field, "a\x1b]0;gotcha\x07b\x9b2J")
    text = "\n".join(lines(hit, explain=True))
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert r"\x1b]0;gotcha" in text


def test_headings_and_other_places_do_not_act_on_the_terminal_either() -> None:
    hit = replace(HIT, headings=("\x1b[2J",), also_in=("\x1b[2J.md",), matched=("\x1b[2J",), scores={})
    assert "\x1b" not in "\n".join(lines(hit, explain=True))


def test_other_places_of_the_same_text_are_named_up_to_three() -> None:
    hit = replace(HIT, also_in=("a.md", "b.md", "c.md", "d.md", "e.md"))
    assert lines(hit)[-1] == "   also in docs/a.md, docs/b.md, docs/c.md and 2 more"


def test_a_stale_document_says_so() -> None:
    assert lines(replace(HIT, stale=True))[1] == "   docs/ops/drain.md:31  stale"


def test_an_explanation_has_scores_and_words() -> None:
    assert lines(HIT, explain=True)[-3:] == [
        "   score 0.913, bm25 11.250",
        "   matched drain 8.000, node 3.250",
        "   without kubectl",
    ]


def test_a_word_is_either_matched_or_missed() -> None:
    hit = replace(HIT, scores={**HIT.scores, "term:kubectl": 0.0})
    assert lines(hit, explain=True)[-2:] == ["   matched drain 8.000, node 3.250", "   without kubectl"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One, two, three", "One, two,…"),
        ("One, two,\n- three", "One, two,"),
        ("One, two,\n\nThree", "One, two,"),
    ],
)
def test_a_snippet_that_stops_within_a_sentence_says_that_there_is_more(text: str, shown: str) -> None:
    hit = replace(HIT, text=text, snippet="One, two,", highlights=())
    assert lines(hit)[-1] == f"   {shown}"


def test_the_mode_line_says_what_was_done() -> None:
    results = Results("q", "bm25", 0, 2140, None, 3, "no embedder", (HIT,))
    assert mode_line(results, seconds=0.0123) == "bm25 · 1 of 2,140 chunks · no embedder · 12 ms"
