"""A mechanism at other values of its symbols, on the branch that its file's assembly picks."""

from dataclasses import replace
from fractions import Fraction
from itertools import chain

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number, names
from basepar_core.mechanism import Mechanism, joint_type

from .closure import Model, Outcome, prepare, trace
from .joint_tracks import tracks


def at_geometry(model: Model, other: Mechanism) -> Model:
    """The mechanism with other values, assembled where the way from the file's geometry leads.

    Parameters
    ----------
    model
        The file's mechanism, prepared.
    other
        The same with other values of symbols and constants.

    Raises
    ------
    AssemblyError
        The loops do not stay closed, or become singular, on the way in straight lines.
    """
    it = model.mechanism
    values = {
        name: np.array([other.nominal[name]])
        for name in _in_constraints(it)
        if other.nominal[name] != it.nominal[name]
    }
    if not values:
        return prepare(other)
    if other.assembly != it.assembly:  # constants stand in it
        model = prepare(replace(it, assembly=other.assembly))
    there = trace(model, values, model.assembled.coordinates[:, None])
    if there.outcome[0] != Outcome.CLOSED:
        changed = ", ".join(f"{name} = {value[0]:.6g}" for name, value in values.items())
        why = "become singular" if there.outcome[0] == Outcome.SINGULAR else "do not stay closed"
        raise AssemblyError(
            f"{it.name!r} has no assembly at {changed} (SI) on the branch of its file: its loops "
            f"{why} on the way there. Choose values nearer to the file's, or write a file with "
            "these values and the assembly that is meant.",
            list(values),
        )
    stated = [
        name
        for joint in it.joints
        if not (joint_type(joint.type).is_ball or joint.holds)
        for name in joint.values
    ]
    found = dict(other.assembly.values)
    for name, track in tracks(model, values, there.q, stated):
        found[name] = Number(Fraction(float(track[0, 0])))
    assembly = replace(other.assembly, values=tuple(found.items()))
    return prepare(replace(other, assembly=assembly))


def _in_constraints(mechanism: Mechanism) -> set[str]:
    """Symbols, and the constants that frames of joints, constraints and relations depend on."""
    stated = [relation.polynomial for relation in mechanism.relations]
    stated += chain(*mechanism.frame_vectors, *mechanism.constraint_constants)
    used = {name for entry in stated for name in names(entry)}
    return used | {symbol.name for symbol in mechanism.geometry}
