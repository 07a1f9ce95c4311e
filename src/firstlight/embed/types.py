"""The words of the embed floor: what an embedder is, and what embedding a text came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Kind: TypeAlias = Literal["query", "document"]
    Vectors: TypeAlias = NDArray[np.float32]


# No model has vectors of more numbers.
MOST_DIMENSIONS = 65_536


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors; any object with these names serves.

    It may also have `floor` (float: the cosine from which a passage counts as a match; calibrated where it is
    missing), `limits` (a `Limits`: what one call takes) and `split(text) -> list[str]` (cuts a text into
    windows that each fit, by its own tokenizer).

    Attributes:
        name: What a person calls the model.
        dimensions: The length of a vector; 0 while it is not known, which a provider's first answer tells.
        max_tokens: The longest text that it takes without cutting it, in its own tokens.
        fingerprint: Everything that makes two vectors comparable: model, revision, pooling, prefix.
        languages: The ISO 639-1 codes of the languages that it knows; None for all.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def dimensions(self) -> int: ...  # noqa: D102
    @property
    def max_tokens(self) -> int: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102
    @property
    def languages(self) -> frozenset[str] | None: ...  # noqa: D102

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Return float32[n, d], a vector of unit length for each text, in their order.

        Raises:
            EmbeddingError: The texts cannot be embedded; its `kind` says whether later might be better.
        """
        ...


class Limits(NamedTuple):
    """What one call of an embedder takes.

    Attributes:
        texts: How many texts.
        tokens: How many tokens all together, as `est_tokens` counts.
    """

    texts: int = 32
    tokens: int = 100_000
