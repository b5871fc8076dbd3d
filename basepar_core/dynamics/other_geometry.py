"""A mechanism at other values of its symbols, on the branch that its file's assembly picks."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number, names, parse_unit
from basepar_core.mechanism import Mechanism, joint_type, meant_unit

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
        raise _off_branch(it, values, there.outcome[0] == Outcome.SINGULAR)
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


def _off_branch(it: Mechanism, values: Mapping[str, Array], singular: bool) -> AssemblyError:
    changed, meant = [], []
    for symbol in (*it.geometry, *it.constants):
        if symbol.name in values:
            here = float(values[symbol.name][0])
            number = f"{here / parse_unit(symbol.unit or '1').size:.6g}"
            changed.append(f"{symbol.name} = {number} {symbol.unit}".rstrip())
            if (unit := meant_unit(symbol, here, here)) is not None:
                meant.append(f"{symbol.name}={number}{unit.text}")
    remedy = (
        "Choose values nearer to the file's, or write a file with these values and the assembly "
        "that is meant."
    )
    if meant:
        remedy = f"Write {', '.join(meant)} if that is meant, which is within the file's bounds."
    why = "become singular" if singular else "do not stay closed"
    return AssemblyError(
        f"{it.name!r} has no assembly at {', '.join(changed)} on the branch of its file: its "
        f"loops {why} on the way there. {remedy}",
        list(values),
    )


def _in_constraints(mechanism: Mechanism) -> set[str]:
    """Symbols, and the constants that frames of joints, constraints and relations depend on."""
    stated = [relation.polynomial for relation in mechanism.relations]
    stated += chain(*mechanism.frame_vectors, *mechanism.constraint_constants)
    used = {name for entry in stated for name in names(entry)}
    return used | {symbol.name for symbol in mechanism.geometry}
