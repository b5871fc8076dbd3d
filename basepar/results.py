"""What the questions of `analyses` return: values that answer, print short, and make tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError
from basepar_core.texts import plural

if TYPE_CHECKING:
    import pandas as pd

    from basepar_core.reduction import ReducedMechanism
    from workflows.jobs import Excited, OneDof


@dataclass(frozen=True, repr=False)
class Reduction:
    """Smaller models of a mechanism's torque; made by `reduce`.

    Attributes
    ----------
    found
        The path, its models and what they consist of.

    Examples
    --------
    >>> import basepar
    >>> basepar.reduce("four-bar", criteria="tolerance")
    <basepar.Reduction of 'four-bar', backward: from 8 parameters to 4 (tolerance)>
    """

    found: "ReducedMechanism"

    @property
    def sizes(self) -> dict[str, int]:
        """Parameters kept, by criterion."""
        it = self.found.selection
        return dict(zip(it.criteria, map(int, it.size[0]), strict=True))

    @property
    def torque_errors(self) -> dict[str, float]:
        """Relative torque error ‖τ − W φ‖/‖τ‖ of the selected models, by criterion."""
        it = self.found.selection
        return dict(zip(it.criteria, map(float, it.error[0]), strict=True))

    def parameters(self, criterion: str) -> tuple[str, ...]:
        """Base parameters, by φ₁'s names, of the model that a criterion selects.

        Raises
        ------
        UsageError
            A criterion that was not asked for.

        Examples
        --------
        >>> import basepar
        >>> basepar.reduce("four-bar").parameters("bic")
        ('coupler.m', 'coupler.J', 'rocker.m', 'rocker.J')
        """
        known = self.found.selection.criteria
        if criterion not in known:
            raise UsageError(
                f"{criterion!r} was not asked for; there are {', '.join(known)}.", ["criteria"]
            )
        place = known.index(criterion)
        return tuple(term.name for term in self.found.models[place])

    def to_dataframe(self) -> "pd.DataFrame":
        """The path as a table: a row per step, with its size, what was removed, and the criteria.

        Examples
        --------
        >>> import basepar
        >>> basepar.reduce("four-bar").to_dataframe().columns[:3].tolist()
        ['removed', 'size', 'torque_error']
        """
        import pandas as pd

        steps = self.document()["steps"]
        return pd.DataFrame([{**one, **one.pop("criteria")} for one in steps]).set_index("step")

    def document(self) -> dict[str, Any]:
        """Plain data, as `basepar reduce --json` prints it."""
        found: dict[str, Any] = self.found.document()
        return found

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size} ({name})" for name, size in self.sizes.items())
        return (
            f"<basepar.Reduction of {self.found.mechanism[:80]!r}, {self.found.method}: from "
            f"{plural(len(self.found.names), 'parameter')} to {sizes}>"
        )

    def _repr_html_(self) -> str:
        from .html import sentence, table

        return sentence(repr(self)) + table(*self.found.table())


@dataclass(frozen=True, repr=False)
class Excitation:
    """An exciting motion; made by `excite`.

    Attributes
    ----------
    found
        The designed motion, its limits and what it was designed for.

    Examples
    --------
    >>> import basepar
    >>> basepar.excite("parallelogram", random=3, starts=1).condition < 6
    True
    """

    found: "Excited"

    @property
    def t(self) -> Array:
        """(sample,): times over one period, s."""
        return np.asarray(self.found.design.motion.t)

    @property
    def q(self) -> Array:
        """(sample, coordinate): rad or m."""
        return np.asarray(self.found.design.motion.q.T)

    @property
    def qd(self) -> Array:
        """(sample, coordinate): rad/s or m/s."""
        return np.asarray(self.found.design.motion.q_dot.T)

    @property
    def qdd(self) -> Array:
        """(sample, coordinate): rad/s² or m/s²."""
        return np.asarray(self.found.design.motion.q_ddot.T)

    @property
    def condition(self) -> float:
        """Condition number of the reduced W with unit columns."""
        return float(self.found.design.condition)

    def write(self, file: str | Path) -> Path:
        """Write the mechanism's file with this excitation (.yaml), or the samples (.csv).

        Raises
        ------
        UsageError
            Another ending; .yaml of a mechanism at other values than its file's.

        Examples
        --------
        >>> import basepar
        >>> basepar.excite("parallelogram", random=3, starts=1).write("exciting.csv")
        PosixPath('exciting.csv')
        """
        from workflows.jobs import check_ending, write_excitation

        path = Path(file)
        check_ending(path)
        write_excitation(self.found.model, self.found.design, path)
        return path

    def document(self) -> dict[str, Any]:
        """Plain data, as `basepar excite --json` prints it."""
        from workflows.views import excitation

        return excitation.document(self.found)

    def __repr__(self) -> str:
        return (
            f"<basepar.Excitation of {self.found.model.mechanism.name[:80]!r}: condition "
            f"{self.condition:.4g}, {plural(self.found.harmonics, 'harmonic')} of "
            f"{self.found.frequency:.4g} Hz>"
        )


@dataclass(frozen=True, repr=False)
class SingleDof:
    """A mechanism reduced to its coordinate; made by `one_dof`.

    Attributes
    ----------
    found
        The survey of the motion, the steady regime where there is one, dwells, the run.

    Examples
    --------
    >>> import basepar
    >>> basepar.one_dof("parallelogram", range=(0.5, 0.7))
    <basepar.SingleDof of 'parallelogram': A from 0.5 to 0.7 rad, open, m from 0.4176 to 0.4176, \
no regime>
    """

    found: "OneDof"

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Plain data: curves, joints, dwells, reactions, regime, run."""
        from workflows.views import single_dof

        return single_dof.document(self.found)

    @cached_property
    def q(self) -> Array:
        """(place,): the coordinate over the motion, rad or m."""
        return np.array(self.facts["curves"]["q"])

    @cached_property
    def m(self) -> Array:
        """(place,): reduced inertia, kg m² or kg."""
        return np.array(self.facts["curves"]["m"])

    @cached_property
    def m_prime(self) -> Array:
        """(place,): dm/dq, kg m²/rad or kg/m."""
        return np.array(self.facts["curves"]["m_prime"])

    @cached_property
    def potential_slope(self) -> Array:
        """(place,): dV/dq, N m or N."""
        return np.array(self.facts["curves"]["potential_slope"])

    @property
    def regime(self) -> dict[str, float] | None:
        """Numbers of the steady regime by name, SI; None where there is none."""
        found = self.facts.get("regime", {}).get("measures")
        return None if found is None else dict(found)

    def at(self, q: object) -> Array:
        """Curves at any values of the coordinate.

        Parameters
        ----------
        q
            (…,), rad or m, within the motion.

        Returns
        -------
        (3, …): reduced inertia, potential's slope, potential; SI.

        Raises
        ------
        UsageError
            Places outside the motion, where it is not closed.

        Examples
        --------
        >>> import basepar
        >>> basepar.one_dof("four-bar").at([[0.1], [0.2]]).shape
        (3, 2, 1)
        """
        places, way = np.asarray(q, float), self.found.machine.survey.way
        outside = ~((places >= way.low) & (places <= way.high))
        if way.closed:
            places = way.low + (places - way.low) % way.length
        elif outside.any():
            raise UsageError(
                f"{int(outside.sum())} of {plural(places.size, 'place')} lie outside the motion, "
                f"which goes from {way.low:.6g} to {way.high:.6g}.",
                ["q"],
            )
        found = self.found.machine.survey.curves(places.reshape(-1))[:3]
        return np.asarray(found).reshape(3, *places.shape)

    def to_dataframe(self) -> "pd.DataFrame":
        """The curves and followed joints as a table, a row per place."""
        import pandas as pd

        joints = {name: one["values"] for name, one in self.facts["joints"].items()}
        return pd.DataFrame({**self.facts["curves"], **joints})

    def document(self) -> dict[str, Any]:
        """Plain data, as `basepar onedof --json` prints it."""
        return dict(self.facts)

    def __repr__(self) -> str:
        facts = self.facts
        way = "closed" if facts["range"]["closed"] else "open"
        regime = facts.get("regime", {}).get("state", "no regime")
        return (
            f"<basepar.SingleDof of {facts['mechanism'][:80]!r}: {facts['coordinate']} from "
            f"{facts['range']['from']:.4g} to {facts['range']['to']:.4g} {facts['unit']}, {way}, "
            f"m from {self.m.min():.4g} to {self.m.max():.4g}, {regime}>"
        )

    def _repr_html_(self) -> str:
        from workflows.views import single_dof

        from .html import page, sentence

        if self.regime is None:
            return sentence(repr(self))
        titles, rows = single_dof.columns(self.facts["regime"])
        return page(repr(self), self.found.machine.model, titles, rows)
