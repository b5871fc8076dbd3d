"""Motions of a mechanism's coordinates: those of its file, and recorded ones."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from basepar_core.arrays import Array
from basepar_core.errors import BaseparWarning, UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.identification import MOTIONS, motion_of, read_measurement, recorded_motion
from basepar_core.texts import plural

from .analyses import Record, Source, loaded

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Motion:
    """Coordinates and their derivatives over time; made by `motion`.

    Attributes
    ----------
    coordinates
        Names, in the order of the last axis.
    t
        (sample,), s.
    q, qd, qdd
        (sample, coordinate), rad or m and per s and s², as `Model.torque` takes them: of a free
        joint its twist and the twist's rate.

    Examples
    --------
    >>> import basepar
    >>> basepar.motion("four-bar", "cycle")
    <basepar.Motion of A: 128 samples in 0.9927 s>
    """

    coordinates: tuple[str, ...]
    t: Array
    q: Array
    qd: Array
    qdd: Array

    def to_dataframe(self) -> "pd.DataFrame":
        """Columns `t` and, per coordinate A, `A`, `A'` and `A''`, SI.

        With `.to_csv(FILE, index=False)` a file for `excitation: {kind: data, file: FILE}`.

        Examples
        --------
        >>> import basepar
        >>> basepar.motion("four-bar", "cycle").to_dataframe().columns.tolist()
        ['t', 'A', "A'", "A''"]
        """
        import pandas as pd

        columns = {"t": self.t}
        for k, name in enumerate(self.coordinates):
            columns |= {name: self.q[:, k], f"{name}'": self.qd[:, k], f"{name}''": self.qdd[:, k]}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        names = ", ".join(self.coordinates[:8]) + ", …" * (len(self.coordinates) > 8)
        seconds = f"{self.t[-1] - self.t[0]:.4g}" if len(self.t) else "0"
        return f"<basepar.Motion of {names}: {plural(len(self.t), 'sample')} in {seconds} s>"


def motion(
    model: Source,
    source: Record = "excitation",
    *,
    samples: int | None = None,
    cutoff: float | None = None,
    titles: Mapping[str, str] | None = None,
) -> Motion:
    """A motion of the file, or one that was recorded.

    Parameters
    ----------
    model
        A mechanism, or what `load` takes.
    source
        "excitation" or "cycle" of the file; a CSV file or a DataFrame with `t` and, per coordinate
        A, its position `A` (units in brackets, `A [deg]`, else SI). Where `A'` and `A''` of all
        coordinates are there they are taken as they are, else those of a smoothing spline.
    samples
        Of a motion of the file that states formulas, in the place of the file's number.
    cutoff
        Of smoothing, Hz; None: as the data suggest, and none where rates are given.
    titles
        Titles of the columns by what they are: {"A": "q_meas"}.

    Returns
    -------
    Motion
        With `t`, `q`, `qd` and `qdd`; nan where a record has none.

    Raises
    ------
    MissingDataError
        The file states no such motion.
    FileError
        All mistakes of the record.
    UsageError
        The excitation consists of random states; a cut-off that the sampling cannot carry; an
        argument that does not go with the source.

    Warns
    -----
    BaseparWarning
        What was made of a record: spikes left out, wraps joined, gaps.

    Examples
    --------
    Torque over the work cycle.

    >>> import basepar
    >>> model = basepar.load("four-bar")
    >>> cycle = basepar.motion(model, "cycle")
    >>> model.torque(cycle.q, cycle.qd, cycle.qdd).shape
    (128, 1)
    """
    it, stated = loaded(model), isinstance(source, str) and source in MOTIONS
    given = {"cutoff": cutoff, "titles": titles} if stated else {"samples": samples}
    if wrong := [f"{name}=" for name, value in given.items() if value is not None]:
        of = "a motion of the file" if stated else "a record"
        raise UsageError(f"{', '.join(wrong)} does not go with {of}.", wrong)
    if stated:
        found = motion_of(it.prepared, str(source), samples)
    else:
        _check_word(source)
        record = read_measurement(source, it.mechanism, titles, torques=False)
        for note in record.notes:
            warnings.warn(f"{record.source}: {note.text}.", BaseparWarning, stacklevel=2)
        found, _ = recorded_motion(it.mechanism, record, cutoff)
    return Motion(it.coordinates, found.t, found.q.T, found.q_dot.T, found.q_ddot.T)


def _check_word(source: Record) -> None:
    """A word that is no file is most likely a motion's name misspelt.

    Raises
    ------
    UsageError
    """
    if not isinstance(source, str) or Path(source).suffix or Path(source).exists():
        return
    hint = did_you_mean(source, MOTIONS) or f"; give {' or '.join(map(repr, MOTIONS))}, or a file"
    raise UsageError(f"There is no motion {source!r}, and no file of that name{hint}", ["source"])
