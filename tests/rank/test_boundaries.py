from __future__ import annotations

import pytest

from firstlight.rank.boundaries import back_to_whole, between_words, is_whole, outside_word


@pytest.mark.parametrize(
    "character",
    [
        "\r\n",
        "e\u0301",
        "e\u0323\u0301",
        "👍🏽",
        "👩\u200d👩\u200d👧",
        "1\ufe0f\u20e3",
        "🇩🇪",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "\u1112\u1161\u11ab",
        "नि",
        "ที่",
        "م\u200c",
    ],
)
def test_a_combined_character_is_cut_at_its_ends_only(character: str) -> None:
    text = f"a{character}b"
    assert [at for at in range(len(text) + 1) if is_whole(text, at)] == [0, 1, len(text) - 1, len(text)]
    assert {back_to_whole(text, at) for at in range(1, len(text) - 1)} == {1}


def test_flags_are_cut_between_their_pairs() -> None:
    text = "🇩🇪🇫🇷🇮🇹"
    assert [at for at in range(len(text) + 1) if is_whole(text, at)] == [0, 2, 4, 6]


def test_a_character_of_endless_marks_is_cut_somewhere() -> None:
    assert back_to_whole("e" + "\u0301" * 500, 300) == 300
    assert back_to_whole("\u0301" * 50, 30) == 0


def test_words_end_at_spaces_or_anywhere_in_scripts_without_them() -> None:
    text = "it's a.b 東京e\u0301"
    assert [at for at in range(len(text) + 1) if between_words(text, at)] == [0, 4, 5, 8, 9, 10, 11, 13]
    assert [at for at in range(9) if outside_word(text, at)] == [0, 2, 3, 4, 5, 6, 7, 8]
