"""The same passage is one hit, although two chunks of a document have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.corpus import novelty

if TYPE_CHECKING:
    from pathlib import Path

    from firstlight import Corpus

    from .conftest import Docs


def page(*, before: str = "", shared: str = "", after: str = "") -> str:
    """Two sections of a chunk each: the second repeats the last paragraph of the first."""
    filler = [f"Sentence number {n} of the page says little of what anybody would want.\n" for n in range(40)]
    first = [*filler[:10], f"{before}\n", *filler[10:18], f"The end of the first. {shared}\n"]
    second = [*filler[20:30], f"{after}\n", *filler[30:38]]
    return "\n".join(["# One\n", *first, "# Two\n", *second])


def starts(corpus: Corpus, question: str, **options: object) -> list[int]:
    return [hit.start for hit in corpus.search(question, **options)]  # type: ignore[arg-type]


def test_what_matches_only_in_the_overlap_is_shown_once(docs: Docs) -> None:
    docs.write("a.md", page(shared="Zebras graze here."))
    with docs.open() as corpus:
        corpus.sync()
        assert corpus.status().chunks > 1
        both = [hit for hit in corpus.search("page", top_k=9) if "Zebras" in hit.text]
        assert len(both) == 2
        assert len(starts(corpus, "zebras")) == 1
        assert len(starts(corpus, '"zebras graze"')) == 1
        assert len(starts(corpus, "zebras", where="path = a.md")) == 1


def test_what_matches_elsewhere_too_is_shown(docs: Docs) -> None:
    docs.write("a.md", page(before="Zebras run.", shared="Zebras graze here.", after="Other zebras sleep."))
    with docs.open() as corpus:
        corpus.sync()
        assert len(starts(corpus, "zebras")) == 2


def test_a_word_that_says_little_elsewhere_is_not_enough(docs: Docs) -> None:
    docs.write("a.md", page(shared="Zebras graze here.", before="The page.", after="The page."))
    for number in range(9):
        docs.write(f"{number}.md", f"Another page {number}.\n")
    with docs.open() as corpus:
        corpus.sync()
        hits = corpus.search("zebras page")
        assert sum(hit.path == "a.md" and "zebras" in hit.matched for hit in hits) == 1


def test_what_matches_by_its_title_alone_is_shown(docs: Docs) -> None:
    docs.write("a.md", f"---\ntitle: Zebras\n---\n{page()}")
    with docs.open() as corpus:
        corpus.sync()
        assert len(starts(corpus, "zebras")) == corpus.status().chunks


def test_no_text_is_read_of_candidates_that_overlap_no_hit(
    docs: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        docs.write(f"{number}.md", f"Zebras {number}.\n")
    with docs.open() as corpus:
        corpus.sync()
        monkeypatch.setattr(novelty.Novelty, "_find", pytest.fail)
        assert len(corpus.search("zebras")) == 5


@pytest.mark.parametrize(
    ("folder", "question"),
    [("vuejs-docs/src/about", "does vue support IE11"), ("rust-book/src", "question mark operator")],
)
def test_real_questions_show_each_passage_once(
    data_pack: Path, docs: Docs, folder: str, question: str
) -> None:
    for file in sorted((data_pack / "md" / folder).glob("*.md")):
        docs.write(file.name, file.read_bytes())
    with docs.open() as corpus:
        corpus.sync()
        hits = corpus.search(question, top_k=20)
        assert len({hit.snippet for hit in hits}) == len(hits)
        for k in (1, 3, 10):
            assert [hit.id for hit in corpus.search(question, top_k=k)] == [hit.id for hit in hits[:k]]
