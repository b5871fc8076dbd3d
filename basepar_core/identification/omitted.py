"""Force laws that a mechanism's file names and nobody asked for, recognised by trying them.

A record of a machine has friction in it whether or not its columns are in the fit. Where the fit
leaves more than noise, it is made once more with the columns that the file names besides. They
are the reason if little is left then, far less than as many columns take away by chance, and if
what they add loses energy, as friction does and a wrong sign or geometry need not.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import f as fisher

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters, extend
from basepar_core.dynamics import SECTIONS, Column, Model, Observation, with_columns
from basepar_core.dynamics import columns as columns_of
from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import noise_levels

from .diagnostics import ABOVE_NOISE, inflation
from .notes import Note
from .observed import counting
from .prediction import predict
from .regression import Fitted, fit

#: Share of the torque that may be left without a trial.
LITTLE = 0.01
#: By how many times less torque has to be left, or less above the stated noise.
LESS = 2.0
#: How likely noise alone may take away as much.
CHANCE = 1e-6
#: Fewer columns do as well if they leave at most so many times more.
AS_WELL = 1.1
#: Kinds of columns that lose energy.
LOSSES = ("viscous", "coulomb", "damping")
#: Kind of the note, and of notes that guess at what the columns explain.
KIND = "omitted"
GUESSES = ("unexplained", "unlike the file", "above noise", "correlated", "outliers")


@dataclass(frozen=True)
class Without:
    """A fit without some columns that the file names.

    Attributes
    ----------
    model, base, columns
        What was fitted, `columns` being the force-law columns of it.
    seen
        W of the record, `columns` last.
    last
        The fit, of one record.
    free
        Base parameters that are estimated.
    method
        Of `estimate`.
    """

    model: Model
    base: BaseParameters
    columns: tuple[Column, ...]
    seen: Observation
    last: Fitted
    free: tuple[int, ...]
    method: str

    @property
    def error(self) -> float:
        """‖τ − W φ‖/‖τ‖, unweighted."""
        return predict("", self.last.regression, self.last.values, self.last.estimate).error

    @property
    def levels(self) -> Array | None:
        """(drive,): stated noise; None where none is stated, or it is zero."""
        found = noise_levels(self.model.mechanism)
        return None if found is None or not found.all() else found

    def above_noise(self, residual: Array) -> float:
        """Mean square of residuals in the stated noise, less the 1 that is noise; else inf."""
        if self.levels is None:
            return np.inf
        scaled = residual / self.levels[self.last.regression.groups]
        return max(0.0, float((scaled**2).mean()) - 1.0)


def find_omitted(fitted: Without) -> Note | None:
    """A note where columns that the file names explain what a fit leaves; None where none do."""
    left = may_be_omitted(fitted.model.mechanism, fitted.columns)
    if not left or not _leaves_much(fitted):
        return None
    part = fitted.last.regression.parts[0]
    wide = with_columns(fitted.model, {}, part.ready.motion, fitted.seen, left)
    sections = {
        word: [k for k, one in enumerate(left) if isinstance(one.source, kind)]
        for word, kind in SECTIONS.items()
    }
    before, found = fitted.error, dict[tuple[str, ...], float]()
    for words in _longest_first(sections):
        error = _error_with(fitted, wide, left, [k for word in words for k in sections[word]])
        if error is None and not found:
            return None  # not even all of them
        if error is not None:
            found[words] = error
    best = AS_WELL * next(iter(found.values()))
    words = min(
        (one for one in found if found[one] <= best), key=lambda one: (len(one), found[one])
    )
    named = [_named(fitted, word, [left[k] for k in sections[word]]) for word in words]
    text = (
        f"the file names {' and '.join(named)}; with {'its' if len(words) == 1 else 'their'} "
        f"columns the torque error is {found[words]:.2%} instead of {before:.2%}: add "
        f"`with={','.join(words)}`"
    )
    return Note(KIND, text)


def may_be_omitted(mechanism: Mechanism, asked: Sequence[Column]) -> list[Column]:
    """Columns that the file names besides those that were asked for."""
    names = {one.name for one in asked}
    return [one for one in columns_of(mechanism) if one.name not in names]


def without_guesses(known: Sequence[Note], notes: Sequence[Note]) -> list[Note]:
    """Notes less those that guess at what omitted columns explain, where `known` has these."""
    explained = any(one.kind == KIND for one in known)
    return [one for one in notes if not (explained and one.kind in GUESSES)]


def _leaves_much(fitted: Without) -> bool:
    """Whether there may be something to explain."""
    if fitted.levels is not None:
        above = (fitted.last.estimate.sigma / fitted.levels).max() > ABOVE_NOISE
        if above:
            return True
    return fitted.error > LITTLE


def _longest_first(sections: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, ...]]:
    """All sections that have columns together, then fewer."""
    present = [word for word, places in sections.items() if places]
    for count in range(len(present), 0, -1):
        yield from itertools.combinations(present, count)


def _error_with(
    fitted: Without, wide: Observation, left: Sequence[Column], places: Sequence[int]
) -> float | None:
    """Torque error with some of the columns left; None where they are not the reason."""
    regression, count = fitted.last.regression, len(fitted.base.kept)
    first = wide.W.shape[-1] - len(left)
    order = [*range(first), *(first + k for k in places)]
    W = replace(wide, W=wide.W[..., order], terms=wide.terms[..., order])
    chosen = [left[k] for k in places]
    part = regression.parts[0]
    counted = counting(W, (*fitted.columns, *chosen), part.ready.tau)
    new = list(extend(fitted.model, fitted.base, chosen, counted).kept[count:])
    width = len(fitted.free) + len(new)
    if not new or regression.groups.size <= width:
        return None
    added = W.W[0][..., new]
    wider = regression.like(
        [replace(part, W=np.concatenate([part.W, added], axis=-1), halves=())],
        [*regression.laws, *[None] * len(new)],
    )
    start = np.concatenate([fitted.last.values, np.zeros(len(new))])
    free = [*fitted.free, *range(count, count + len(new))]
    method = "weighted" if fitted.method == "iv" else fitted.method
    try:
        trial = fit(wider, start, free, method, start)
    except (UsageError, np.linalg.LinAlgError):  # the motion does not tell them apart
        return None
    if not _is_reason(fitted, trial, len(new), width):
        return None
    lossy = [place for place, k in enumerate(new) if left[places[k - first]].kind in LOSSES]
    forces = added[..., lossy] @ trial.values[count:][lossy]
    if float((forces.T * part.ready.motion.q_dot).sum()) < 0:
        return None
    error = predict("", trial.regression, trial.values, trial.estimate).error
    return error if _is_large(fitted, trial, error) else None


def _is_reason(fitted: Without, trial: Fitted, added: int, width: int) -> bool:
    """Whether chance takes away as much once in 1/`CHANCE` fits, counting what rows repeat."""
    of, groups = trial.estimate, fitted.last.regression.groups
    scale = np.sqrt(of.weights) / of.sigma[groups]
    before, after = (
        float(((scale * residual) ** 2).sum())
        for residual in (fitted.last.estimate.residual, of.residual)
    )
    rows = groups.size / inflation(of.residual, groups) ** 2
    if not np.isfinite(after) or rows <= width:
        return False
    if after == 0:
        return before > 0
    ratio = (before / after - 1) * (rows - width) / added
    return bool(fisher.sf(ratio, added, rows - width) < CHANCE)


def _is_large(fitted: Without, trial: Fitted, error: float) -> bool:
    """Whether most of the torque that was left, or that was above the stated noise, is gone."""
    if error * LESS <= fitted.error:
        return True
    before = fitted.above_noise(fitted.last.estimate.residual)
    after = fitted.above_noise(trial.estimate.residual)
    return bool(ABOVE_NOISE**2 - 1 < before < np.inf and after * LESS**2 <= before)


def _named(fitted: Without, word: str, left: Sequence[Column]) -> str:
    """What the file names of a section: friction of A, B; columns where others were asked for."""
    if any(isinstance(one.source, SECTIONS[word]) for one in fitted.columns):
        return ", ".join(one.name for one in left)
    names = dict.fromkeys(one.name.rpartition(".")[0] for one in left)
    return f"{word} {'of ' if word == 'friction' else ''}{', '.join(names)}"
