"""W along a record, where its columns are what their titles say; otherwise what they look like."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import LAWS, Column, DriveLaw, Model, Observation
from basepar_core.errors import MotionError, UsageError
from basepar_core.mechanism import Mechanism

from .exchanges import Exchange, find_exchange
from .measurement import Measurement
from .motion_regressor import observe_motion
from .notes import Note
from .offsets import Offset, find_offset
from .result import Prepared
from .units_check import check_reach, check_units

#: Samples of W along which columns are counted.
COUNTED = 1000


def observe_record(
    model: Model, record: Measurement, ready: Prepared, columns: tuple[Column, ...]
) -> tuple[Observation, tuple[Note, ...]]:
    """W of a record, and a note where its columns look exchanged, or count from another zero.

    One that fits in other units or with other signs only is rejected.

    Raises
    ------
    MotionError
        A motion that the mechanism cannot follow.
    UsageError
        As `check_units`; columns look exchanged, and as they stand they cannot be followed.
    """
    measured = np.where(ready.usable, ready.tau, np.nan)
    check_reach(model, ready.motion, measured, columns)
    # Torques of joints that motors turn together, or with wrenches in them, are no columns.
    plain = ready.motor_to_joint is None and not record.wrenches
    judged = (model, ready.motion, measured)
    try:
        seen = observe_motion(model, ready.motion, columns)
    except MotionError:
        found = find_exchange(*judged, None, columns) if plain else None
        shift = find_offset(*judged, None, columns) if plain and not found else None
        check_units(*judged, None, columns, _overall(found, shift))
        note = _noted(found, shift, model.mechanism, record.titles)
        if note is not None:
            raise UsageError(f"{note.kind.capitalize()}: {note.text}", ["columns"]) from None
        raise
    found = find_exchange(*judged, seen.W[0], columns) if plain else None
    shift = find_offset(*judged, seen.W[0], columns) if plain and not found else None
    check_units(*judged, seen.W[0], columns, _overall(found, shift))
    note = _noted(found, shift, model.mechanism, record.titles)
    return seen, () if note is None else (note,)


def _overall(found: Exchange | None, shift: Offset | None) -> float:
    """Correlation that another order of columns, or another zero, leads to."""
    return found.overall if found else shift.found if shift else -1.0


def _noted(
    found: Exchange | None, shift: Offset | None, mechanism: Mechanism, titles: Mapping[str, str]
) -> Note | None:
    if found is not None:
        return remark(found, mechanism, titles)
    return None if shift is None else _of_zero(shift, mechanism)


def _of_zero(found: Offset, mechanism: Mechanism) -> Note:
    """Which constants a record's positions lack."""
    added = []
    for name, x in zip(mechanism.coordinates, found.added, strict=True):
        if x:
            shown = (
                f"{x * 1e3:.4g} mm"
                if mechanism.value(name).is_length
                else f"{np.degrees(x):.4g} deg"
            )
            added.append(f"{shown} to {name}")
    worse = "the motion cannot be followed" if found.as_is is None else f"{found.as_is:.3f}"
    counts = "count from the assembly" if found.assembly else "count from another zero"
    return Note(
        "offset",
        f"positions look as if they {counts}: with {', '.join(added)} added, the file's "
        f"inertias give the measured torque (correlation {found.found:.3f}; as it stands "
        f"{worse}). Add it to the column, or as `offset` in a `mapping=FILE`; or are centres "
        f"of mass in the file off by as much?",
    )


def counting(seen: Observation, columns: Sequence[Column], tau: Array) -> Observation:
    """Every so many samples of W: enough to tell which columns depend on others.

    Columns by load, of the last ones `columns`, are as large as the measured torque makes them.
    """
    W, first = seen.W.copy(), seen.W.shape[-1] - len(columns)
    for k, one in enumerate(columns):
        if isinstance(one.source, DriveLaw) and LAWS[one.kind].by_load:
            W[0, ..., first + k] *= np.abs(one.source.load(np.nan_to_num(tau)))[:, None]
    every = max(1, W.shape[1] // COUNTED)
    return replace(seen, W=W[:, ::every], terms=seen.terms / np.sqrt(every))


def remark(found: Exchange, mechanism: Mechanism, titles: Mapping[str, str]) -> Note:
    """What another order of columns explains, and how to give it.

    Parameters
    ----------
    found
        The order.
    mechanism
        Whose coordinates they are.
    titles
        What columns are titled in the file, as `Measurement` has them.
    """
    names = mechanism.coordinates
    if found.turned is not None:
        name = f"tau.{names[found.turned]}"
        text = (
            f"with the sign of {name} turned round {_figures(found)}: negate that column, or all "
            f"other torques, whichever gives positive inertias"
        )
        return Note("sign", text)
    held = {
        f"{kind}{names[k]}{rate}": f"{kind}{names[order[k]]}{rate}"
        for kind, order in (("", found.positions), ("tau.", found.torques))
        for k in range(len(names))
        for rate in (("", "'", "''") if not kind else ("",))
        if order[k] != k
    }
    plain = [name for name in held if not name.endswith("'")]
    wanted = {name: titles.get(held.get(name, name), titles[name]) for name in titles}
    given = ",".join(f"{name}={title}" for name, title in wanted.items() if name != title)
    how = (
        f"exchange their titles, or give `columns={given}`"
        if titles
        else "exchange them where columns are assigned (of a log in its `mapping=FILE`)"
    )
    return Note("exchanged", f"with {_pairs(plain)} {_figures(found)}: {how}")


def _pairs(names: Sequence[str]) -> str:
    """a and b exchanged; of two kinds of columns, or of more than two, all of them."""
    if len(names) == 2:
        return f"{names[0]} and {names[1]} exchanged"
    torques = [name for name in names if name.startswith("tau.")]
    others = [name for name in names if name not in torques]
    if len(others) == 2 and len(torques) == 2:
        return f"{others[0]} and {others[1]}, and {torques[0]} and {torques[1]} exchanged"
    return f"{', '.join(names[:-1])} and {names[-1]} in another order"


def _figures(found: Exchange) -> str:
    """How well the order explains the torque, and how badly the record's own does."""
    worse = "as it stands the motion cannot be followed"
    if found.by_file:
        if found.as_is is not None:
            worse = f"{found.as_is:.2f} as it stands"
        how = f"correlation {found.found:.3f}; {worse}"
        return f"the file's inertias give the measured torque ({how})"
    if found.as_is is not None:
        worse = f"{found.as_is:.0%} as it stands"
    return f"least squares leave {found.found:.1%} of the torque unexplained ({worse})"
