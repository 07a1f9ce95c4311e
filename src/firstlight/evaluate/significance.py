"""Whether one ranking is better than another, or whether that may be chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firstlight.evaluate.report import LEVEL, Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from firstlight.evaluate.types import Values

# At p = 0.05 this many are good for +-0.004; below 14 questions all sign changes are tried instead.
_RESAMPLES = 10_000
_SEED = 20070701
# Differences below this are rounding.
_EQUAL = 1e-9
_BATCH_NUMBERS = 5_000_000


def compare(name: str, values: Values, base: str, base_values: Values) -> Comparison:
    """Compare two rankings of the same questions.

    p is that of Fisher's randomisation test on the mean (Smucker, Allan and Carterette 2007, "A Comparison of
    Statistical Significance Tests for Information Retrieval Evaluation"), which assumes nothing about how
    scores are distributed. The same input gives the same p.
    """
    pairs = [(values[question], base_values[question]) for question in sorted(base_values)]
    differences = np.array([one - other for one, other in pairs])
    differences[np.abs(differences) < _EQUAL] = 0.0
    low, high = _interval(differences)
    return Comparison(
        name=name,
        base=base,
        difference=float(differences.mean()),
        p=_p(differences),
        low=low,
        high=high,
        better=int((differences > 0).sum()),
        worse=int((differences < 0).sum()),
        questions=len(differences),
    )


def _p(differences: NDArray[np.float64]) -> float:
    if len(differences) == 1 or not differences.any():
        return 1.0
    from scipy.stats import permutation_test  # noqa: PLC0415  # takes a second to import

    found = permutation_test(
        (differences,),
        _means,
        permutation_type="samples",
        n_resamples=_RESAMPLES,
        batch=max(1, _BATCH_NUMBERS // len(differences)),
        vectorized=True,
        rng=np.random.default_rng(_SEED),
    )
    return min(1.0, float(found.pvalue))


def _means(differences: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    means: NDArray[np.float64] = differences.mean(axis=axis)
    return means


def _interval(differences: NDArray[np.float64]) -> tuple[float | None, float | None]:
    count = len(differences)
    if count < 2:
        return None, None
    from scipy.special import stdtrit  # noqa: PLC0415

    middle = float(differences.mean())
    error = float(differences.std(ddof=1)) / count**0.5
    reach = float(stdtrit(count - 1, 1 - LEVEL / 2)) * error
    return middle - reach, middle + reach
