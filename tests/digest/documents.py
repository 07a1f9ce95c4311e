"""Documents whose chunks are known before they are cut."""

from __future__ import annotations

from firstlight.text.pages import split_pages

# A paragraph of so many bytes is one chunk: two are too large, and half would be too small.
_BYTES = 3_600


def paragraph(number: int, word: str = "") -> str:
    """A chunk with a word of its own, `topicN`, and another where one is given."""
    filler = f"alpha beta gamma delta n{number}x "
    begin = f"Here topic{number} is dealt with. {word} "
    return (begin + filler * (_BYTES // len(filler)))[:_BYTES]


def document(chunks: int, *, name: str = "", words: dict[int, str] | None = None) -> str:
    """A document of so many chunks; `name` makes it another one, `words` go into chunks by number."""
    words = words or {}
    text = "\n\n".join(
        paragraph(number, f"{name} {words.get(number, '')}".strip()) for number in range(chunks)
    )
    assert len(split_pages(text)) == chunks
    return text


def chunk_texts(text: str) -> list[str]:
    return [chunk.text for chunk in split_pages(text)]
