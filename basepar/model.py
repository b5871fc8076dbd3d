"""A mechanism that answers: drawing, closed loops, W, torque, energy, base parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from basepar_core import api
from basepar_core.arrays import Array
from basepar_core.compiled import LARGEST, Closed, Engine, States
from basepar_core.dynamics import Model as Prepared
from basepar_core.dynamics import Motion, at_geometry, prepare
from basepar_core.errors import MissingDataError, MotionError, UsageError
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import symbol_values
from basepar_core.texts import plural

from .axes import Axes, GeometryValues, axes_of, states_of, texts_of
from .contacts import Contact, efforts, point_of
from .instant_centres import InstantCentres
from .joints import Joints
from .points import Points
from .torques import parameters_of, product, torques

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .animation import Animation
    from .base import Base

#: What happens to states that cannot be reached.
Outside = Literal["raise", "nan"]


def load(
    source: str | Path,
    values: Mapping[str, str | float] | None = None,
    *,
    xacro: bool | Mapping[str, str] = False,
) -> "Model":
    """Read and assemble a mechanism.

    Parameters
    ----------
    source
        A name that ships with the program, a mechanism file, or one of URDF, SDF or MJCF
        (extras `urdf`, `mjcf`).
    values
        Symbols and constants other than the file's: numbers in their own units, or texts like
        "31 cm". The branch is the one to which the file's assembly leads.
    xacro
        Whether xacro (extra `xacro`) expands a robot's file first, or its arguments by name. It
        runs what the file says: only for files that you trust.

    Raises
    ------
    FileError
        With all mistakes of the file.
    AssemblyError, MechanismError
        The loops do not close, or the coordinates do not drive the mechanism.
    UsageError
        Values that make no sense.
    MissingDataError
        The extra that reads the file is not installed.

    Examples
    --------
    >>> import basepar
    >>> basepar.load("four-bar")
    <basepar.Model 'four-bar': planar, 3 bodies, 4 joints, 1 degree of freedom, 12 parameters>
    """
    mechanism = api.load(source, xacro)
    if not values:
        return Model(mechanism)
    other = api.changed(mechanism, texts_of(values))
    return Model(at_geometry(prepare(mechanism), other).mechanism)


@dataclass(frozen=True, repr=False)
class Model:
    """A mechanism, assembled; made by `load`.

    States q, q̇, q̈ have shape (…, coordinate), in rad or m and per s and s², in the order of
    `coordinates`; velocities of a free joint are its twist, as Pinocchio's free-flyer has it.
    `geometry` gives symbols other than nominal values by name: SI numbers, or arrays that
    broadcast with the leading dimensions of the states. Dependent joints are closed on the branch
    of the assembly, which each state is followed to in a straight line of the coordinates, at its
    own geometry.

    Attributes
    ----------
    mechanism
        What the file states.

    Examples
    --------
    >>> import basepar
    >>> model = basepar.load("four-bar")
    >>> model.coordinates, model.symbols[:3]
    (('A',), ('lx1', 'lx2', 'ly2'))
    >>> model.parameters[:4]
    ('crank.m', 'crank.mx', 'crank.my', 'crank.J')
    """

    mechanism: Mechanism = field()

    def __post_init__(self) -> None:
        _ = self._engine  # a mechanism that cannot be assembled fails here

    @cached_property
    def _engine(self) -> Engine:
        return Engine(prepare(self.mechanism))

    @property
    def prepared(self) -> Prepared:
        """The assembled mechanism as the packages take it."""
        return self._engine.model

    @property
    def name(self) -> str:
        """As the file has it."""
        return self.mechanism.name

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Joint values that are independent: the last axis of every state."""
        return self.mechanism.coordinates

    @property
    def parameters(self) -> tuple[str, ...]:
        """Inertial parameters, the last axis of W: kg, kg m, kg m² about the frame's origin."""
        return self.mechanism.parameter_names

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names that `geometry` may give."""
        it = self.mechanism
        return tuple(s.name for s in it.geometry if s.name not in it.roots)

    @property
    def assembly(self) -> Array:
        """(coordinate,) where the mechanism is assembled, rad or m."""
        return self._engine.model.assembled.coordinates.copy()

    def phi(self, geometry: GeometryValues | None = None) -> Array:
        """Inertial parameters of the file at a geometry.

        Returns
        -------
        (…, parameter), SI, in the order of `parameters`; leading dimensions of the geometry.

        Raises
        ------
        MissingDataError
            Bodies without inertia.

        Examples
        --------
        >>> import basepar
        >>> basepar.load("four-bar").phi({"lx1": [0.2, 0.3]}).shape
        (2, 12)
        """
        axes = axes_of(self.mechanism, geometry)
        return axes.results(np.broadcast_to(self._phi(axes)[:, None], self._shape(axes)))

    def _shape(self, axes: Axes) -> tuple[int, ...]:
        return (axes.variants, axes.samples, len(self.parameters))

    def _phi(self, axes: Axes) -> Array:
        """(variant, parameter), or of pairs (sample, parameter)."""
        bare = [body.name for body in self.mechanism.bodies if body.parameters is None]
        if bare:
            raise MissingDataError(
                f"{self.name!r} gives no inertia for {', '.join(bare)}. Give mass, centre and "
                f"inertia in the file, or phi here.",
                [f"bodies.{name}" for name in bare],
            )
        known = symbol_values(self.mechanism, axes.values)
        return np.atleast_2d(self.mechanism.inertial_parameters(known))

    def close(
        self, q: object, geometry: GeometryValues | None = None, outside: Outside = "nan"
    ) -> Joints:
        """Close the loops.

        Parameters
        ----------
        q
            (…, coordinate), rad or m.
        geometry
            Symbols by name, SI.
        outside
            States that cannot be reached: "nan" for their values (default), or "raise".

        Raises
        ------
        MotionError
            States that cannot be reached, if asked.
        UsageError
            Shapes that do not fit; symbols that there are not.

        Examples
        --------
        >>> import basepar, numpy as np
        >>> crank = np.linspace(0, 2 * np.pi, 5)[:, None]
        >>> basepar.load("four-bar").close(crank, {"lx1": 0.35}).values.shape
        (5, 4)
        """
        (q_,) = states_of(self.mechanism, q=q)
        axes = axes_of(self.mechanism, geometry, [q_])
        states, at, _ = self._closed(axes, q_, q_, q_)
        values = states.joint_values(at)
        values[:, ~at.closed] = np.nan
        closed = axes.results(at.closed)
        self._check(closed, axes, q_, outside)
        names = tuple(name for joint in self.mechanism.joints for name in joint.values)
        return Joints(names, axes.results(values.transpose(1, 2, 0)), closed)

    def points(
        self,
        q: object,
        qd: object = None,
        qdd: object = None,
        geometry: GeometryValues | None = None,
        outside: Outside = "nan",
    ) -> Points:
        """Where the points of the file are, how fast, and with what acceleration.

        Parameters
        ----------
        q, qd, qdd
            (…, coordinate): coordinates, rad or m, and their first and second derivatives, zero
            without; of a free joint its twist and the twist's rate.
        geometry
            Symbols by name, SI.
        outside
            States that cannot be reached: "nan" for their values (default), or "raise".

        Raises
        ------
        MotionError
            States that cannot be reached, if asked.
        UsageError
            Shapes that do not fit; symbols that there are not.

        Examples
        --------
        Over the cycle, for two lengths: (length, sample, point, axis). This file states no point.

        >>> import basepar
        >>> model = basepar.load("four-bar")
        >>> cycle = basepar.motion(model, "cycle")
        >>> model.points(cycle.q, cycle.qd, cycle.qdd, {"lx1": [[0.25], [0.3]]}).velocity.shape
        (2, 128, 0, 2)
        """
        (q_,) = states_of(self.mechanism, q=q)
        still = np.zeros(len(self.coordinates))
        rates = {"qd": still if qd is None else qd, "qdd": still if qdd is None else qdd}
        qd_, qdd_ = states_of(self.mechanism, **rates)
        axes = axes_of(self.mechanism, geometry, [q_, qd_, qdd_])
        states, at, motion = self._closed(axes, q_, qd_, qdd_)
        found = states.points(motion, at)
        found[..., ~at.closed] = np.nan
        self._check(axes.results(at.closed), axes, q_, outside)
        width = 2 if self.mechanism.planar else 3
        parts = (axes.results(one.transpose(2, 3, 0, 1)[..., :width]) for one in found)
        return Points(tuple(one.name for one in self.mechanism.points), *parts)

    def instant_centres(
        self,
        q: object,
        qd: object = None,
        geometry: GeometryValues | None = None,
        outside: Outside = "nan",
    ) -> InstantCentres:
        """Points at which two bodies of a planar mechanism have the same velocity, of every pair.

        Parameters
        ----------
        q, qd
            (…, coordinate): coordinates, rad or m, and their rates, of which only the ratio
            matters; with one coordinate they may be left out.
        geometry
            Symbols by name, SI.
        outside
            States that cannot be reached: "nan" for their values (default), or "raise".

        Raises
        ------
        MotionError
            States that cannot be reached, if asked.
        UsageError
            The mechanism is spatial, or has several coordinates and no rates are given; shapes
            that do not fit; symbols that there are not.

        Examples
        --------
        The velocity pole of a four-bar's coupler, for three lengths.

        >>> import basepar
        >>> model = basepar.load("four-bar")
        >>> centres = model.instant_centres([0.6], geometry={"lx1": [0.25, 0.28, 0.3]})
        >>> centres["ground", "coupler"].shape
        (3, 2)
        """
        if not self.mechanism.planar:
            raise UsageError(f"{self.name!r} is spatial: its bodies turn about axes.", ["space"])
        if qd is None and len(self.coordinates) > 1:
            raise UsageError(
                f"{self.name!r} has {plural(len(self.coordinates), 'coordinate')}, and where its "
                "centres are depends on the ratio of their rates: give qd.",
                ["qd"],
            )
        q_, qd_ = states_of(self.mechanism, q=q, qd=np.ones(1) if qd is None else qd)
        axes = axes_of(self.mechanism, geometry, [q_, qd_])
        states, at, motion = self._closed(axes, q_, qd_, np.zeros_like(qd_))
        found = states.instant_centres(motion, at)
        found[..., ~at.closed] = np.nan
        self._check(axes.results(at.closed), axes, q_, outside)
        names = ("ground", *(body.name for body in self.mechanism.bodies))
        return InstantCentres(names, axes.results(found.transpose(3, 4, 0, 1, 2)))

    def regressor(
        self,
        q: object,
        qd: object,
        qdd: object,
        geometry: GeometryValues | None = None,
        out: Array | None = None,
        outside: Outside = "raise",
    ) -> Array:
        """W of inverse dynamics, τ = W φ.

        Parameters
        ----------
        q, qd, qdd
            (…, coordinate): coordinates, rad or m, and their first and second derivatives; of a
            free joint its twist and the twist's rate.
        geometry
            Symbols by name, SI.
        out
            An array to fill: what an earlier call with these shapes returned is filled as it
            lies, another one copied to.
        outside
            States that cannot be reached: "raise" (default), or "nan" for their rows.

        Returns
        -------
        (…, coordinate, parameter), N m or N per unit parameter. Its memory is ordered otherwise
        (samples last), so that `W @ phi` reads it front to back.

        Raises
        ------
        MotionError
            States that cannot be reached.
        UsageError
            Shapes that do not fit; symbols that there are not.

        Examples
        --------
        >>> import basepar, numpy as np
        >>> model = basepar.load("ur10")
        >>> q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 100, 6))
        >>> W = model.regressor(q, qd, qdd)
        >>> W.shape
        (100, 6, 60)
        >>> np.allclose(W @ model.phi(), model.torque(q, qd, qdd))
        True
        """
        q_, qd_, qdd_ = states_of(self.mechanism, q=q, qd=qd, qdd=qdd)
        axes = axes_of(self.mechanism, geometry, [q_, qd_, qdd_])
        shape = (*axes.lead, len(self.coordinates), len(self.parameters))
        if out is not None and not isinstance(out, np.ndarray):
            raise UsageError(f"out is no array; it must be float64 {shape}.", ["out"])
        if out is not None and (out.shape != shape or out.dtype != float):
            raise UsageError(
                f"out is {out.dtype} {out.shape}; it must be float64 {shape}.", ["out"]
            )
        if 0 in shape:
            return np.zeros(shape) if out is None else out
        states, at, motion = self._closed(axes, q_, qd_, qdd_)
        given = None if out is None or axes.paired else axes.kernel_layout(out)
        W, whole = states.regressor(motion, at, given)
        rows = W.transpose(0, 3, 2, 1)
        closed = at.closed & whole[:, None]
        if not closed.all():
            rows[~closed] = np.nan
        self._check(axes.results(closed), axes, q_, outside)
        found = axes.results(rows)
        if out is None:
            return found
        if not np.shares_memory(found, out):
            out[...] = found
        return out

    def torque(
        self,
        q: object,
        qd: object,
        qdd: object,
        phi: object = None,
        geometry: GeometryValues | None = None,
        outside: Outside = "raise",
        contacts: Sequence[Contact] = (),
    ) -> Array:
        """Inverse dynamics: what the coordinates' drives must give to inertia and gravity.

        Parameters
        ----------
        q, qd, qdd
            (…, coordinate): coordinates, rad or m, and their first and second derivatives; of a
            free joint its twist and the twist's rate.
        phi
            (parameter,) or (…, parameter), SI; the file's (at the geometry) without.
        geometry
            Symbols by name, SI.
        outside
            States that cannot be reached: "raise" (default), or "nan" for their rows.
        contacts
            External wrenches on bodies; the drives need not give what these do: τ = W φ − Σ Jᵀ w.

        Returns
        -------
        (…, coordinate), N m or N. Friction, springs and dampers of the file are not in it.

        Raises
        ------
        MotionError
            States that cannot be reached.
        MissingDataError
            Bodies without inertia, and no `phi`.
        UsageError
            Shapes that do not fit; symbols that there are not.

        Examples
        --------
        Torque that holds the crank of four-bars of two lengths at three angles.

        >>> import basepar, numpy as np
        >>> model = basepar.load("four-bar")
        >>> q, rest = np.array([[0.2], [0.4], [0.6]]), [0.0]
        >>> model.torque(q, rest, rest, geometry={"lx1": [[0.25], [0.3]]}).shape
        (2, 3, 1)
        """
        if contacts:
            found = self.torque(q, qd, qdd, phi, geometry, outside)
            for one in contacts:
                rates = self.contact_rates(q, one.body, one.at, geometry, outside)
                found = found - efforts(rates, one)
            return found
        q_, qd_, qdd_ = states_of(self.mechanism, q=q, qd=qd, qdd=qdd)
        if phi is not None:
            phi = parameters_of(self.mechanism, phi)
            if phi.ndim > 1:
                W = self.regressor(q_, qd_, qdd_, geometry, outside=outside)
                return product(W, phi)
        axes = axes_of(self.mechanism, geometry, [q_, qd_, qdd_])
        own = self._phi(axes) if phi is None else phi[None]
        if 0 in axes.lead:
            return np.zeros((*axes.lead, len(self.coordinates)))
        states, at, motion = self._closed(axes, q_, qd_, qdd_)
        tau, closed = torques(states, at, motion, own)
        tau[~closed] = np.nan
        self._check(axes.results(closed), axes, q_, outside)
        return axes.results(tau)

    def contact_rates(
        self,
        q: object,
        body: str,
        at: Sequence[float] = (),
        geometry: GeometryValues | None = None,
        outside: Outside = "raise",
    ) -> Array:
        """J of a body's point, transposed: Jᵀ w is what a wrench w there does to the coordinates.

        Where a body is pushed, W φ = τ + Jᵀ w; so a measured wrench joins the measured torques,
        and one that is not measured has the columns −Jᵀ beside those of W.

        Parameters
        ----------
        q
            (…, coordinate), rad or m.
        body
            Name.
        at
            The point in the body's frame, m; its origin without.
        geometry
            Symbols by name, SI.
        outside
            States that cannot be reached: "raise" (default), or "nan" for their entries.

        Returns
        -------
        (…, coordinate, 6): velocity of the point along the body's axes, then the body's angular
        velocity about them, per unit velocity of the coordinate (of a free joint its twist); in
        the plane (…, coordinate, 3).

        Raises
        ------
        MotionError
            States that cannot be reached.
        UsageError
            No such body; shapes that do not fit.

        Examples
        --------
        What 10 N along the rocker's x do to the crank of a four-bar.

        >>> import basepar
        >>> J = basepar.load("four-bar").contact_rates([[0.6], [0.7]], "rocker", at=[0.2, 0])
        >>> J.shape, (J @ [10, 0, 0]).shape
        ((2, 1, 3), (2, 1))
        """
        point = point_of(self.mechanism, body, at)
        (q_,) = states_of(self.mechanism, q=q)
        axes = axes_of(self.mechanism, geometry, [q_])
        if 0 in axes.lead:
            width = 3 if self.mechanism.planar else 6
            return np.zeros((*axes.lead, len(self.coordinates), width))
        still = np.zeros_like(q_)
        states, closed, motion = self._closed(axes, q_, still, still)
        rates = states.point_rates(motion, closed, body, point)
        rates[~closed.closed] = np.nan
        self._check(axes.results(closed.closed), axes, q_, outside)
        return axes.results(rates)

    def energy_regressor(
        self,
        q: object,
        qd: object,
        geometry: GeometryValues | None = None,
        outside: Outside = "raise",
    ) -> Array:
        """h of the total energy, E = h φ, kinetic and potential (zero height: the world's origin).

        Parameters
        ----------
        q, qd
            (…, coordinate): coordinates, rad or m, and their rates.
        geometry
            Symbols by name, SI.
        outside
            States that cannot be reached: "raise" (default), or "nan" for their rows.

        Returns
        -------
        (…, parameter), J per unit parameter.

        Raises
        ------
        MotionError
            States that cannot be reached.
        UsageError
            Shapes that do not fit; symbols that there are not.

        Examples
        --------
        >>> import basepar
        >>> model = basepar.load("four-bar")
        >>> model.energy_regressor([[0.6], [0.7]], [[1.0], [1.0]]).shape
        (2, 12)
        """
        q_, qd_ = states_of(self.mechanism, q=q, qd=qd)
        axes = axes_of(self.mechanism, geometry, [q_, qd_])
        if 0 in axes.lead:
            return np.zeros((*axes.lead, len(self.parameters)))
        states, at, motion = self._closed(axes, q_, qd_, qd_)
        h = states.energies(motion, at)
        h[~at.closed] = np.nan
        self._check(axes.results(at.closed), axes, q_, outside)
        return axes.results(h)

    def _closed(
        self, axes: Axes, q: Array, qd: Array, qdd: Array
    ) -> tuple[States, Closed, Motion]:
        """The states as the kernels take them, their loops closed."""
        if np.abs(q).max(initial=0.0) > LARGEST:
            raise UsageError(
                f"q reaches {np.abs(q).max():.3g} rad or m; at most {LARGEST:.0e} is allowed. "
                f"Take whole turns off.",
                ["q"],
            )
        x, v, a = (axes.samples_of(state) for state in (q, qd, qdd))
        states = States(self._engine.kernels, axes.values, axes.paired)
        return states, states.close(x), Motion(np.zeros(x.shape[1]), x, v, a)

    def _check(self, closed: Array, axes: Axes, q: Array, outside: Outside) -> None:
        if outside not in ("raise", "nan"):
            raise UsageError(f"outside is {outside!r}; it is 'raise' or 'nan'.", ["outside"])
        if outside == "nan" or closed.all():
            return
        first = tuple(int(k) for k in np.argwhere(~closed)[0])
        there = np.broadcast_to(q, (*axes.lead, q.shape[-1]))[first]
        state = ", ".join(
            f"{name} = {value:.6g}" for name, value in zip(self.coordinates, there, strict=True)
        )
        raise MotionError(
            f"{int((~closed).sum())} of {plural(closed.size, 'state')} of {self.name!r} cannot "
            f"be reached on the branch of the assembly; the first is q{list(first)}: {state}. "
            f"Leave them out, or ask for outside='nan' and take those that are finite.",
            ["q"],
        )

    def base(
        self,
        route: str = "symbolic",
        eliminate: Sequence[str] = (),
        digits: int | None = None,
    ) -> "Base":
        """Base parameters.

        Parameters
        ----------
        route
            symbolic (default), numeric, precise, product (planar) or black-box.
        eliminate
            Parameters to eliminate (φ₂), `crank.J` or short `J1`; without, the program chooses.
        digits
            Decimal digits of β, with the precise route.

        Raises
        ------
        EliminationError
            `eliminate` is not admissible.
        UsageError
            No such route, or no such parameter; `digits` with another route.
        MotionError, FamilyError
            The file's excitation cannot be followed; the route has nothing to say here.

        Examples
        --------
        >>> import basepar
        >>> base = basepar.load("four-bar").base(eliminate=["J1", "J2", "J3", "m1"])
        >>> base.rank, base.names[:2]
        (8, ('crank.mx', 'crank.my'))
        """
        from .base import found

        return found(self._engine.model, route, eliminate, digits)

    def draw(
        self, file: str | Path | None = None, geometry: Mapping[str, float] | None = None
    ) -> "Figure":
        """A drawing: bodies, joints, ground, and poses of the cycle.

        Parameters
        ----------
        file
            Where to write it, .png, .svg or .pdf; without, only the figure is returned.
        geometry
            Symbols by name, SI numbers.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        UsageError
            Another ending, an address; a symbol that there is not; values that are not one number.
        BaseparError
            Matplotlib (extra `plot`) is not installed.

        Examples
        --------
        >>> import basepar
        >>> figure = basepar.load("four-bar").draw()
        >>> len(figure.axes)
        1
        """
        from workflows.drawing import check_ending, figure_of, save
        from workflows.jobs import check_outputs

        values = self._one(geometry, "A drawing")
        path = None if file is None else Path(file)
        if path is not None:
            check_ending(path)
            check_outputs([path], overwrite=True)
        figure = figure_of(self._engine.model, values)
        if path is not None:
            save(figure, path)
        return figure

    def animate(
        self, file: str | Path | None = None, geometry: Mapping[str, float] | None = None
    ) -> "Animation":
        """The mechanism moving over its cycle; without one, over its excitation.

        Parameters
        ----------
        file
            Where to write it, .html, .gif, .mp4 (needs ffmpeg) or .svg; without, it is only
            returned. A notebook shows it.
        geometry
            Symbols by name, SI numbers.

        Raises
        ------
        UsageError
            Another ending; a symbol that there is not; values that are not one number.
        MissingDataError
            The file states no motion; there is no ffmpeg.
        MotionError
            It cannot be assembled at these values.

        Examples
        --------
        >>> import basepar
        >>> basepar.load("four-bar").animate()
        <basepar.Animation 'four-bar': 128 frames, 1 s of its cycle>
        """
        from workflows import moving

        from .animation import Animation

        path = None if file is None else Path(file)
        if path is not None:
            moving.check_ending(path)
        made = Animation(moving.film(self._engine.model, self._one(geometry, "An animation")))
        if path is not None:
            made.save(path)
        return made

    def _one(self, geometry: Mapping[str, float] | None, what: str) -> dict[str, float]:
        """Symbols of one geometry."""
        axes = axes_of(self.mechanism, geometry)
        if axes.lead:
            raise UsageError(f"{what} is of one geometry: give one number a symbol.", ["geometry"])
        return {name: float(x[0]) for name, x in axes.values.items()}

    def export(
        self,
        path: str | Path,
        dialect: str = "",
        phi: object = None,
        overwrite: bool = False,
        into: str | Path | None = None,
    ) -> Path:
        """Write the mechanism as a robot's file: URDF, MJCF or SDF.

        Parameters
        ----------
        path
            FILE.urdf, FILE.xml or FILE.sdf.
        dialect
            urdf, urdf+, loop-joint, constraint, extended, mjcf or sdf; by the file's ending
            without.
        phi
            (parameter,), SI, in place of the file's inertial parameters.
        overwrite
            Whether a file that basepar did not make may be replaced.
        into
            The robot's file that the mechanism was imported from: `path` gets its text, of which
            only inertias and frames of joints that differ are changed.

        Raises
        ------
        MechanismError
            The dialect cannot represent the mechanism; names what, and the dialects that can. Or
            `into` cannot take a change.
        MissingDataError
            Bodies without inertia.
        UsageError
            An ending or a dialect that there is not; the file exists; `into` has other bodies.

        Examples
        --------
        >>> import basepar
        >>> basepar.load("four-bar", {"lx1": 0.31}).export("four-bar.xml").name
        'four-bar.xml'
        """
        from workflows.jobs import check_outputs
        from workflows.robots import exported

        target = Path(path)
        check_outputs([target], overwrite)
        given = {}
        if phi is not None:
            own = np.broadcast_to(parameters_of(self.mechanism, phi), (len(self.parameters),))
            given = dict(zip(self.parameters, map(float, own), strict=True))
        found = exported(self.prepared, target, dialect, given, into)
        check_outputs(found.places(target), overwrite)
        found.write(target)
        return target

    def __repr__(self) -> str:
        it = self.mechanism
        return (
            f"<basepar.Model {it.name[:80]!r}: {'planar' if it.planar else 'spatial'}, "
            f"{plural(len(it.bodies), 'body', 'bodies')}, {plural(len(it.joints), 'joint')}, "
            f"{plural(len(it.coordinates), 'degree')} of freedom, "
            f"{plural(len(it.parameter_names), 'parameter')}>"
        )

    def _repr_html_(self) -> str:
        from .html import page

        joints = self.mechanism.joints
        rows = [(j.name, j.type, " – ".join(j.bodies), ", ".join(j.values)) for j in joints]
        titles = ("joint", "type", "connects", "values")
        return page(repr(self), self._engine.model, titles, rows)
