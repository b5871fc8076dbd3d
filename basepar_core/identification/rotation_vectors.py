"""Rotation vectors of records: continued past π, and what goes with them."""

from collections.abc import Mapping

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import rotate, spatial
from basepar_core.mechanism import Mechanism, joint_type
from basepar_core.texts import plural

from .notes import Note


def continued(
    mechanism: Mechanism, table: Mapping[str, Array], notes: list[Note]
) -> Mapping[str, Array]:
    """Columns with the jumps of rotation vectors by a turn about their axis joined.

    Rates, accelerations and efforts of a spherical joint are those of its vector, and are turned
    into those of the other one. A free joint's are its twist and wrench: the same for both.
    """
    found = dict(table)
    for joint in mechanism.joints:
        kind = joint_type(joint.type)
        names = [v for k, v in enumerate(joint.values) if k not in kind.lengths]
        if not kind.is_ball or not found.keys() >= set(names):
            continue
        before = np.stack([found[name] for name in names])
        known = np.flatnonzero(np.isfinite(before).all(axis=0))
        after = before.copy()
        after[:, known] = spatial.unwrapped(before[:, known])
        off = np.abs(after[:, known] - before[:, known]).max(axis=0) > 1.0
        jumps = int((np.abs(np.diff((after - before)[:, known])).max(axis=0) > 1.0).sum())
        if not jumps:
            continue
        text = f"the rotation vector of {joint.name} jumps by a turn in "
        notes.append(Note("wrapped", f"{text}{plural(jumps, 'place')}: joined"))
        found |= dict(zip(names, after, strict=True))
        if not kind.is_free:
            _carry(found, names, before, after, known[off])
    return found


def _carry(
    table: dict[str, Array], names: list[str], before: Array, after: Array, places: Array
) -> None:
    """Rates, accelerations and efforts at samples whose vector is another one now.

    With ω = J(r) ṙ, and the moment m of which the efforts are Jᵀ m.
    """
    r, s = before[:, places], after[:, places]
    J, K = spatial.rate_map(r), spatial.rate_map(s)
    keys = [[form.format(name) for name in names] for form in ("{}'", "{}''", "tau.{}")]
    rates, bends, efforts = (
        np.stack([table[key] for key in row])[:, places] if table.keys() >= set(row) else None
        for row in keys
    )
    changed: list[Array | None] = [None, None, None]
    if rates is not None:
        changed[0] = ds = rotate(_inverse(K), rotate(J, rates))
        if bends is not None:
            turned = rotate(J, bends) + rotate(spatial.rate_map_derivative(r, rates), rates)
            turned = turned - rotate(spatial.rate_map_derivative(s, ds), ds)
            changed[1] = rotate(_inverse(K), turned)
    if efforts is not None:
        moment = rotate(_inverse(J).swapaxes(0, 1), efforts)
        changed[2] = rotate(K.swapaxes(0, 1), moment)
    for row, values in zip(keys, changed, strict=True):
        for name, value in zip(row, values if values is not None else (), strict=False):
            table[name] = table[name].copy()
            table[name][places] = value


def _inverse(maps: Array) -> Array:
    """Of (3, 3, sample); at whole turns, where rates are undefined, the nearest there is."""
    return np.moveaxis(np.linalg.pinv(np.moveaxis(maps, 2, 0)), 0, 2)
