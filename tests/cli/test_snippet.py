from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from firstlight.cli.markup import marks
from firstlight.cli.snippet import render_snippet
from firstlight.cli.terminal import Style, width

PLAIN = Style(colour=False)
BRIGHT = Style(colour=True)


def rendered(text: str, *lit: str, columns: int = 40, style: Style = PLAIN) -> list[str]:
    spans = sorted(match.span() for word in lit for match in re.finditer(re.escape(word), text))
    return render_snippet(text, spans, columns=columns, style=style)


def test_prose_is_reflowed_to_the_width() -> None:
    text = "Drain the node before\nits kernel is updated, and wait\nuntil nothing runs on it."
    assert rendered(text) == [
        "Drain the node before its kernel is",
        "updated, and wait until nothing runs on",
        "it.",
    ]


def test_lists_tables_and_code_keep_their_lines() -> None:
    text = "Steps:\n\n- one\n- two\n\n```sh\ncordon node\n  drain node\n```\n| a | b |\n| - | - |"
    lines = render_snippet(text, [], columns=40, style=PLAIN, max_lines=20)
    assert lines == ["Steps:", "- one", "- two", "cordon node", "  drain node", "a | b"]


def test_matches_are_lit_across_a_wrap() -> None:
    lines = rendered("rolling update " * 4, "update", columns=30, style=BRIGHT)
    assert lines == ["rolling \x1b[1;33mupdate\x1b[0m rolling \x1b[1;33mupdate\x1b[0m"] * 2


def test_a_script_without_spaces_wraps_at_the_edge() -> None:
    assert rendered("漢字かな" * 4, columns=10) == ["漢字かな漢", "字かな漢字", "かな漢字か", "な"]


def test_of_a_long_snippet_the_lines_with_the_matches_are_shown() -> None:
    text = "\n".join(f"- line {number}" for number in range(20)) + "\n- the drain"
    lines = rendered(text, "drain")
    assert len(lines) == 4
    assert lines[-1] == "- the drain"


def test_what_stands_above_the_heading_of_the_first_match_is_left_out() -> None:
    text = "The end of another.\n\n## Drain a node\n\nCordon it first.\n"
    for word in ("node", "Cordon"):
        at = text.index(word)
        shown = render_snippet(
            text, [(at, at + len(word))], columns=60, style=PLAIN, said={"Drain a node", "Nodes"}
        )
        assert shown == ["Cordon it first."]
    shown = render_snippet(text, [(4, 7)], columns=60, style=PLAIN, said={"Drain a node"})
    assert shown == ["The end of another.", "Cordon it first."]


def test_markup_alone_and_headings_seen_above_are_left_out() -> None:
    text = "# Drain\n\n> one\n>\n> ```sh\n> two\n> ```\n\n## Other ##\n***\n"
    lines = render_snippet(text, [], columns=40, style=PLAIN, said={"Drain"})
    assert lines == ["> one", "> two", "## Other ##"]


def test_a_cut_sentence_ends_in_an_ellipsis() -> None:
    assert render_snippet("one two", [], columns=40, style=PLAIN, cut=True) == ["one two…"]


def test_a_paragraph_that_the_window_cuts_ends_in_an_ellipsis() -> None:
    lines = rendered("word " * 60, columns=30)
    assert len(lines) == 4
    assert lines[-1].endswith("word…")


def test_rows_of_a_table_lose_their_frame_and_their_padding() -> None:
    assert rendered("| What    | When  |\n|---|---|\n| backup  | daily |") == [
        "What | When",
        "backup | daily",
    ]


def test_links_comments_and_tags_are_not_shown_and_their_labels_are() -> None:
    text = "<!-- old -->\n<p>\nSee [the nodes](nodes.md#drain), [E1][e1] and `<div>` **now**.<br>\n</p>"
    assert rendered(text, columns=60) == ["See the nodes, E1 and `<div>` **now**."]


def test_a_match_in_nothing_but_markup_is_shown_as_it_is() -> None:
    assert rendered("[drain]: nodes.md", "nodes") == ["[drain]: nodes.md"]


def test_an_item_that_goes_on_in_the_next_line_is_one_paragraph() -> None:
    assert rendered("- drain the node\n  and wait\n- then reboot") == [
        "- drain the node and wait",
        "- then reboot",
    ]


def test_a_snippet_from_within_code_keeps_its_lines() -> None:
    text = "```yaml\nkind: Profile\nmetadata:\n  name: x\n```\n"
    start = text.index("kind")
    shown = render_snippet(
        text[start:-5], [], columns=40, style=PLAIN, marked=marks(text, start, len(text) - 5)
    )
    assert shown == ["kind: Profile", "metadata:", "  name: x"]


def test_control_characters_of_a_document_are_written_out() -> None:
    assert rendered("a \x1b[31mred\x07 word") == [r"a \x1b[31mred\x07 word"]


def test_highlights_outside_the_text_are_harmless() -> None:
    assert render_snippet("abc", [(1, 99), (200, 300)], columns=40, style=BRIGHT) == ["a\x1b[1;33mbc\x1b[0m"]


@given(
    st.text(alphabet=st.sampled_from("ab漢\u0301 \n\t|-`"), max_size=300),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=5),
    st.integers(10, 60),
)
def test_lines_fit_and_no_word_is_lost(text: str, spans: list[tuple[int, int]], columns: int) -> None:
    lines = render_snippet(text, spans, columns=columns, style=PLAIN, max_lines=1000)
    assert all(width(line) <= columns for line in lines)
    shown = "".join(lines).replace(" ", "")
    kept = [line for line in text.splitlines() if not re.match(r"[\s>]*`{3}", line)]
    words = re.findall(r"\w+", " ".join(kept))
    assert all(word in shown for word in words)
