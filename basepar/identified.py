"""What `identify` returns: parameters with deviations, how well they predict, pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from basepar_core.texts import plural

if TYPE_CHECKING:
    import pandas as pd

    from basepar_core.identification import Identification as Identified
    from basepar_core.identification import Payload as Carried
    from workflows.jobs import LogRead


@dataclass(frozen=True, repr=False)
class Identification:
    """Identified base parameters; made by `identify`.

    Attributes
    ----------
    found
        Estimate, covariance, residuals, diagnostics, validation.
    log
        The raw log that it comes from; None: a record with titles.

    Examples
    --------
    >>> import basepar, numpy as np
    >>> model, t = basepar.load("parallelogram"), np.linspace(0, 5, 1001)
    >>> q, qd, qdd = 0.3 * np.sin([2 * t, 2 * t + np.pi / 2, 2 * t + np.pi]) * [[1], [2], [4]]
    >>> q = q + model.assembly
    >>> tau = model.torque(q[:, None], qd[:, None], qdd[:, None])[:, 0]
    >>> basepar.identify(model, {"t": t, "A": q, "A'": qd, "A''": qdd, "tau.A": tau}).values.keys()
    dict_keys(['rocker.mx', 'rocker.my', 'rocker.J'])
    """

    found: "Identified"
    log: "LogRead | None" = None

    @property
    def values(self) -> dict[str, float]:
        """Identified base parameters by name, SI."""
        return dict(zip(self.found.names, map(float, self.found.estimate.values), strict=True))

    @property
    def deviations(self) -> dict[str, float]:
        """Their standard deviations, SI."""
        return dict(zip(self.found.names, map(float, self.found.estimate.deviations), strict=True))

    @property
    def relative_error(self) -> float:
        """‖τ − W φ‖/‖τ‖ on the record, weighted by the noise."""
        return float(self.found.training.relative_error)

    @property
    def torque_error(self) -> float:
        """The same, unweighted, over all coordinates and samples."""
        return self.found.training.error

    @property
    def torque_errors(self) -> dict[str, float]:
        """The same of each coordinate."""
        names = self.found.model.mechanism.coordinates
        return dict(zip(names, map(float, self.found.training.errors), strict=True))

    @property
    def mapping(self) -> str | None:
        """What a raw log's columns were taken for, as a mapping file; None of other records."""
        from basepar_core.identification.logs import written

        return None if self.log is None else written(self.log.mapping)

    @property
    def validation_error(self) -> float | None:
        """The same on the second record; None without one."""
        second = self.found.validation
        return None if second is None else float(second.relative_error)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of the record, and what is doubtful."""
        return tuple(note.text for note in self.found.notes)

    def payload(
        self,
        loaded: str | Path | Mapping[str, Any],
        *,
        body: str | None = None,
        known: Mapping[str, float] | None = None,
        find_gains: bool = False,
        titles: Mapping[str, str] | None = None,
        rows: tuple[int, int] | None = None,
    ) -> "Payload":
        """The parameters of a load, from this record and one with the load.

        Parameters
        ----------
        loaded
            The record with the load, as `identify` takes records; a raw log has the columns of
            the first one.
        body
            That carries it; None: the one at the end of the chain.
        known
            Parameters of the load that are known, like payload.m, SI, about the origin of the
            body's frame.
        find_gains
            Whether each drive's torques have an unknown factor, such as the gain of a current:
            found from what is known of the load.
        titles
            Of the record's columns.
        rows
            First and last row of a raw log that count, from 1.

        Raises
        ------
        FileError
            All mistakes of the record.
        UsageError
            No such body or parameters; motions that tell nothing of the load, or of gains.

        Examples
        --------
        >>> import basepar, numpy as np
        >>> arm, t = basepar.load("scara"), np.linspace(0, 5, 501)
        >>> w = np.array([[2], [3], [4], [5]])
        >>> q, qd, qdd = 0.1 * np.sin(w * t), 0.1 * w * np.cos(w * t), -0.1 * w**2 * np.sin(w * t)
        >>> q = q + np.reshape(arm.assembly, (-1, 1))
        >>> tau = arm.torque(q.T, qd.T, qdd.T).T
        >>> names = arm.coordinates
        >>> rates = {n + mark: x for mark, of in (("", q), ("'", qd), ("''", qdd)) \
for n, x in zip(names, of)}
        >>> record = {"t": t, **rates, **{f"tau.{n}": x for n, x in zip(names, tau)}}
        >>> basepar.identify(arm, record).payload(record).values["payload.m"] < 1e-6
        True
        """
        from workflows.jobs import payload_of

        return Payload(
            payload_of(
                self.found,
                self.log,
                loaded,
                titles=titles,
                rows=rows,
                body=body,
                known=known,
                find_gains=find_gains,
            )
        )

    def to_dataframe(self) -> "pd.DataFrame":
        """A row per parameter: unit, value, deviation, 95 % interval, the file's value."""
        import pandas as pd

        rows = self.document()["parameters"]
        return pd.DataFrame(rows).set_index("parameter")

    def write(self, file: str | Path, overwrite: bool = False) -> Path:
        """Write a page (.html), or what a raw log's columns were taken for (.yaml).

        Parameters
        ----------
        file
            As `basepar identify -o FILE` writes it.
        overwrite
            Whether a file that basepar did not make may be replaced.

        Raises
        ------
        UsageError
            Another ending; the file exists; a mapping of a record that is no raw log.

        Examples
        --------
        >>> import basepar, numpy as np
        >>> model, t = basepar.load("parallelogram"), np.linspace(0, 5, 501)
        >>> q, qd, qdd = 0.3 * np.sin([2 * t, 2 * t + np.pi / 2, 2 * t + np.pi]) * [[1], [2], [4]]
        >>> q = q + model.assembly
        >>> tau = model.torque(q[:, None], qd[:, None], qdd[:, None])[:, 0]
        >>> found = basepar.identify(model, {"t": t, "A": q, "tau.A": tau})
        >>> found.write("found.html").name
        'found.html'
        """
        from workflows.jobs import check_outputs
        from workflows.report import identified

        path = Path(file)
        identified.check_ending(path)
        check_outputs([path], overwrite)
        return identified.write(self.found, self.document(), self.log, path)

    def document(self) -> dict[str, Any]:
        """Plain data, as `basepar identify --json` prints it."""
        from basepar_core.identification import standard_parameters
        from workflows.views import identification

        zero = standard_parameters(self.found, "zero")
        return identification.document(self.found, zero, self.log)

    def __repr__(self) -> str:
        it = self.found
        return (
            f"<basepar.Identification of {it.model.mechanism.name[:80]!r}, {it.method}: "
            f"{plural(len(it.names), 'parameter')}, relative error {self.relative_error:.3g}>"
        )

    def _repr_html_(self) -> str:
        from workflows.views import identification

        from .html import sentence, table

        return sentence(repr(self)) + table(*identification.columns(self.document()))


@dataclass(frozen=True, repr=False)
class Payload:
    """A load's parameters from two records; made by `Identification.payload`.

    Attributes
    ----------
    found
        Estimate of robot and load, gains, how well both records are predicted.

    Examples
    --------
    >>> import basepar
    >>> help(basepar.Identification.payload)  # doctest: +ELLIPSIS
    Help on function payload in module basepar.identified:
    ...
    """

    found: "Carried"

    @property
    def values(self) -> dict[str, float]:
        """The load's parameters by name, SI, about the origin of the body's frame."""
        return self.found.values

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviations of those that were estimated, SI."""
        spread = self.found.estimate.deviations[len(self.found.robot) :]
        return dict(zip(self.found.names, map(float, spread), strict=True))

    @property
    def centre(self) -> tuple[list[float], list[float]] | None:
        """Centre of mass in the body's frame, and its deviations, m; None where not determined."""
        found = self.found.centre()
        return None if found is None else (found[0].tolist(), found[1].tolist())

    @property
    def gains(self) -> dict[str, float]:
        """Factors of the torques as they were stated, by drive; 1 where not looked for."""
        return dict(zip(self.found.drives, map(float, self.found.gains), strict=True))

    @property
    def torque_error(self) -> float:
        """‖τ − W φ‖/‖τ‖ on the record with the load, over all coordinates and samples."""
        return self.found.loaded.error

    @property
    def notes(self) -> tuple[str, ...]:
        """What is doubtful."""
        return tuple(note.text for note in self.found.notes)

    def to_dataframe(self) -> "pd.DataFrame":
        """A row per parameter: unit, value, deviation, 95 % interval."""
        import pandas as pd

        return pd.DataFrame(self.document()["parameters"]).set_index("parameter")

    def document(self) -> dict[str, Any]:
        """Plain data, as `basepar identify --loaded --json` prints it under `payload`."""
        from workflows.views import payload

        return payload.document(self.found)

    def __repr__(self) -> str:
        it = self.found
        return (
            f"<basepar.Payload on {it.body[:80]!r}: {plural(len(it.names), 'parameter')}, torque "
            f"error {self.torque_error:.3g}>"
        )

    def _repr_html_(self) -> str:
        from workflows.views import payload

        from .html import sentence, table

        return sentence(repr(self)) + table(*payload.columns(self.document()))
