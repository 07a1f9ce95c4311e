from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.lexical.analysis import words
from firstlight.rank import Snippet, snippet
from firstlight.rank import snippets as module

PIECES = [
    "drain",
    "the",
    "node",
    "Nodes",
    "rest",
    ". ",
    "! ",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "# Head\n",
    "## Drain\n",
    " ",
    " ",
]
PIECES += [
    "  ",
    "cafe\u0301",
    "naïve",
    "👩\u200d👩\u200d👧",
    "🇩🇪🇫🇷",
    "👍🏽",
    "1\ufe0f\u20e3",
    "機器學習",
    "東京",
    "ไทย",
    "नमस्ते",
    "node_id",
    "it's",
]
PIECES += [
    "x" * 70,
    "\u0301",
    "각",
    "\u1100\u1161",
    "e" + "\u0301" * 5,
    "```\ncode\n```\n",
    "|a|b|\n",
    ", ",
    "\u00a0",
    "\t",
]
pieced = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)
spaced = st.lists(
    st.sampled_from(["drain", "the", "node", "a", "rest.", "\n", "go!", "#", "ok,"]), max_size=120
).map(" ".join)
weights = st.dictionaries(
    st.sampled_from(["drain", "node", "rest", "機器", "學習", "東京", "cafe", "naiv", "id", "x" * 70]),
    st.floats(0.1, 9),
    max_size=4,
)
widths = st.integers(1, 300)


def checked(text: str, idf: dict[str, float], width: int) -> Snippet:
    shown = snippet(text, idf, width=width)
    assert text[shown.start : shown.start + len(shown.text)] == shown.text
    assert len(shown.text) <= width
    previous = -1
    for start, end in shown.highlights:
        assert previous < start < end <= len(shown.text)
        previous = end
    return shown


@given(pieced | st.text(max_size=200), weights, widths)
def test_a_snippet_is_a_slice_of_its_text(text: str, idf: dict[str, float], width: int) -> None:
    checked(text, idf, width)


@given(pieced, weights, st.integers(20, 300))
def test_no_combined_character_and_no_line_end_is_cut(text: str, idf: dict[str, float], width: int) -> None:
    shown = checked(text, idf, width)
    for at in shown.start, shown.start + len(shown.text):
        if 0 < at < len(text) and shown.text:
            before, after = text[at - 1], text[at]
            assert (before, after) != ("\r", "\n")
            assert not unicodedata.combining(after)
            assert "\u200d" not in before + after
            assert after not in "\ufe0f\u20e3🏽\u1161"
            assert (before, after) not in {("🇩", "🇪"), ("🇫", "🇷")}


@given(spaced, weights, st.integers(20, 300))
def test_spaced_text_is_cut_between_words(text: str, idf: dict[str, float], width: int) -> None:
    shown = checked(text, idf, width)
    assert (
        shown.text.split()
        == text[: shown.start + len(shown.text)].split()[len(text[: shown.start].split()) :]
    )


@given(spaced, weights, st.integers(20, 300))
def test_no_window_of_this_width_says_more(text: str, idf: dict[str, float], width: int) -> None:
    shown = checked(text, idf, width)
    said = [(word.start, word.end, {*word.terms} & {*idf}) for word in words(text)]
    said = [match for match in said if match[2]]

    def worth(start: int, end: int) -> float:
        return sum(idf[term] for term in set().union(*(m[2] for m in said if start <= m[0] and m[1] <= end)))

    best = max((worth(start, start + width) for start, _, _ in said), default=0.0)
    assert worth(shown.start, shown.start + len(shown.text)) >= best - 1e-4


@given(pieced, weights)
def test_what_is_lit_is_what_was_asked(text: str, idf: dict[str, float]) -> None:
    shown = checked(text, idf, 240)
    inside = [
        (word.start - shown.start, word.end - shown.start)
        for word in words(text)
        if {*word.terms} & {*idf} and shown.start <= word.start and word.end <= shown.start + len(shown.text)
    ]
    for start, end in inside:
        assert any(low <= start and end <= high for low, high in shown.highlights)
    assert not shown.highlights or idf


def test_the_window_covers_the_most_weight() -> None:
    text = "drain drain drain drain. " + "filler " * 60 + "Drain the node now. " + "filler " * 60 + "node"
    shown = snippet(text, {"drain": 1.0, "node": 2.0}, width=60)
    assert "Drain the node now." in shown.text
    assert [shown.text[start:end] for start, end in shown.highlights] == ["Drain", "node"]


def test_the_first_of_equal_windows_wins() -> None:
    text = "Drain one. " + "filler " * 60 + "Drain two."
    assert snippet(text, {"drain": 0.1 + 0.2}, width=40).text.startswith("Drain one.")


def test_a_sentence_or_line_near_the_match_begins_the_window() -> None:
    before = "It was a long day of nothing at all, and so on and on. " * 5
    for opening in "Then drain the node", "\nAnd drain the node", "\r\nAnd drain the node":
        shown = snippet(before + opening + " and rest." + " filler" * 60, {"drain": 1.0}, width=100)
        assert shown.text.startswith(opening.strip())


def test_a_match_at_the_end_still_fills_the_window() -> None:
    text = "one two three four five. " * 40 + "Drain."
    shown = snippet(text, {"drain": 1.0})
    assert shown.text.endswith("Drain.")
    assert len(shown.text) > 200


def test_a_repeated_word_far_before_the_passage_does_not_spoil_its_window() -> None:
    text = "word " * 60 + "drain " + "word " * 40 + "drain the node " + "word " * 60
    shown = snippet(text, {"drain": 1.0, "node": 1.0}, width=240)
    start, end = shown.highlights[-2][0], shown.highlights[-1][1]
    assert shown.text[start:end] == "drain the node"
    assert len(shown.text) - end > 100


def test_a_word_that_holds_a_term_twice_counts_it_once() -> None:
    text = "word " * 20 + "node_node " + "word " * 10 + "drain " + "word " * 80
    shown = snippet(text, {"node": 1.0, "drain": 1.0}, width=80)
    assert [shown.text[start:end] for start, end in shown.highlights] == ["node_node", "drain"]


def test_a_match_is_not_at_the_very_edge_of_long_prose() -> None:
    shown = snippet("word " * 200 + "drain " + "word " * 200, {"drain": 1.0})
    ((start, end),) = shown.highlights
    assert start > 40
    assert len(shown.text) - end > 100


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("# Nodes\n\n## Drain\n\nFirst this.\n", "First this."),
        ("Nodes\n=====\n\nDrain\n-----\n\n  First this.", "First this."),
        ("\r\n# Nodes #\r\n\r\nFirst this.", "First this."),
        ("First this.\n\n# Nodes\n", "First this.\n\n# Nodes"),
        ("#hashtag first", "#hashtag first"),
        ("# Only a heading\n", "# Only a heading"),
        ("---\n\nFirst this.", "---\n\nFirst this."),
        ("   \n  ", ""),
        ("", ""),
    ],
)
def test_without_a_match_it_is_the_head_after_the_headings(text: str, head: str) -> None:
    for idf in {}, {"absent": 1.0}:
        shown = checked(text, idf, 240)
        assert (shown.text, shown.highlights) == (head, ())


def test_chinese_is_lit_as_one_stretch_with_text_around_it() -> None:
    text = "东京都的天气很好。" * 60 + "机器学习是人工智能的一个分支。" + "东京都的天气很好。" * 60
    idf = {term: 3.0 for word in words("机器学习") for term in word.terms}
    shown = checked(text, idf, 240)
    assert [shown.text[start:end] for start, end in shown.highlights] == ["机器学习"]
    assert len(shown.text) > 200


def test_a_word_longer_than_the_window_is_cut() -> None:
    shown = checked("see " + "x" * 5_000 + " there", {"x" * 128: 1.0, "x" * 5_000: 1.0}, 240)
    assert 0 < len(shown.text) <= 240


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_that_weighs_nothing_breaks_nothing(weight: float) -> None:
    assert checked("Eat. Drain the node.", {"drain": weight}, 240).highlights == ((5, 10),)


def test_the_window_slides_over_each_match_a_bounded_number_of_times() -> None:
    looked: list[int] = []

    class Counting(list[module._Match]):
        def __getitem__(self, index: Any) -> Any:
            looked.append(1)
            return super().__getitem__(index)

    counts = []
    for size in 1_000, 16_000:
        looked.clear()
        found = [module._Match(6 * n, 6 * n + 5, (f"term {n % 90}",)) for n in range(size)]
        module._best(Counting(found), {f"term {n}": 1.0 for n in range(90)}, 240)
        counts.append(len(looked))
    assert counts[1] < 17 * counts[0]


def test_a_megabyte_on_one_line_is_fine() -> None:
    shown = checked("a" * 500_000 + " drain " + "e\u0301" * 250_000, {"drain": 1.0}, 240)
    assert "drain" in shown.text


def test_a_width_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="width must be 1 or more"):
        snippet("text", {}, width=0)
    assert module.WIDTH == 240
