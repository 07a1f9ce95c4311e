"""Text in any amount: the real corpora again and again, with words changed so that the vocabulary grows.

In real text the number of distinct words grows as a power of the length (Heaps' law; here its exponent is
0.55). Each further copy of the corpora therefore replaces as many of its rarer words as keeps to that curve,
by new words made of the halves of two old ones. Common words stay. Everything follows from the seed.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HEAPS_EXPONENT = 0.55
COMMON = 3_000  # the commonest words are never changed
SHORTEST = 4
FREQUENT = 3  # what is rarer is often no word at all, so it lends no ending
_PIECES = re.compile(r"[A-Za-z]+|[^A-Za-z]+")


class Copies:
    """The texts, and changed copies of them.

    Example:
        >>> copies = Copies(["one two", "one three"], common=1)
        >>> copies.text(0, 1)
        'one three'
        >>> copies.text(3, 1).split()[0]
        'one'
    """

    def __init__(self, texts: Iterable[str], *, common: int = COMMON, seed: int = 20) -> None:
        self._pieces = [_PIECES.findall(text) for text in texts]
        counts = Counter(piece for pieces in self._pieces for piece in pieces if piece.isalpha())
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        words = [word for word in ranked[common:] if len(word) >= SHORTEST and word[1:].islower()]
        self._changeable = words
        self._endings = [word for word in words if counts[word] >= FREQUENT] or words
        self._words = len(counts)
        self._seed = seed
        self._changes: tuple[int, Mapping[str, str]] = (0, {})

    def __len__(self) -> int:
        return len(self._pieces)

    def text(self, copy: int, position: int) -> str:
        """Return one text as it stands in one copy; copy 0 is the original."""
        changes = self.changes(copy)
        pieces = self._pieces[position]
        return "".join([changes.get(piece, piece) for piece in pieces]) if changes else "".join(pieces)

    def order(self, copy: int) -> Sequence[int]:
        """Return the positions of the texts in an order of the copy's own."""
        positions = list(range(len(self)))
        Random(f"{self._seed} order {copy}").shuffle(positions)
        return positions

    def changes(self, copy: int) -> Mapping[str, str]:
        """Return the words that a copy changes."""
        if copy and copy != self._changes[0]:  # the last is kept: copies are made one after the other
            self._changes = (copy, self._draw(copy))
        return self._changes[1] if copy else {}

    def _draw(self, copy: int) -> dict[str, str]:
        random = Random(f"{self._seed} words {copy}")
        wanted = round(self._words * ((copy + 1) ** HEAPS_EXPONENT - copy**HEAPS_EXPONENT))
        chosen = random.sample(self._changeable, min(wanted, len(self._changeable)))
        return {word: _blend(word, random.choice(self._endings)) for word in chosen}


def cut(text: str, size: int) -> Iterator[str]:
    """Cut a text into passages of about `size` characters, between words.

    Example:
        >>> list(cut("one two three four", 6))
        ['one two ', 'three ', 'four']
    """
    start = 0
    while start < len(text):
        space = text.find(" ", start + size - 1)
        end = space + 1 if space >= 0 else len(text)
        yield text[start:end]
        start = end


def _blend(word: str, other: str) -> str:
    return word[: (len(word) + 1) // 2] + other[len(other) // 2 :].lower()
