"""Where the floor lies: what it costs in quality, and how much that is no answer it keeps out."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.hybrid import astray, vectors, ways, weights
from benchmarks.hybrid.legs import MEAN
from firstlight.embed.local import FLOOR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.hybrid.legs import Legs
    from benchmarks.hybrid.weights import Curve

FLOORS = tuple(sorted({0.2, 0.25, 0.3, 0.35, 0.4, FLOOR}))


def measure(legs: Legs, curves: Mapping[float, Curve], weight: float) -> dict[float, dict[str, float]]:
    """Return the figures of a collection by floor."""
    nonsense, off_topic = _nearest(legs, astray.nonsense()), _nearest(legs, astray.OFF_TOPIC)
    asked = np.array([legs.seen(at).max() for at in range(len(legs.questions))])
    answers = _answers(legs)
    return {
        floor: {
            "hybrid": curves[floor].at(weight),
            "hybrid, best weight": max(curves[floor].means().values()),
            "vector": float(ways.by_vector(legs, floor=floor).mean()),
            "nonsense": float((nonsense >= floor).mean()),
            "off-topic": float((off_topic >= floor).mean()),
            "questions": float((asked >= floor).mean()),
            "answers": float((answers >= floor).mean()),
        }
        for floor in FLOORS
    }


def curves_of(legs: Legs) -> dict[float, Curve]:
    """Return the weight curve at each floor."""
    return {floor: weights.curve(legs, floor=floor) for floor in FLOORS}


def _nearest(legs: Legs, questions: Sequence[str]) -> NDArray[np.float32]:
    """Return the cosine of the unit that is nearest to each question."""
    with closing(vectors.open_cache()) as kept:
        asked = vectors.embed_questions(questions, kept)
    found: NDArray[np.float32] = (asked @ legs.vectors[legs.known].T).max(axis=1)
    return found


def _answers(legs: Legs) -> NDArray[np.float32]:
    """Return the best cosine of each document that was judged to be an answer."""
    owners = np.array(legs.indexed.owners)
    places: dict[str, list[int]] = {}
    for place, owner in enumerate(owners.tolist()):
        places.setdefault(owner, []).append(place)
    cosines = legs.cosines[MEAN]
    return np.array(
        [
            cosines[at, places[document]].max()
            for at, question in enumerate(legs.questions)
            for document in legs.qrels[question]
            if document in places
        ]
    )
