"""One edited paragraph changes the chunks around it and no others."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from firstlight.text.blocks import blocks
from firstlight.text.chunks import chunk_markdown, chunk_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from firstlight.text.types import Chunk

_WORDS = [
    "the",
    "of",
    "and",
    "in",
    "to",
    "a",
    "node",
    "drain",
    "before",
    "upgrade",
    "check",
    "value",
    "it",
    "must",
]
_WHOLE = 2600  # characters: a longer paragraph is several chunks by itself


def sentence(noise: random.Random, words: int | None = None) -> str:
    return " ".join(noise.choices(_WORDS, k=words or noise.randint(4, 20))).capitalize() + ". "


def paragraph(noise: random.Random) -> str:
    return "".join(sentence(noise) for _ in range(noise.randint(1, 8))).strip()


def edited(text: str, start: int, end: int, noise: random.Random) -> str:
    """Return `text` with the paragraph at start:end removed, replaced, cut or grown, or one put before it."""
    old = text[start:end].rstrip("\r\n")
    rest = text[start + len(old) :]
    space = old.find(" ", noise.randrange(len(old)))
    new = [
        old[:space] + " edited" + old[space:] if space >= 0 else old + " edited",
        "",
        paragraph(noise) + "\n\n" + old,
        old + " " + paragraph(noise),
        old[: len(old) // 2],
        paragraph(noise),
        "Edited: " + old,
    ]
    return text[:start] + (new[0] if len(old) > _WHOLE else noise.choice(new)) + rest


def paragraphs(text: str, start: int) -> list[tuple[int, int]]:
    return [
        (b.start, b.end)
        for b in blocks(text, start)
        if b.kind == "paragraph" and text[b.start : b.end].strip()
    ]


def changes(
    text: str, start: int, noise: random.Random, times: int, chunk: Callable[[str, int], list[Chunk]]
) -> Iterator[int]:
    """Yield how many chunks each of some edits changes: the new ones, or the old ones that are gone."""
    where = paragraphs(text, start)
    old = {part.text for part in chunk(text, start)}
    for first, last in noise.choices(where, k=times) if where else ():
        new = {part.text for part in chunk(edited(text, first, last, noise), start)}
        yield max(len(new - old), len(old - new))


def check(counts: Counter[int]) -> None:
    assert counts.total() > 100
    assert max(counts) <= 4, counts
    assert counts[0] + counts[1] + counts[2] >= 0.85 * counts.total(), counts


def test_an_edit_in_the_pack_changes_at_most_four_chunks(pack_markdown: list[tuple[str, str, int]]) -> None:
    noise = random.Random(1)
    counts: Counter[int] = Counter()
    for _, text, start in pack_markdown:
        if len(text) < 200_000:
            counts.update(changes(text, start, noise, 2 + len(text) // 8_000, chunk_markdown))
    check(counts)


def test_an_edit_in_a_long_plain_text_changes_at_most_four_chunks(data_pack: Path) -> None:
    noise = random.Random(2)
    text = (data_pack / "long" / "moby_dick.txt").read_bytes().decode()[:200_000]
    check(Counter(changes(text, 0, noise, 110, chunk_text)))


def document(noise: random.Random, kinds: str) -> str:
    """Return a long document of (p)aragraphs, (h)eadings, (c)ode, (l)ists and (t)ables."""
    make = {
        "p": lambda: paragraph(noise),
        "h": lambda: "#" * noise.randint(1, 4) + " " + sentence(noise, 3),
        "c": lambda: "```\n" + "\n".join(sentence(noise) for _ in range(noise.randint(1, 40))) + "\n```",
        "l": lambda: "\n".join("- " + sentence(noise) for _ in range(noise.randint(1, 30))),
        "t": lambda: "|a|\n|-|\n" + "\n".join(f"|{sentence(noise)}|" for _ in range(noise.randint(1, 30))),
    }
    return "\n\n".join(make[noise.choice(kinds)]() for _ in range(noise.randint(60, 300))) + "\n"


@pytest.mark.parametrize("kinds", ["p", "pppppppph", "ppppppppphhclt"])
def test_an_edit_in_a_generated_document_changes_at_most_four_chunks(kinds: str) -> None:
    noise = random.Random(3)
    counts: Counter[int] = Counter()
    for _ in range(6):
        counts.update(changes(document(noise, kinds), 0, noise, 60, chunk_markdown))
    check(counts)


def test_a_heap_of_equal_paragraphs_keeps_its_chunks() -> None:
    unit = "The same paragraph again, word for word, with nothing to tell it from its neighbours.\n\n"
    old = {chunk.text for chunk in chunk_markdown(unit * 400)}
    new = {chunk.text for chunk in chunk_markdown(unit * 130 + "Another one.\n\n" + unit * 270)}
    assert len(new - old) <= 4


def test_the_same_text_is_cut_alike_wherever_it_stands() -> None:
    noise = random.Random(4)
    text = document(noise, "ph")
    old = {chunk.text for chunk in chunk_markdown(text)}
    new = {chunk.text for chunk in chunk_markdown("# Before\n\n" + document(noise, "ph") + "\n" + text)}
    assert len(old - new) <= 4
