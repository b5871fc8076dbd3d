"""Force-law columns by words, declared where a mechanism's file has none of them.

A file from a CAD program or a vendor has no friction. `viscous` then is a column for each of its
coordinates; `A.viscous` is one; `motor.viscous` is of the motors, which turn several coordinates
where a log's `motor to joint` couples them. `stribeck@0.1` has its speed with it, `power@0.5` its
exponent; without one an identification searches for it. `A.polynomial@7` are seven columns, of
degree 1 to 7, over the positions that A has in the record.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import LAWS, STARTS, Column, DriveLaw, columns, law_columns, select
from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism

#: Words that stand for several laws.
GROUPS = {
    "asymmetric": ("positive", "negative", "positive_viscous", "negative_viscous"),
    "counterweight": ("sine", "cosine"),
}
#: What a motor is called beside the coordinate it stands for.
MOTOR = "motor"
#: Weights below this share of a motor's largest are rounding of an inverse.
ROUNDING = 1e-9
#: Highest degree of a polynomial: beyond it positions of a record do not tell them apart.
DEGREES = 12


def declared(
    mechanism: Mechanism,
    words: Sequence[str],
    motor_to_joint: Array | None = None,
    q: Array | None = None,
) -> tuple[Column, ...]:
    """Columns by section, kind or name: the file's, or declared here.

    Parameters
    ----------
    mechanism
        The mechanism.
    words
        As above.
    motor_to_joint
        (coordinate, motor), q = M x; None: each coordinate has its own motor.
    q
        (coordinate, sample): the record's positions, for polynomials; nan where not measured.

    Raises
    ------
    UsageError
        Words that mean no column.
    """
    own = {word for one in columns(mechanism) for word in (one.name, one.kind)}
    names, laws = mechanism.coordinates, list[DriveLaw]()
    file = [word for word in words if word in own]
    for word in (word for word in words if word not in own):
        drive, _, law = word.rpartition(".") if "@" not in word else _parted(word)
        kind = law.partition("@")[0]
        known = kind in LAWS or kind in GROUPS
        if not known or not (drive in ("", MOTOR) or drive in names):
            file.append(word)  # a section, or a mistake, which is named there
            continue
        drives = _motors(mechanism, motor_to_joint) if drive == MOTOR else _joints(names)
        chosen = {drive: drives[drive]} if drive in names else drives
        laws += [one for name, x in chosen.items() for one in _laws(word, law, name, x, q)]
    chosen_of_file = select(mechanism, file) if file else ()
    return (*chosen_of_file, *law_columns(mechanism, _once(laws)))


def _parted(word: str) -> tuple[str, str, str]:
    """Drive and law, where the number behind @ has a point too."""
    front, at, number = word.partition("@")
    drive, point, kind = front.rpartition(".")
    return drive, point, kind + at + number


_Drive = tuple[tuple[float, ...], tuple[float, ...] | None]


def _joints(names: Sequence[str]) -> dict[str, _Drive]:
    return {
        name: (tuple(map(float, row)), None)
        for name, row in zip(names, np.eye(len(names)), strict=True)
    }


def _motors(mechanism: Mechanism, M: Array | None) -> dict[str, _Drive]:
    """Motors, what they turn by, 1 for the coordinate they stand for, and what loads them.

    A motor that turns that one alone is its joint's drive.
    """
    names = mechanism.coordinates
    M = np.eye(len(names)) if M is None else M
    found = {}
    for k, row in enumerate(np.linalg.inv(M)):
        size = row[k] if abs(row[k]) > ROUNDING * np.abs(row).max() else np.abs(row).max()
        weights = np.where(np.abs(row / size) > ROUNDING, row / size, 0.0)
        alone = np.count_nonzero(weights) == 1 and weights[k] != 0
        name = names[k] if alone else f"{names[k]}_{MOTOR}"
        across = None if alone else tuple(map(float, M[:, k] * size))
        found[name] = (tuple(map(float, weights)), across)
    return found


def _laws(word: str, law: str, name: str, drive: _Drive, q: Array | None) -> list[DriveLaw]:
    """Laws of one drive that a word declares."""
    kind, at, text = law.partition("@")
    weights, across = drive
    what = LAWS[kind].shape if kind in LAWS else ""
    if at and not what:
        raise UsageError(f"{word!r}: {kind} has no number behind @.", [word])
    number = _number(word, text, what) if at else None
    if kind == "polynomial":
        if number is None or number != int(number) or not 1 <= number <= DEGREES:
            raise UsageError(
                f"{word!r}: write the degree, 1 to {DEGREES}, as polynomial@3.", [word]
            )
        x = np.asarray(weights) @ (np.zeros((len(weights), 2)) if q is None else q)
        low, high = float(np.nanmin(x)), float(np.nanmax(x))
        band = ((low + high) / 2, (high - low) / 2 or 1.0)
        degrees = range(1, int(number) + 1)
        return [DriveLaw(name, kind, weights, float(n), band) for n in degrees]
    if what and number is None:
        return [DriveLaw(name, kind, weights, STARTS[what], across=across, searched=True)]
    kinds = GROUPS.get(kind, (kind,))
    return [DriveLaw(name, one, weights, number, across=across) for one in kinds]


def _once(laws: Sequence[DriveLaw]) -> list[DriveLaw]:
    """Laws without those that are there already: of a motor that is its joint's drive."""
    seen: dict[str, DriveLaw] = {}
    for law in laws:
        name = law.name
        if name in seen and seen[name].shape != law.shape:  # two Stribeck speeds of one drive
            name = f"{law.drive}_at_{law.shape:g}.{law.kind}"
            law = replace(law, drive=f"{law.drive}_at_{law.shape:g}")
        seen.setdefault(name, law)
    return list(seen.values())


def _number(word: str, text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        example = {"speed": "stribeck@0.1, rad/s or m/s", "exponent": "power@0.5"}
        raise UsageError(
            f"{word!r}: {text!r} is no {what}; write {example.get(what, 'polynomial@3')}.", [word]
        ) from None
