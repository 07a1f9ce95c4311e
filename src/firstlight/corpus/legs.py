"""Which legs a search may use, BM25 alone or vectors too, and the one line that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from firstlight.errors import ConfigError, EmbeddingError
from firstlight.store.documents import read_languages
from firstlight.store.embedders import SERVING, read_embedders
from firstlight.store.vectors import any_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from firstlight.corpus.embedding import Embedding
    from firstlight.corpus.site import Site
    from firstlight.store.embedders import EmbedderRow

MODES = ("auto", "bm25", "hybrid", "vector")
# The share of the cosine where nothing was tuned: the middle of what does best on the labelled collections,
# benchmarks/results/hybrid.md.
WEIGHT = 0.4
NO_EMBEDDER = "no embedder; ranked by BM25 alone"
ASKED = "as asked, ranked by BM25 alone"
NOT_YET = "nothing is embedded yet; ranked by BM25 alone"
NO_FLOOR = "too little is embedded yet to tell a match from nonsense; ranked by BM25 alone"
CHANGED = "the vectors are another model's since a moment ago; ranked by BM25 alone"


class Leg(NamedTuple):
    """The question's vector, and which embedder's vectors it is compared with.

    Attributes:
        vector: float32[d], of unit length.
        recorded: The embedder as the index knows it; its floor is known.
        mode: `hybrid` or `vector`.
        weight: The share of the cosine.
    """

    vector: NDArray[np.float32]
    recorded: EmbedderRow
    mode: str
    weight: float


def vector_leg(
    site: Site,
    embedding: Embedding | None,
    question: str,
    mode: str,
    weight: float,
    *,
    role: str = SERVING,
) -> Leg | str:
    """Return the leg of vectors, or the reason why there is none; asked before the index is read.

    Args:
        site: The corpus.
        embedding: The embedder in use.
        question: What is asked.
        mode: How.
        weight: The share of the cosine.
        role: Of the embedder whose vectors are searched: a migration looks at those that do not serve yet.

    Raises:
        ConfigError: The mode needs an embedder and there is none, or the index has another one's vectors.
    """
    if mode == "bm25":
        return ASKED
    if embedding is None:
        if mode != "auto":
            raise ConfigError(
                f"{mode!r} needs an embedder, and there is none: pip install 'firstlight[local]', or name "
                "one; 'auto' and 'bm25' need none",
                key="mode",
            )
        return NO_EMBEDDER
    with site.database.read() as connection:
        recorded = read_embedders(connection).get(role)
        ready = recorded is not None and any_vector(connection, recorded.id)
        spoken = read_languages(connection)
    if ready:
        embedding.check_recorded(recorded)
    if recorded is None or recorded.floor is None or not ready:
        return NO_FLOOR if ready else NOT_YET
    from firstlight.corpus.languages import is_known, question_language  # noqa: PLC0415  # vectors alone ask

    known = embedding.embedder.languages
    language = question_language(question, spoken)
    if not is_known(question, language, known):
        return f"{recorded.name} does not know the question's language; ranked by BM25 alone"
    try:
        vector = _vector(embedding, question, recorded)
    except EmbeddingError as error:
        return f"the question could not be embedded ({error}); ranked by BM25 alone"
    return Leg(vector, recorded, "vector" if mode == "vector" else "hybrid", weight)


def _vector(embedding: Embedding, question: str, recorded: EmbedderRow) -> NDArray[np.float32]:
    vector = embedding.question.embed(question)
    if len(vector) != recorded.dimensions:
        raise EmbeddingError(
            f"{recorded.name} now answers with {len(vector)} dimensions, and had {recorded.dimensions}",
            kind="wrong-answer",
        )
    return vector
