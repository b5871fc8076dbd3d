"""Force-law columns by words, declared where a mechanism's file has none of them.

A file from a CAD program or a vendor has no friction. `viscous` then is a column for each of its
coordinates; `A.viscous` is one; `motor.viscous` is of the motors, which turn several coordinates
where a log's `motor to joint` couples them; `stribeck@0.1` has its speed with it, rad/s or m/s.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, DriveLaw, columns, law_columns, select
from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism

#: Laws that a word declares: `dynamics.DriveLaw`.
KINDS = ("viscous", "coulomb", "positive", "negative", "stribeck", "rotor", "offset")
#: What a motor is called beside the coordinate it stands for.
MOTOR = "motor"
#: Weights below this share of a motor's largest are rounding of an inverse.
ROUNDING = 1e-9


def declared(
    mechanism: Mechanism, words: Sequence[str], motor_to_joint: Array | None = None
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

    Raises
    ------
    UsageError
        Words that mean no column.
    """
    own = {word for one in columns(mechanism) for word in (one.name, one.kind)}
    laws: list[DriveLaw] = []
    file = [word for word in words if word in own]
    for word in (word for word in words if word not in own):
        drive, _, law = word.rpartition(".")
        kind, at, speed = law.partition("@")
        names = mechanism.coordinates
        if kind not in KINDS or not (drive in ("", MOTOR) or drive in names):
            file.append(word)  # a section, or a mistake, which is named there
            continue
        drives = _motors(mechanism, motor_to_joint) if drive == MOTOR else _joints(names)
        chosen = {drive: drives[drive]} if drive in names else drives
        at_speed = _speed(word, speed) if at or kind == "stribeck" else None
        laws += [DriveLaw(n, kind, x, at_speed) for n, x in chosen.items()]
    chosen_of_file = select(mechanism, file) if file else ()
    return (*chosen_of_file, *law_columns(mechanism, _once(laws)))


def _joints(names: Sequence[str]) -> dict[str, tuple[float, ...]]:
    return {
        name: tuple(map(float, row)) for name, row in zip(names, np.eye(len(names)), strict=True)
    }


def _motors(mechanism: Mechanism, M: Array | None) -> dict[str, tuple[float, ...]]:
    """Motors and what they turn by, 1 for the coordinate they stand for.

    A motor that turns that one alone is its joint's drive.
    """
    names = mechanism.coordinates
    found = {}
    for k, row in enumerate(np.linalg.inv(np.eye(len(names)) if M is None else M)):
        weights = row / (
            row[k] if abs(row[k]) > ROUNDING * np.abs(row).max() else np.abs(row).max()
        )
        weights = np.where(np.abs(weights) > ROUNDING, weights, 0.0)
        alone = np.count_nonzero(weights) == 1 and weights[k] != 0
        found[names[k] if alone else f"{names[k]}_{MOTOR}"] = tuple(map(float, weights))
    return found


def _once(laws: Sequence[DriveLaw]) -> list[DriveLaw]:
    """Laws without those that are there already: of a motor that is its joint's drive."""
    seen: dict[str, DriveLaw] = {}
    for law in laws:
        name = law.name
        if name in seen and seen[name].speed != law.speed:  # two Stribeck speeds of one drive
            name = f"{law.drive}_at_{law.speed:g}.{law.kind}"
            law = replace(law, drive=f"{law.drive}_at_{law.speed:g}")
        seen.setdefault(name, law)
    return list(seen.values())


def _speed(word: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"{word!r} has {'the speed ' + repr(text) if text else 'no speed'}; write "
            f"{word.partition('@')[0]}@0.1, rad/s or m/s.",
            [word],
        ) from None
