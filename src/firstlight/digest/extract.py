"""A digest without a language model: the sentences that answer best, verbatim, in the document's order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from firstlight.digest.types import Citation
from firstlight.lexical import detect_language, parse_query, score_texts
from firstlight.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firstlight.digest.types import Passage

__all__ = ["VERSION", "extract"]

# Raised whenever the same passages give other sentences: digests are kept by it.
VERSION = 1
MOST = 5  # sentences: as many as a person reads at a glance
MOST_CHARACTERS = 1500
# A sentence that says much less of the question than the best one is beside the point.
_LEAST = 0.4
_LONGEST = 600  # characters: a longer "sentence" is a table or a list, of which lines are taken
_SHORTEST = 25  # characters: a shorter one is a heading or a label, and says nothing by itself
# Length says little about a sentence; BM25's usual 0.75 would prefer labels to sentences.
_B = 0.3
_NO_PROSE = re.compile(r"^[ \t>]*(?:```|~~~|\||[{}<])", re.MULTILINE)  # code and tables: lines of them
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_LINE = re.compile(r"[^\r\n]+")
_WORDS = re.compile(rf"\S.{{0,{_LONGEST - 1}}}(?!\S)|\S{{{_LONGEST}}}", re.DOTALL)
_LANGUAGE_FROM = 20_000  # characters: more tell nothing new


class _Sentence(NamedTuple):
    passage: Passage
    start: int  # in the passage
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]


def extract(question: str, passages: Sequence[Passage]) -> tuple[str, tuple[Citation, ...]]:
    """Return the best sentences of `passages` for `question`, each with its `[n]`, and where they stand.

    A sentence has to share a word with the question; where none does, the text is empty. Without a question
    they are the first ones. For each citation, `text[answer_start:answer_end]` is `document[start:end]`.

    Args:
        question: The question.
        passages: Where to look.

    Example:
        >>> from firstlight.digest.types import Passage
        >>> passage = Passage(1, 0, 62, 1, 1, None, "Lunch is at noon. Drain the node before the upgrade.")
        >>> extract("when is a node drained?", [passage])[0]
        'Drain the node before the upgrade. [1]'
    """
    found = _distinct([sentence for passage in passages for sentence in _sentences(passage)])
    chosen = _best(question, found) if question.strip() else range(min(len(found), 3))
    return _joined([found[place] for place in sorted(_fitting(chosen, found))])


def _best(question: str, found: Sequence[_Sentence]) -> list[int]:
    """Return which sentences answer, best first; of equal ones the earlier."""
    language = detect_language("\n".join(sentence.text for sentence in found)[:_LANGUAGE_FROM])
    query = parse_query(question, languages=(language,))
    scores = score_texts(query, [sentence.text for sentence in found], language=language, b=_B)
    ranked = sorted(range(len(found)), key=lambda place: (-scores[place], place))
    telling = [place for place in ranked if len(found[place].text) >= _SHORTEST and scores[place] > 0]
    ranked = telling or [place for place in ranked if scores[place] > 0]
    return [place for place in ranked if scores[place] >= _LEAST * scores[ranked[0]]]


def _fitting(ranked: Sequence[int], found: Sequence[_Sentence]) -> Iterator[int]:
    """Yield those that fit, best first, and the best in any case."""
    left, count = MOST_CHARACTERS, 0
    for place in ranked:
        size = len(found[place].text)
        if count and (size > left or count == MOST):
            continue
        yield place
        left -= size
        count += 1


def _joined(chosen: Sequence[_Sentence]) -> tuple[str, tuple[Citation, ...]]:
    parts: list[str] = []
    citations = []
    size = 0
    for sentence in chosen:
        start, end = sentence.passage.start + sentence.start, sentence.passage.start + sentence.end
        citations.append(Citation(sentence.passage.number, start, end, size, size + end - start))
        parts.append(f"{sentence.text} [{sentence.passage.number}]")
        size += len(parts[-1]) + 2
    return "\n\n".join(parts), tuple(citations)


def _distinct(found: Sequence[_Sentence]) -> list[_Sentence]:
    """Return them without those that say the same as one before: headers of pages, overlaps."""
    kept: dict[str, _Sentence] = {}
    for sentence in found:
        kept.setdefault(" ".join(sentence.text.split()).casefold(), sentence)
    return list(kept.values())


def _sentences(passage: Passage) -> Iterator[_Sentence]:
    """Yield a passage's sentences, without the white space around them; of what is long, its lines."""
    for start, end in sentences(passage.text):
        sentence = _stripped(_Sentence(passage, start, end))
        if len(sentence.text) <= _LONGEST and not _NO_PROSE.search(sentence.text):
            if sentence.text:
                yield sentence
            continue
        for line in _LINE.finditer(passage.text, sentence.start, sentence.end):
            if _FENCE.match(line[0]):
                continue
            for piece in _WORDS.finditer(passage.text, line.start(), line.end()):
                yield _stripped(_Sentence(passage, *piece.span()))


def _stripped(sentence: _Sentence) -> _Sentence:
    text = sentence.text
    start = sentence.start + len(text) - len(text.lstrip())
    return sentence._replace(start=start, end=max(start, sentence.start + len(text.rstrip())))
