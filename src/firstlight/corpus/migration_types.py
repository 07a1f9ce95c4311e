"""The words of a change of models: what it did, how old and new compare, and what is under way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.rank.json import rounded
from firstlight.rank.quality import CUTOFF

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    # By question, how relevant each judged document is, by its path; nothing where nobody judged.
    Golden: TypeAlias = Mapping[str, Mapping[str, int]]

SWAPPED = "swapped"
RECORDED = "recorded"
UNCHANGED = "unchanged"
WAITING = "waiting"
REFUSED = "refused"
ROLLED_BACK = "rolled-back"


@dataclass(frozen=True, slots=True)
class Gate:
    """How the answers of two models compare, both hybrid.

    Attributes:
        questions: How many questions were asked; `labelled` is for how many documents are judged.
        agreement: Which share of the ten best documents both find, the mean over all questions.
        old_ndcg: nDCG@10 of the model that serves, over the labelled questions; None without any.
        new_ndcg: The same of the new one.
    """

    questions: int
    labelled: int
    agreement: float
    old_ndcg: float | None = None
    new_ndcg: float | None = None

    @property
    def quality(self) -> float | None:
        """The new model's nDCG@10 over the old one's; None where nothing relevant is found with either.

        Example:
            >>> Gate(2, 2, 0.5, 0.8, 0.6).quality, Gate(2, 0, 0.5).quality, Gate(2, 2, 0.5, 0.0, 0.6).quality
            (0.75, None, 1.0)
        """
        if self.old_ndcg is None or self.new_ndcg is None:
            return None
        if self.old_ndcg > 0:
            return round(self.new_ndcg / self.old_ndcg, 6)
        return 1.0 if self.new_ndcg > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in their JSON shape."""
        figures = {
            "quality": self.quality,
            f"old_ndcg@{CUTOFF}": self.old_ndcg,
            f"new_ndcg@{CUTOFF}": self.new_ndcg,
            "agreement": self.agreement,
        }
        shown = {name: None if value is None else rounded(value) for name, value in figures.items()}
        return {"questions": self.questions, "labelled": self.labelled} | shown


class Model(NamedTuple):
    """An embedder of the index.

    Attributes:
        name: What a person calls it.
        spec: What names it in settings and on the command line.
        embedded: Chunks with a vector of it; `failed` will never have one, `foreign` are in languages that
            it does not know, and `waiting` are still to be embedded.
        tokens: How many estimated tokens it was sent, where it is remote.
        trouble: Why its embedding does not go on, or None.
    """

    name: str
    spec: str
    embedded: int = 0
    failed: int = 0
    foreign: int = 0
    waiting: int = 0
    tokens: int = 0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a migration, or its undoing, came to.

    Attributes:
        outcome: "swapped": the new model serves. "waiting": it is filled, and somebody has to say yes.
            "refused": its answers are worse than was asked for. "recorded": there were no vectors, so that
            nothing was to be made first. "unchanged": it served already. "rolled-back".
        reason: Why, in one line.
        model: The new model; of a rollback, the one that serves again.
        old: The model that served before; None where none did.
        chunks: How many chunks there are.
        lost: Chunks that the new model cannot embed, those aside that the old one does not know either.
        gate: How their answers compare; None where nothing was asked.
        replaced: The model of the unfinished migration that this one took the place of, or None.
        configured: Whether this corpus was open with the model that serves now: no setting is to be changed.
        generation: The state of the index afterwards.
        seconds: How long it took.
    """

    outcome: str
    reason: str
    model: Model
    old: Model | None = None
    chunks: int = 0
    lost: int = 0
    gate: Gate | None = None
    replaced: str | None = None
    configured: bool = False
    generation: int = 0
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether the index has the model now that was asked for."""
        return self.outcome not in (WAITING, REFUSED)

    def to_dict(self) -> dict[str, Any]:
        """Return the report in its one JSON shape."""
        return {
            "outcome": self.outcome,
            "reason": self.reason,
            "model": self.model._asdict(),
            "old": None if self.old is None else self.old._asdict(),
            "chunks": self.chunks,
            "lost": self.lost,
            "gate": None if self.gate is None else self.gate.to_dict(),
            "replaced": self.replaced,
            "configured": self.configured,
            "generation": self.generation,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """Which models an index has vectors of.

    Attributes:
        serving: The one that answers; None where there are no vectors.
        shadow: The one that a migration fills; None where none is under way.
        previous: The one that a rollback brings back, or None.
        chunks: How many chunks there are.
        worker: The process that embeds now, or None, and `rate` is how many chunks a second it embeds.
    """

    serving: Model | None = None
    shadow: Model | None = None
    previous: Model | None = None
    chunks: int = 0
    worker: str | None = None
    rate: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the status in its one JSON shape."""
        models = {
            role: None if model is None else model._asdict()
            for role, model in (
                ("serving", self.serving),
                ("shadow", self.shadow),
                ("previous", self.previous),
            )
        }
        return models | {key: value for key, value in asdict(self).items() if key not in models}
