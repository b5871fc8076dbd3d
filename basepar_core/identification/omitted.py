"""Force laws that a mechanism's file names and nobody asked for, recognised by trying them.

A record of a machine has friction in it whether or not its columns are in the fit. Where the fit
leaves more than noise, it is made once more with the columns that the file names besides. They
are the reason if little is left then, far less than as many columns take away by chance, and if
what they add loses energy, as friction does and a wrong sign or geometry need not. Force laws with
values in the file are in the machine: a fit that a shorter list explains as well may have their
torque in other parameters, and be wrong.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import f as fisher

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters, extend
from basepar_core.dynamics import (
    SECTIONS,
    Column,
    DriveLaw,
    Model,
    Observation,
    unit,
    with_columns,
)
from basepar_core.dynamics import columns as columns_of
from basepar_core.errors import UsageError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import noise_levels

from .compare import file_values, in_place_of
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
#: Parameters agree with the file's within so many deviations, or this share.
DEVIATIONS, SHARE = 5.0, 1e-3
#: Kinds of the notes: of columns that explain what is left, and of others with values in the file.
KIND, LEFT_OUT = "omitted", "left out"
#: By kind of a note, notes that guess at what it explains.
GUESSES = {
    KIND: ("unexplained", "unlike the file", "above noise", "correlated", "outliers"),
    "scale": ("unexplained", "unlike the file", "above noise", "correlated"),
    "exchanged": ("scale", "sign", "unlike the file"),
    "offset": ("scale", "sign", "unlike the file", "unexplained"),
}


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

    @property
    def stated(self) -> Array:
        """What the file's parameters would give in the place of the identified ones."""
        of, rows = self.last.estimate, self.last.regression
        scale = 1.0 if self.method == "ols" else np.sqrt(of.weights) / of.sigma[rows.groups]
        file = file_values(self.model.mechanism, self.base, self.columns)
        whole = rows.whole(self.last.values)
        return in_place_of(file, self.last.values, whole, list(self.free), scale)

    @property
    def agrees(self) -> bool:
        """Whether all estimated parameters are the file's; those without values there are not."""
        of, stated = self.last.estimate, self.stated
        values = of.values[: len(self.free)]
        most = DEVIATIONS * of.deviations[: len(self.free)] + SHARE * np.abs(stated)
        return bool((np.abs(values - stated) <= most).all())  # nan does not

    def above_noise(self, residual: Array) -> float:
        """Mean square of residuals in the stated noise, less the 1 that is noise; else inf."""
        if self.levels is None:
            return np.inf
        scaled = residual / self.levels[self.last.regression.groups]
        return max(0.0, float((scaled**2).mean()) - 1.0)


def find_omitted(fitted: Without) -> Note | None:
    """A note on columns that the file names: that they explain what a fit leaves; else that
    some have values in the file and are not in the model. None where neither is so."""
    left = may_be_omitted(fitted.model.mechanism, fitted.columns)
    if not left:
        return None
    leaves_much = _leaves_much(fitted)
    found = _by_trial(fitted, left) if leaves_much else None
    return found or _left_out(fitted, left, leaves_much)


def _by_trial(fitted: Without, left: Sequence[Column]) -> Note | None:
    """A note where columns explain what a fit leaves: all with values in the file if they do."""
    part = fitted.last.regression.parts[0]
    wide = with_columns(fitted.model, {}, part.ready.motion, fitted.seen, left)
    sections = _by_section(left)
    before, found = fitted.error, dict[tuple[str, ...], float]()
    for words in _longest_first(sections):
        places = [left.index(one) for word in words for one in sections[word]]
        error = _error_with(fitted, wide, left, places)
        if error is None and not found:
            return None  # not even all of them
        if error is not None:
            found[words] = error
    stated = {word for word in sections if _valued(fitted.model.mechanism, sections[word])}
    best = AS_WELL * next(iter(found.values()))
    words = min(
        (one for one in found if found[one] <= best and stated <= {*one}),
        key=lambda one: (len(one), found[one]),
    )
    named = [_named(fitted, word, sections[word]) for word in words]
    columns = "its columns" if len(words) == 1 else "their columns"
    text = (
        f"the file names {' and '.join(named)}; with {columns} the torque error is "
        f"{found[words]:.2%} instead of {before:.2%}: add "
        f"`with={_to_ask(fitted, words)}`"
    )
    return Note(KIND, text)


def _left_out(fitted: Without, left: Sequence[Column], leaves_much: bool) -> Note | None:
    """A note where sections with values in the file are not in the model.

    Where other force laws were asked for, always: some are in the fit, and these are not. Where
    none were, unless the record fits to its noise and gives the file's parameters: that of a
    simulation without force laws.
    """
    mechanism = fitted.model.mechanism
    sections = {
        word: valued
        for word, some in _by_section(left).items()
        if word not in _asked(fitted) and (valued := _valued(mechanism, some))
    }
    if not sections or (not fitted.columns and not leaves_much and fitted.agrees):
        return None
    listed = " and ".join(_with_values(mechanism, word, some) for word, some in sections.items())
    one = len(sections) == 1 and (len(*sections.values()) == 1 or "friction" in sections)
    be, asked = "is" if one else "are", _to_ask(fitted, tuple(sections))
    text = f"the file's {listed} {be} not in the model: add `with={asked}`"
    return Note(LEFT_OUT, text)


def _by_section(left: Sequence[Column]) -> dict[str, list[Column]]:
    """Columns by the section of the file that names them."""
    found = {
        word: [one for one in left if isinstance(one.source, kind)]
        for word, kind in SECTIONS.items()
    }
    return {word: some for word, some in found.items() if some}


def _asked(fitted: Without) -> dict[str, list[str]]:
    """What was asked for by section: names of its columns. Laws of drives are friction."""
    found: dict[str, list[str]] = {}
    for one in fitted.columns:
        words = [word for word, kind in SECTIONS.items() if isinstance(one.source, kind)]
        found.setdefault(words[0] if words else "friction", []).append(one.name)
    return found


def _to_ask(fitted: Without, words: Sequence[str]) -> str:
    """What `with=` takes for the columns that were asked for and all of some sections."""
    file = _by_section(columns_of(fitted.model.mechanism))
    laws = [one.name for one in fitted.columns if isinstance(one.source, DriveLaw)]
    given = []
    for word, names in _asked(fitted).items():
        own = [name for name in names if name not in laws]
        whole = bool(own) and len(own) == len(file[word])
        given += [word] if whole or word in words else own
    order = sorted({*given, *words} & {*SECTIONS}, key=[*SECTIONS].index)
    return ",".join(dict.fromkeys([*laws, *(one for one in given if one not in order), *order]))


def _valued(mechanism: Mechanism, some: Sequence[Column]) -> list[Column]:
    """Columns to which the file gives a value that is not zero."""
    return [one for one in some if _value(mechanism, one)]


def _value(mechanism: Mechanism, column: Column) -> float:
    """The file's value, SI; 0 where it gives none."""
    if column.value is None:
        return 0.0
    return float(evaluate([column.value], mechanism.nominal)[0])


def _with_values(mechanism: Mechanism, word: str, some: Sequence[Column]) -> str:
    """Friction of A, B; spring S (0.5 N m/rad)."""
    if word == "friction":
        return f"friction of {', '.join(dict.fromkeys(_owner(one) for one in some))}"
    listed = [
        f"{_owner(one)} ({_value(mechanism, one):.4g} {unit(mechanism, one)})" for one in some
    ]
    return f"{word if len(some) > 1 else word[:-1]} {', '.join(listed)}"


def may_be_omitted(mechanism: Mechanism, asked: Sequence[Column]) -> list[Column]:
    """Columns that the file names besides those that were asked for."""
    names = {one.name for one in asked}
    return [one for one in columns_of(mechanism) if one.name not in names]


def without_guesses(known: Sequence[Note], notes: Sequence[Note]) -> list[Note]:
    """Notes less those that guess at what notes of `known`, or others of `notes`, explain."""
    left = list(notes)
    for explaining in (known, left):
        guesses = {kind for one in explaining for kind in GUESSES.get(one.kind, ())}
        left = [one for one in left if one.kind not in guesses]
    return left


def _leaves_much(fitted: Without) -> bool:
    """Whether there may be something to explain."""
    if fitted.levels is not None:
        above = (fitted.last.estimate.sigma / fitted.levels).max() > ABOVE_NOISE
        if above:
            return True
    return fitted.error > LITTLE


def _longest_first(sections: Mapping[str, Sequence[Column]]) -> Iterator[tuple[str, ...]]:
    """All sections together, then fewer."""
    for count in range(len(sections), 0, -1):
        yield from itertools.combinations(sections, count)


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
    names = dict.fromkeys(_owner(one) for one in left)
    return f"{word} {'of ' if word == 'friction' else ''}{', '.join(names)}"


def _owner(column: Column) -> str:
    """Whose column it is: a coordinate, a spring or a damper."""
    return column.name.rpartition(".")[0]
