from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.digest.citations import Checked, checked
from firstlight.digest.types import Passage

PASSAGES = [Passage(n, 100 * n, 100 * n + 50, n, n, None, "x" * 50) for n in (1, 2, 3, 4, 5)]


def check(answer: str, numbers: list[int], *, removed: int = 0, text: str | None = None) -> Checked:
    result = checked(answer, PASSAGES)
    assert result.text == (answer if text is None else text)
    assert [citation.number for citation in result.citations] == numbers
    assert result.removed == removed
    for citation in result.citations:
        assert (citation.start, citation.end) == (100 * citation.number, 100 * citation.number + 50)
        marker = result.text[citation.answer_start : citation.answer_end]
        assert re.fullmatch(r"\[[0-9,;–\- ]+\]", marker)
    return result


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("So it is [3].", [3]),
        ("So [3, 5] and [1,2] and [1;2].", [3, 5, 1, 2, 1, 2]),
        ("So it is [3-5], or [1–2].", [3, 4, 5, 1, 2]),
        ("So it is [3][4].", [3, 4]),
        ("So it is [1, 3-5].", [1, 3, 4, 5]),
        ("[1] first, and last[2]", [1, 2]),
        ("Twice [1], and again [1].", [1, 1]),
        ("Once in a bracket [1, 1, 1-2].", [1, 2]),
        ("With a note [1] (see below).", [1]),
        ("Right before a bracket [1](page 4).", [1]),
        ("A mark of a line is no code: ` [1]", [1]),
        ("Nested [[1]].", [1]),
    ],
)
def test_citations_are_found(answer: str, numbers: list[int]) -> None:
    check(answer, numbers)


@pytest.mark.parametrize(
    "answer",
    [
        "No citations here.",
        "- [x] done\n- [ ] not done",
        "A link: [3](https://example.com/a_(b)) or [3](<some where>) or [9](a.md \"title\").",
        "An image: ![3](a.png)",
        "[3]: https://example.com/reference",
        "In [2024], as in [1999-2003].",
        "Code: `list[3]` and ``a ` [9]`` here.",
        "```python\nlist[3]\nlist[9]\n```",
        "~~~\n[9]\n```\n[9]\n~~~",
        "- item\n\n  ```\n  [9]\n  ```",
        "> ```\n> [9]",
        "An open fence:\n````\n[9]\n```\n[3]",
        r"Escaped \[9]",
        "[a] [1a] [-1] [1.5] [] [ 1 ] [1234567]",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_citation_stays(answer: str) -> None:
    check(answer, [])


@pytest.mark.parametrize(
    ("answer", "text", "numbers", "removed"),
    [
        ("So it is [9].", "So it is.", [], 1),
        ("So [9] it is [1].", "So it is [1].", [1], 1),
        ("So it is [1][9][2].", "So it is [1][2].", [1, 2], 2 - 1),
        ("So it is [1, 9].", "So it is [1].", [1], 1),
        ("So it is [4-7].", "So it is [4, 5].", [4, 5], 2),
        ("So it is [5-3].", "So it is.", [], 1),
        ("So it is [1-999999].", "So it is.", [], 1),
        ("[9] So it is.", "So it is.", [], 1),
        ("One.\n[0] Two.", "One.\nTwo.", [], 1),
        ("So[9]it is", "So[9]it is".replace("[9]", ""), [], 1),
        ("So [9]it is", "So it is", [], 1),
        ("After `code` [9] and ```x``` [8].", "After `code` and ```x```.", [], 2),
        ("```\ncode\n```\nSo [9].", "```\ncode\n```\nSo.", [], 1),
        ("So it is [1, 2024].", "So it is [1].", [1], 1),
    ],
)
def test_citations_that_point_nowhere_are_removed_and_counted(
    answer: str, text: str, numbers: list[int], removed: int
) -> None:
    check(answer, numbers, removed=removed, text=text)


def test_a_year_is_a_citation_where_a_passage_has_that_number() -> None:
    passage = Passage(2024, 7, 9, 1, 1, None, "ab")
    (citation,) = checked("So it is [2024].", [passage]).citations
    assert (citation.number, citation.start, citation.end) == (2024, 7, 9)


def test_without_passages_every_citation_goes() -> None:
    assert checked("So [1] it is [2].", []) == Checked("So it is.", (), 2)


SCRAPS = [*"[]19,- \n`()a\\:>!", "[1]", "[9]", "[3, 9]", "[2-3]", "[2024]", "```", "~~~", "(u)"]


@given(st.lists(st.sampled_from(SCRAPS), max_size=14).map("".join))
def test_a_checked_answer_has_nothing_more_to_remove(answer: str) -> None:
    once = checked(answer, PASSAGES)
    again = checked(once.text, PASSAGES)
    assert again.removed == 0
    assert again.text == once.text
    assert again.citations == once.citations


@given(st.text(max_size=80))
def test_an_answer_without_brackets_is_untouched(answer: str) -> None:
    answer = answer.replace("[", "")
    assert checked(answer, PASSAGES) == Checked(answer, (), 0)


@pytest.mark.parametrize(
    "unit", ["[", "[1](", "`", "` ``", "[9", "[9]", "[1,", "\n> ", "```\n", "[9] `", " "]
)
def test_hostile_answers_take_linear_time(unit: str) -> None:
    checked(unit * (200_000 // len(unit)), PASSAGES)  # quadratic: minutes
