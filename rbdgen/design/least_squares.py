"""Models that are linear in a few terms: fitted to samples, with their errors where they are blind.

No coefficient is negative: what has more of a term never has less of what is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..system.records import Record

SHARE = 0.9  # of designs, in the range that is printed
Terms = Mapping[str, float]


class Sample(NamedTuple):
    """A design that is known: whose robot, its terms, and the value that they are to give."""

    robot: str
    terms: Terms
    value: float


@dataclass(frozen=True)
class FitError(Record):
    """Relative errors of a model's estimates: ``fit``, RMS where they were fitted; ``design``, of
    designs that the fit has not seen; ``robot``, of those of whose robot it has seen none, None
    where there is one robot; ``worst`` of the former. The range that is printed is ``spread`` times
    the larger RMS to either side; ``inside``: the share of designs in the range that the others
    make."""

    designs: int
    fit: float
    design: float
    robot: float | None
    worst: float
    spread: float
    inside: float

    @property
    def most(self) -> float:
        """The larger RMS of designs that the fit has not seen."""
        return max(self.design, self.robot or 0.0)


def value_of(coefficients: Mapping[str, float], terms: Terms) -> float:
    """The value that a model gives."""
    return sum(each * terms[name] for name, each in coefficients.items())


def fitted_errors(samples: Sequence[Sample], names: Sequence[str], rates: bool) -> FitError:
    """The errors of what each sample is estimated by a fit to the others.

    ``rates``: what is printed, with its range, is the value's reciprocal, as MHz are of a period;
    so errors are the reciprocal's. Raises ValueError for fewer than three samples: an error of one
    other is none.
    """
    if len(samples) < 3:
        raise ValueError(f"{len(samples)} designs: at least 3, for an error of what is left out")
    every = _off(samples, names, rates, lambda own, other: True)
    design = _off(samples, names, rates, lambda own, other: own is not other)
    kinds = [design]
    if len({own.robot for own in samples}) > 1:
        kinds.append(_off(samples, names, rates, lambda own, other: own.robot != other.robot))
    # the printed range is about the estimate, and the true value is in it; of each design, the
    # range is that which the errors of the others make
    others = [np.delete(np.array(kinds), k, axis=1) for k in range(len(samples))]
    ranges = np.array([_spread(len(samples) - 1) * max(map(rms, own)) for own in others])
    return FitError(
        designs=len(samples),
        fit=rms(every),
        design=rms(design),
        robot=rms(kinds[1]) if kinds[1:] else None,
        worst=round(float(np.abs(design).max()), 4),
        spread=_spread(len(samples)),
        inside=round(float((np.abs(1 / (1 + design) - 1) <= ranges).mean()), 4),
    )


def coefficients(rows: Sequence[tuple[Terms, float]], names: Sequence[str]) -> dict[str, float]:
    """The value of one of each term, by non-negative least squares of relative errors; of the terms
    that have any."""
    from scipy.optimize import nnls  # late: half a second

    matrix: NDArray = np.array([[terms[name] / value for name in names] for terms, value in rows])
    solution, _ = nnls(matrix, np.ones(len(rows)))
    pairs = zip(names, solution, strict=True)
    return {name: float(f"{x:.4g}") for name, x in pairs if x > 0}


def rms(errors: Any) -> float:
    """The root of the mean square, to four places."""
    return round(float(np.sqrt(np.mean(np.square(list(errors))))), 4)


def beyond(extent: Sequence[int], cells: int) -> str:
    """The words about a design that is smaller or larger than all that a model was fitted to."""
    least, most = extent
    if least <= cells <= most:
        return ""
    return f"{cells} cells, where the model was fitted to {least} to {most}"


def _spread(samples: int) -> float:
    """How often the RMS of so many errors is `SHARE` of further ones at most, by Student's t."""
    from scipy.stats import t  # late: half a second

    return round(float(t.ppf((1 + SHARE) / 2, samples)), 3)


def _off(
    samples: Sequence[Sample],
    names: Sequence[str],
    rates: bool,
    sees: Callable[[Sample, Sample], bool],
) -> NDArray:
    """The relative error of each sample's estimate, by a fit to those that it ``sees``."""
    found = []
    for own in samples:
        seen = [(other.terms, other.value) for other in samples if sees(own, other)]
        ratio = value_of(coefficients(seen, names), own.terms) / own.value
        found.append((1 / ratio if rates else ratio) - 1)
    return np.array(found)
