"""A load's ten parameters from two records of one robot, without and with it; current gains.

The robot's base parameters are common to both records, the load's ten are of the second alone: its
columns are those of the body that carries it. Both are estimated at once (Khalil, Gautier &
Lemoine, IEEE ICRA 2007: "Identification of the payload inertial parameters of industrial
manipulators"), so that the load's deviations count the robot's.

Torques from currents whose gains nobody knows leave the scale of everything open. A load of
which something is known, its mass at least, fixes it: each drive's gain is then one more unknown
(Gautier & Briot, "Global identification of joint drive gains and dynamic parameters of robots",
ASME J. Dynamic Systems, Measurement, and Control 136, 2014).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Observation
from basepar_core.errors import UsageError

from .estimate import Estimate
from .measurement import Measurement
from .motion_regressor import observe_motion
from .notes import Note
from .physical_consistency import pseudo_inertia
from .prediction import laws_of, predict
from .preparation import prepare_record
from .regression import Fitted, Part, Regression, Searches, fit, on_drives
from .result import Identification, Prepared, Validation, drive_names
from .shapes import slopes

#: What a load's parameters are called.
LOAD = "payload."
#: Share of a column that others do not explain, below which it depends on them: half the digits.
DEPENDENT = np.sqrt(np.finfo(float).eps)


@dataclass(frozen=True)
class Payload:
    """A load, the robot, and gains, from both records.

    Attributes
    ----------
    body
        That carries the load, and in whose frame its parameters are, about the frame's origin.
    robot, names
        Base parameters of the robot; parameters of the load, like payload.m.
    estimate
        Of the robot's, then of the load's.
    known
        Parameters of the load that were given, SI.
    undetermined
        Parameters of the load that these motions do not tell from others of it: taken as zero,
        and what they do is in the others.
    drives, gains, gain_deviations
        What drives are called, and factors of their torques as they were stated; 1 and 0 where
        they were not looked for.
    empty, loaded
        The model on both records, torques with the gains that were found.
    notes
        What is doubtful.
    """

    body: str
    robot: tuple[str, ...]
    names: tuple[str, ...]
    estimate: Estimate
    known: Mapping[str, float]
    undetermined: tuple[str, ...]
    drives: tuple[str, ...]
    gains: Array
    gain_deviations: Array
    empty: Validation
    loaded: Validation
    notes: tuple[Note, ...] = ()

    @property
    def values(self) -> dict[str, float]:
        """The load's parameters by name, SI: estimated, and as given."""
        found = self.estimate.values[len(self.robot) :]
        return {**dict(zip(self.names, map(float, found), strict=True)), **self.known}

    def centre(self) -> tuple[Array, Array] | None:
        """Centre of mass in the body's frame (axis,) and its deviations, m; None without."""
        values, mass = self.values, self.values.get(LOAD + "m", 0.0)
        firsts = [LOAD + name for name in ("mx", "my", "mz") if LOAD + name in values]
        if not mass or LOAD + "m" in self.undetermined or not firsts:
            return None
        centre = np.array([values[name] for name in firsts]) / mass
        places = [len(self.robot) + k for k in range(len(self.names))]
        covariance = self.estimate.covariance[np.ix_(places, places)]
        slope = np.zeros((len(firsts), len(self.names)))
        for k, name in enumerate(self.names):
            if name in firsts:
                slope[firsts.index(name), k] = 1 / mass
            elif name == LOAD + "m":
                slope[:, k] = -centre / mass
        return centre, np.sqrt(np.diag(slope @ covariance @ slope.T))


def identify_payload(
    found: Identification,
    loaded: Measurement,
    body: str | None = None,
    known: Mapping[str, float] | None = None,
    find_gains: bool = False,
) -> Payload:
    """The load's parameters, the robot's and gains from two records.

    Parameters
    ----------
    found
        The robot without a load: its record, columns, method, low-pass, known and essential
        parameters and delay are used.
    loaded
        A record with the load.
    body
        That carries it; None: the one at the end of the chain.
    known
        Parameters of the load that are known, like payload.m, SI, about the origin of the body's
        frame.
    find_gains
        Whether each drive's torques have an unknown factor.

    Raises
    ------
    MotionError
        A motion that the mechanism cannot follow.
    UsageError
        No such body or parameters; motions that tell nothing of the load, or of gains.
    """
    mechanism, given = found.model.mechanism, dict(known or {})
    carrier = _carrier(found.model, body)
    titles = _titles(mechanism.parameter_names, carrier)
    _check(titles, given, find_gains)
    cutoff = max(found.prepared.cutoffs, default=None)
    place = mechanism.parameter_names.index(f"{carrier}.m")
    ten = slice(place, place + len(titles))
    second = prepare_record(
        found.model, loaded, cutoff if loaded.rates is None else None, found.method == "iv"
    )
    parts = [_part(found, found.prepared, ten, 0.0), _part(found, second, ten, 1.0)]
    laws = [*laws_of(found.base, found.columns), *[None] * len(titles)]
    delayed = "delay" in found.searched
    start = np.ones(len(parts[0].ready.tau)) if find_gains else None
    searches = Searches(found.delay, start, free_delay=delayed, free_gains=find_gains)
    regression = Regression(parts, laws, found.training.lowpass, searches)
    rank, names = found.base.rank, list(found.base.base_names)
    values = np.concatenate([found.base_values, [given.get(name, 0.0) for name in titles]])
    wanted = _independent(regression, rank, [k for k, n in enumerate(titles) if n not in given])
    robot = [names.index(name) for name in found.names]
    free = [*robot, *(rank + k for k in wanted)]
    guess = values if find_gains or regression.by_load else None
    last = fit(regression, values, free, found.method, guess)
    last = fit(
        last.regression,
        values,
        free,
        found.method,
        last.values,
        final=True,
        blocks=found.estimate.blocks > 0,
        shapes=slopes(last.regression, last.values),
    )
    gains, spread = _gains(last, len(free), delayed)
    drives = drive_names(mechanism, found.prepared.motor_to_joint)
    _check_clear(last, find_gains)
    true = _with_gains(last, gains)
    estimate = replace(last.estimate.some(len(free)), sigma=last.estimate.sigma * gains)
    sources = (found.training.source, loaded.source)
    empty, full = (predict(sources[k], true, last.values, estimate, k) for k in (0, 1))
    payload = Payload(
        carrier,
        tuple(found.names),
        tuple(titles[k] for k in wanted),
        estimate,
        given,
        tuple(n for k, n in enumerate(titles) if k not in wanted and n not in given),
        drives,
        gains,
        spread,
        empty,
        full,
    )
    return replace(payload, notes=_notes(payload, titles, mechanism.planar))


def _carrier(model: Model, body: str | None) -> str:
    """The body that is stated, or the one that a single joint connects."""
    names = [one.name for one in model.mechanism.bodies]
    if body is None:
        joints = [name for joint in model.mechanism.joints for name in joint.bodies]
        ends = [name for name in names if joints.count(name) == 1]
        if len(ends) != 1:
            raise UsageError(
                f"{', '.join(ends) or 'No body'} could carry the load; name one of "
                f"{', '.join(names)} with `body=`.",
                ["body="],
            )
        return ends[0]
    if body not in names:
        raise UsageError(
            f"`body=`: {body!r} is no body. They are {', '.join(names)}.", ["body=", body]
        )
    return body


def _titles(parameters: Sequence[str], body: str) -> list[str]:
    pairs = [name.rpartition(".") for name in parameters]
    return [LOAD + last for first, _, last in pairs if first == body]


def _check(titles: Sequence[str], given: Mapping[str, float], find_gains: bool) -> None:
    if unknown := [name for name in given if name not in titles]:
        raise UsageError(
            f"{', '.join(unknown)}: no such parameter of a load. They are {', '.join(titles)}.",
            unknown,
        )
    if find_gains and not any(given.values()):
        raise UsageError(
            "Nothing fixes the scale of the gains: state what is known of the load, such as its "
            "mass (`known=` payload.m).",
            ["known="],
        )


def _part(found: Identification, ready: Prepared, ten: slice, share: float) -> Part:
    """A record's columns: of base parameters, then of the load."""

    def joined(seen: Observation) -> Array:
        W = seen.W[0]
        return np.concatenate([W[..., list(found.base.kept)], share * W[..., ten]], axis=-1)

    motions = (ready.motion, *ready.halves)
    whole, *halves = (joined(observe_motion(found.model, one, found.columns)) for one in motions)
    return Part(ready, whole, tuple(halves))


def _independent(regression: Regression, rank: int, wanted: Sequence[int]) -> list[int]:
    """Parameters of the load whose columns do not depend on those before them."""
    rows = regression.rows([part.W[..., rank:] for part in regression.parts])
    norms, basis, kept = np.sqrt((rows**2).sum(axis=0)), np.empty((len(rows), 0)), []
    for k in wanted:
        if norms[k] <= DEPENDENT * norms.max(initial=0.0):
            continue
        column = rows[:, k] / norms[k]
        for _ in range(2):  # once more against rounding
            column = column - basis @ (basis.T @ column)
        size = np.linalg.norm(column)
        if size > DEPENDENT:
            basis = np.column_stack([basis, column / size])
            kept.append(k)
    return kept


def _gains(last: Fitted, free: int, delayed: bool) -> tuple[Array, Array]:
    """Factors of the drives' torques, and their deviations."""
    gains = last.regression.searches.gains
    if gains is None:
        return np.ones(last.regression.drives), np.zeros(last.regression.drives)
    first = free + delayed
    return gains, gains * last.estimate.deviations[first : first + gains.size]


def _check_clear(last: Fitted, find_gains: bool) -> None:
    """Reject gains, or parameters, that the records do not determine.

    Raises
    ------
    UsageError
    """
    if last.estimate.condition < 1 / DEPENDENT:
        return
    what = "each drive's gain" if find_gains else "the robot and the load"
    raise UsageError(
        f"These motions with this load do not determine {what} (condition "
        f"{last.estimate.condition:.1e} with unit columns, allowed {1 / DEPENDENT:.1e}). Move "
        "every joint against the load, or state more of it with `known=`.",
        ["known="],
    )


def _with_gains(last: Fitted, gains: Array) -> Regression:
    """The regression with torques as the gains make them."""
    parts = []
    for part in last.regression.parts:
        M = part.ready.motor_to_joint
        if M is None:
            tau = gains[:, None] * part.ready.tau
        else:
            tau = np.linalg.solve(M.T, gains[:, None] * on_drives(part.ready, part.ready.tau))
        parts.append(replace(part, ready=replace(part.ready, tau=tau)))
    of = replace(last.regression.searches, gains=None, free_gains=False)
    return last.regression.like(parts, last.regression.laws, of)


def _notes(found: Payload, titles: Sequence[str], planar: bool) -> tuple[Note, ...]:
    notes = []
    if found.undetermined:
        said = ", ".join(found.undetermined)
        text = f"not told apart from others of the load, taken as zero: {said}"
        return (Note("load", text),)
    phi = np.array([found.values[name] for name in titles])
    least = float(np.linalg.eigvalsh(np.array(pseudo_inertia(phi, planar), float))[0])
    if least < 0:
        text = "no body of positive mass has just these parameters; within deviations one may"
        notes.append(Note("load", text))
    return tuple(notes)
