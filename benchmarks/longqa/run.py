"""The share of evidence that the passages hold, digests beside windows of 200 words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks.longqa import picture, sets, table, vectors, ways
from benchmarks.report import Goal, Report
from firstlight.digest.documents import LongText
from firstlight.digest.types import CHUNK_TOKENS, SMALL_DOC
from firstlight.embed.local import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.longqa.sets import LongSet, Span
    from benchmarks.longqa.vectors import Embedded
    from benchmarks.options import Options

BUDGETS = (2_000, 8_000)
WINDOWS, BM25, HYBRID = "windows", "bm25", "hybrid"
BARE, MEAN = "bm25, no chunk 0", "hybrid, mean window"  # what no digest does
OURS = (BM25, HYBRID)
SETUP = {
    "metric": "the share of evidence spans that lie wholly inside the passages chosen for their question; "
    "passages that touch count as one",
    "budget": "the estimated tokens of all passages, chunk 0 included; what does not fit is passed over; a "
    "document within the budget is read whole, by everybody",
    WINDOWS: f"bm25s with its defaults over windows of {ways.WORDS} words of the document, the best first, "
    "no chunk 0; windows without a word of the question are left out",
    BM25: "digest/select.py with the budget as its argument: chunk 0, then the best by BM25",
    HYBRID: f"the same by 0.7 cosine and 0.3 overlap, all chunks embedded with {NAME}; a chunk's cosine is "
    "that of its nearest window",
    MEAN: "hybrid with the direction of all windows of a chunk instead. The nearest window was chosen over "
    "it, and over three mixtures, by these very questions: what it gains here flatters it",
    BARE: "bm25 without chunk 0, which no digest does: what that place costs",
    f"chunks of {CHUNK_TOKENS}": f"what a digest cuts and reads {SMALL_DOC:,} tokens of; at {BUDGETS[0]:,} "
    "tokens chunk 0 and one more are all that fits",
    f"chunks of {CHUNK_TOKENS * BUDGETS[0] // SMALL_DOC}": "cut in the same proportion to the smaller "
    "budget; no digest does so, since its budget is a constant",
}


class Case(NamedTuple):
    """A budget, and the size of the chunks that are chosen for it."""

    budget: int
    chunk_tokens: int

    def __str__(self) -> str:
        return f"{self.budget:,} tokens, chunks of {self.chunk_tokens:,}"


CASES = (
    Case(BUDGETS[0], CHUNK_TOKENS),
    Case(BUDGETS[0], CHUNK_TOKENS * BUDGETS[0] // SMALL_DOC),
    Case(BUDGETS[1], CHUNK_TOKENS),
)


class Found(NamedTuple):
    """Which spans one way held, and which of them are in documents longer than the budget."""

    spans: list[bool]
    long: list[bool]

    @property
    def share(self) -> float:
        return sum(self.spans) / len(self.spans)

    @property
    def share_of_long(self) -> float:
        return sum(span for span, is_long in zip(*self, strict=True) if is_long) / max(sum(self.long), 1)


def run(options: Options) -> Report:
    """Measure, judge, and write the tables and the picture."""
    found: dict[str, dict[str, Found]] = {}
    for name in sets.NAMES:
        loaded = sets.shortest(sets.load(name), above=BUDGETS[-1]) if options.quick else sets.load(name)
        found |= {f"{name}, {case}": each for case, each in _measure(loaded)}
    figures = {
        "evidence": _shares(found, long=False),
        "evidence in longer documents": _shares(found, long=True),
        "spans": {
            row: {"all": len(each[BM25].spans), "longer": sum(each[BM25].long)} for row, each in found.items()
        },
    }
    report = Report("longqa", SETUP, figures, list(_goals(found)))
    if not options.only:
        table.write(report, quick=options.quick)
        picture.draw(report, quick=options.quick)
    return report


def _measure(loaded: LongSet) -> Iterator[tuple[Case, dict[str, Found]]]:
    windows = {name: ways.Windows(text) for name, text in loaded.documents.items()}
    for case in CASES:
        documents = {
            name: LongText(text, chunk_tokens=case.chunk_tokens) for name, text in loaded.documents.items()
        }
        long = [document for document in documents.values() if document.tokens > BUDGETS[0]]
        embedded = vectors.embed(long, (question.text for question in loaded.questions))
        yield case, _chosen(loaded, documents, windows, embedded, case.budget)


def _chosen(
    loaded: LongSet,
    documents: Mapping[str, LongText],
    windows: Mapping[str, ways.Windows],
    embedded: Embedded,
    budget: int,
) -> dict[str, Found]:
    found = {way: Found([], []) for way in (WINDOWS, BM25, HYBRID, MEAN, BARE)}
    means = ways.of_means(embedded)
    for question in loaded.questions:
        document, asked = documents[question.document], question.text
        is_long = document.tokens > budget
        passages: dict[str, list[Span]] = {way: [(0, len(document.text))] for way in found}
        if is_long:
            passages = {
                WINDOWS: windows[question.document].choose(asked, budget),
                BM25: ways.by_words(document, asked, budget),
                HYBRID: ways.by_both(document, asked, budget, embedded),
                MEAN: ways.by_both(document, asked, budget, means),
                BARE: ways.without_beginning(document, asked, budget),
            }
        for way, chosen in passages.items():
            found[way].spans.extend(ways.whole(question.spans, chosen))
            found[way].long.extend([is_long] * len(question.spans))
    return found


def _shares(found: Mapping[str, Mapping[str, Found]], *, long: bool) -> dict[str, dict[str, float]]:
    return {
        row: {way: each.share_of_long if long else each.share for way, each in by_way.items()}
        for row, by_way in found.items()
    }


def _goals(found: Mapping[str, Mapping[str, Found]]) -> Iterator[Goal]:
    for row, by_way in found.items():
        for way in OURS:
            more = sum(by_way[way].spans) - sum(by_way[WINDOWS].spans)
            yield Goal(f"{row}: spans that {way} holds more than windows", more, 1, at_least=True)
