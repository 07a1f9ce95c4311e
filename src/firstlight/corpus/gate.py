"""What a new model has to pass before it serves: the same questions, answered with the old and the new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.corpus.ask import ask
from firstlight.corpus.legs import WEIGHT, vector_leg
from firstlight.corpus.migration_types import REFUSED, SWAPPED, WAITING, Gate
from firstlight.corpus.search import Question
from firstlight.corpus.snapshot import Snapshots
from firstlight.embed.question import QuestionEmbedder
from firstlight.rank.quality import CUTOFF, agreement, ndcg, ranked_documents
from firstlight.store.embedders import SERVING, SHADOW

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.migration_types import Golden
    from firstlight.corpus.site import Site

    Rankings = dict[str, list[str]]


# Where the new model cannot embed more of the chunks than this, somebody has to say that it is fine.
MOST_LOST = 0.01


def compare(
    site: Site,
    old: Embedding,
    new: Embedding,
    golden: Golden,
    *,
    check: Callable[[], object] = lambda: None,
) -> Gate:
    """Ask every question in hybrid mode, of the model that serves and of the one that is to.

    Args:
        site: The corpus.
        old: The embedder that serves.
        new: The one whose vectors are the shadow's.
        golden: The questions, and what is judged of them.
        check: Called between questions; may raise.

    Raises:
        EmbeddingError: A question cannot be embedded: words alone would be no answer of that model.
    """
    before = _rankings(site, old, SERVING, golden, check)
    after = _rankings(site, new, SHADOW, golden, check)
    labelled = [question for question, grades in golden.items() if any(each > 0 for each in grades.values())]
    return Gate(
        questions=len(golden),
        labelled=len(labelled),
        agreement=_mean(agreement(before[question], after[question]) for question in golden),
        old_ndcg=_quality(before, golden, labelled),
        new_ndcg=_quality(after, golden, labelled),
    )


def verdict(gate: Gate | None, lost: int, chunks: int, *, min_quality: float, yes: bool) -> tuple[str, str]:
    """Return the outcome, and the reason for it.

    Args:
        gate: How the answers compare, where anything was asked.
        lost: How many chunks the new model cannot embed.
        chunks: How many there are.
        min_quality: The least share of the old quality.
        yes: Whether somebody said that it is fine without labelled questions, or with chunks lost.

    Example:
        >>> from firstlight.corpus.migration_types import Gate
        >>> verdict(Gate(9, 9, 0.6, 0.8, 0.72), 0, 50, min_quality=0.95, yes=True)
        ('refused', 'the new quality is 90.0 % of the old, less than 95.0 %')
        >>> verdict(None, 0, 50, min_quality=0.95, yes=False)
        ('waiting', 'no golden questions compare the two models')
    """
    quality = None if gate is None else gate.quality
    passed = "" if quality is None else f"the new quality is {_percent(quality)} of the old"
    if quality is not None and quality < min_quality:
        return REFUSED, f"{passed}, less than {_percent(min_quality)}"
    doubts = []
    if lost > MOST_LOST * chunks:
        doubts.append(f"{lost:,} of {chunks:,} chunks cannot be embedded by the new model")
    if gate is None:
        doubts.append("no golden questions compare the two models")
    elif quality is None and gate.labelled:
        doubts.append("neither model finds anything that the golden questions' labels call relevant")
    elif quality is None:
        doubts.append(
            f"no golden question says what is relevant; of the ten best documents, "
            f"{_percent(gate.agreement)} are the same"
        )
    if doubts and not yes:
        return WAITING, "; ".join(doubts)
    accepted = f"accepted although {' and '.join(doubts)}" if doubts else ""
    return SWAPPED, "; ".join(filter(None, [passed, accepted]))


def _quality(rankings: Rankings, golden: Golden, labelled: Collection[str]) -> float | None:
    if not labelled:
        return None
    return _mean(ndcg(rankings[question], golden[question]) for question in labelled)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _rankings(
    site: Site, embedding: Embedding, role: str, questions: Iterable[str], check: Callable[[], object]
) -> Rankings:
    weight = WEIGHT if site.config.weight is None else site.config.weight
    snapshots = Snapshots(role)
    # Nobody waits for these answers: they take the time that they need.
    patient = embedding._replace(question=QuestionEmbedder(embedding.embedder, cache=embedding.cache))
    found: Rankings = {}
    for text in questions:
        check()
        patient.question.embed(text)
        leg = vector_leg(site, patient, text, "hybrid", weight, role=role)
        results = ask(site, snapshots, Question(text, CUTOFF, None, 1, explain=False), leg).results
        found[text] = ranked_documents(results)
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
