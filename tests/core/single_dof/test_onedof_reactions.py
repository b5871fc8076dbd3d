"""Reactions and accelerations of loaded machines against Lagrange multipliers of all bodies."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.errors import UsageError
from basepar_core.expressions import evaluate
from basepar_core.files.mechanism_file import loads
from basepar_core.single_dof.cycle_integrator import regimes, run
from basepar_core.single_dof.machines import turn_at
from basepar_core.single_dof.range import find_way
from basepar_core.single_dof.reaction_freedoms import freed, reaction
from basepar_core.single_dof.results import motion_of
from tests.core.dynamics.test_couplings import GEARED_FIVE_BAR
from tests.oracles.free_bodies import FreeBodies
from tests.oracles.maximal import Jet

#: A DC motor with winding, gear and rotor; friction, a spring and a damper beside it.
MOTOR = (
    "motors: {drive: {joint: A, voltage: 24, resistance: 0.6, constant: 0.2, ratio: 8, "
    "inductance: 1.5e-3, rotor: 7e-5}}\n"
)
SLIDER = (
    load("slider-crank").source.replace("friction:", "# friction:")
    + MOTOR
    + """
friction: {D: {viscous: 3, coulomb: 2}, B: {viscous: 0.02, coulomb: 0.05, offset: 0.03}}
springs:
  back: {joint: D, rest: 0.3 m, stiffness: 60 N/m}
  wire: {connects: [ground, rod], at: [[0.2, 0.3], [0.3, 0.05]], rest: 0.1 m, stiffness: 90 N/m}
dampers: {pot: {connects: [crank, slider], at: [[0.05, 0], [0, 0.02]], damping: 4 N*s/m}}
torques:
  press: {joint: D, along: A, pieces: [[20 deg, 130 deg, -15 N]]}
  pull: {joint: D, value: 5 N, when: rising}
  fan: {joint: A, value: -2e-3 N*m*s^2*speed^2}
"""
)
RSUR = (
    load("rsur").source
    + MOTOR
    + """
friction:
  D: {viscous: 0.3, coulomb: 0.2, rotor: 0.01}
  C.1: {viscous: 0.1, coulomb: 0.1}
  C.2: {viscous: 0.2}
springs:
  coil: {joint: D, rest: 1, stiffness: 4 N*m}
  wire: {connects: [ground, coupler], at: [[0, 1, 0.3], [0.2, 0, 0]], rest: 0.4, stiffness: 40 N/m}
dampers: {pot: {connects: [crank, rocker], at: [[0.1, 0, 0], [0.2, 0.1, 0]], damping: 3 N*s/m}}
"""
)
#: Bodies' frames are the ground's where they are assembled, at all joint values zero.
SPACE = """
name: {name}
space: spatial
gravity: [0.5, -1, -9.7]
bodies:
  crank: {{mass: 0.4, centre: [0.03, 0.01, 0], central_inertia: [1e-3, 1e-4, 0, 2e-3, 1e-4, 1e-3]}}
  rod: {{mass: 0.7, centre: [0.3, 0, 0.1], central_inertia: [3e-3, 1e-4, 2e-4, 9e-3, 1e-4, 1e-2]}}
  last: {{mass: 0.9, centre: [0.5, 0.2, 0.1], central_inertia: [4e-3, 5e-4, 0, 2e-3, 0, 5e-3]}}
joints:
  A: {{type: revolute, connects: [ground, crank]}}
  B: {{type: spherical, connects: [crank, rod], at: [[0.08, 0, 0], [0.08, 0, 0]]}}
{joints}
coordinates: [A]
assembly: {{A: 0}}
"""
#: Universal joint with zero values: its second axis along the first frame's x, and crosswise.
RSUP = (
    SPACE.format(
        name="rsup",
        joints="""
  C: {type: universal, connects: [rod, last], at: [[0.5, 0.1, 0.05], [0.5, 0.1, 0.05]],
      axis: [[0, 1, 0], [0, 0, 1]], reference: [[0, 0, 1], [0, 1, 0]]}
  D: {type: prismatic, connects: [ground, last], axis: [[1, 0, 0.2], [1, 0, 0.2]],
      at: [[0.5, 0.2, 0], [0.5, 0.2, 0]]}
""",
    )
    + MOTOR
    + "friction: {D: {viscous: 3, coulomb: 2}, C.2: {viscous: 0.05}}\n"
)
RSCR = (
    SPACE.format(
        name="rscr",
        joints="""
  C: {type: cylindrical, connects: [rod, last], at: [[0.4, 0.1, 0.1], [0.4, 0.1, 0.1]],
      axis: [[0.2, 1, 0.1], [0.2, 1, 0.1]]}
  D: {type: revolute, connects: [last, ground], axis: [[0.1, 0.1, 1], [0.1, 0.1, 1]],
      at: [[0.5, 0.4, 0], [0.5, 0.4, 0]]}
""",
    )
    + MOTOR
    + "friction: {C.1: {viscous: 3, coulomb: 1}, C.2: {viscous: 0.05, coulomb: 0.1}}\n"
    + "springs: {coil: {joint: C.1, rest: 0.1 m, stiffness: 80 N/m}}\n"
)
CASES = {
    "slider-crank": (
        SLIDER,
        "A:ground:x A:ground:y B:crank:x B:rod:y C:slider:x C:slider:y D:slider:y",
        "D:slider D:ground",
    ),
    "rsur": (
        RSUR,
        "A:crank:z B:crank:x B:coupler:y B:crank:z C:rocker:x C:rocker:1,2,-1 D:ground:z",
        "A:ground:x A:crank:y C:coupler:x D:rocker:1,1,0",
    ),
    "rsup": (
        RSUP,
        "A:ground:x B:rod:x C:last:y D:last:y D:ground:0.2,0,-1",
        "A:crank:x C:rod:x D:last:x D:ground:y",
    ),
    "rscr": (
        RSCR,
        "A:ground:z B:rod:x C:rod:x C:last:0,-1,10 D:last:x",
        "A:crank:y C:last:1,0,-2 D:last:x",
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in ("rsup", "rscr") else name
        for name in CASES
    ],
)
def test_reactions_are_multipliers_of_all_bodies(name):
    """Motor with winding, friction, springs, dampers, gravity; all reactions at once."""
    text, forces, moments = CASES[name]
    model = prepare(loads(text))
    wanted = [reaction(model.mechanism, x) for x in forces.split()]
    wanted += [reaction(model.mechanism, x, moment=True) for x in moments.split()]
    table, turn = turn_at(freed(model, wanted), find_way(model), {}, 240)
    known = regimes(turn, np.array([10.0]))
    motion = motion_of(table, turn, run(turn, known.speed, known.currents))
    free = FreeBodies(model.mechanism)
    for node in (3, 40, 65, 100):
        flow = {"drive": motion.currents[0, 0, node]}
        bend, multipliers = free.move(motion.q[node], motion.speed[0, node], flow)
        assert abs(motion.acceleration[0, node] - bend) < off(name, motion.acceleration)
        for k, one in enumerate(wanted):
            moment, force = free.wrench(multipliers, one.joint, one.body)
            along = np.array(one.direction) / np.linalg.norm(one.direction)
            expected = along @ (moment if one.moment else force)
            here = motion.reactions[k, 0]
            assert abs(here[node] - expected) < off(name, here), one


def off(name, curve):
    """Rounding; a rotor's ∂²θ/∂q² is the slope of a spline, spacing³ of its fourth derivative."""
    return (1e-6 if name == "rsur" else 1e-11) * np.abs(curve).max()


class CoupledBodies(FreeBodies):
    """With couplings as equations of joint values; a screw's is one of its joint's own."""

    near: dict[str, float]

    def __init__(self, mechanism):
        self.near = self.values_near(mechanism)
        super().__init__(mechanism)

    @staticmethod
    def values_near(mechanism):
        """Stated values, which tell the whole turns."""
        values = mechanism.assembly.values
        return dict(zip(dict(values), evaluate([x for _, x in values], {}), strict=True))

    def _couplings(self, twist, joint=None):
        """Those among the values of one joint, or without it of several."""
        jets = []
        for coupling in self.mechanism.couplings:
            joints = {self.mechanism.value(name).number for name, _ in coupling.terms}
            if joints == {joint} or (joint is None and len(joints) > 1):
                jets.append(self._coupling(coupling, twist))
        return jets

    def _coupling(self, coupling, twist):
        found = Jet(*(np.zeros((1, *shape)) for shape in ((), (self.size,), ())))
        found.value[:] -= self.value(coupling.offset)
        for name, x in coupling.terms:
            jet, share = self._coordinate(name, twist), self.value(x)
            value = float(jet.value[0])
            if self.mechanism.value(name).is_angle:
                value += 2 * np.pi * round((self.near.get(name, 0.0) - value) / (2 * np.pi))
                self.near[name] = value
            for sum_, part in zip(
                (found.value, found.rate, found.bend), (value, jet.rate, jet.bend), strict=True
            ):
                sum_ += share * part
        return found

    def _joint(self, k, twist):
        return [*super()._joint(k, twist), *self._couplings(twist, k)]

    def equations(self, twist):
        rows = super().equations(twist)
        jets = self._couplings(twist)
        if not jets:
            return rows
        more = (np.stack([getattr(j, x) for j in jets], 1) for x in ("value", "rate", "bend"))
        return tuple(
            np.concatenate([row[:, :-1], new, row[:, -1:]], axis=1)
            for row, new in zip(rows, more, strict=True)
        )


#: Cranks that mesh close a five-bar; the motor is on one of them.
GEARED = (
    GEARED_FIVE_BAR.replace(
        "{crank: {}, rod: {}, link: {}, lever: {}}",
        "{crank: {mass: 1, centre: [0.05, 0.01], central_inertia: 0.01}, "
        "rod: {mass: 2, centre: [0.2, 0.03], central_inertia: 0.05}, "
        "link: {mass: 1.5, centre: [0.25, -0.02], central_inertia: 0.04}, "
        "lever: {mass: 0.7, centre: [0.1, 0.02], central_inertia: 0.02}}",
    )
    + MOTOR
    + "friction: {C: {viscous: 0.05, coulomb: 0.1}, E: {viscous: 0.3}}\n"
)


#: A thread turns the last body a little as it slides: what the thread transmits is the joint's.
THREADED = RSUP.replace("D: {type: prismatic,", "D: {type: screw, pitch: 3 m,").replace(
    "D: {viscous: 3, coulomb: 2}", "D.1: {viscous: 3, coulomb: 2}"
)


@pytest.mark.parametrize(
    ("text", "forces", "moments"),
    [
        pytest.param(
            GEARED,
            "B:crank:x B:rod:y C:rod:x C:link:1,1 D:lever:x D:link:y",
            "",
            marks=pytest.mark.slow,
        ),
        (
            THREADED,
            "A:ground:x B:rod:x D:last:y D:ground:1,0,0.2",
            "A:crank:x D:last:x D:ground:y",
        ),
    ],
    ids=["geared five-bar", "thread"],
)
def test_reactions_where_no_coupling_acts(text, forces, moments):
    """Teeth load the cranks' bearings only, wherever they are (here a couple on each value); a
    thread is part of its joint."""
    model = prepare(loads(text))
    wanted = [reaction(model.mechanism, x) for x in forces.split()]
    wanted += [reaction(model.mechanism, x, moment=True) for x in moments.split()]
    table, turn = turn_at(freed(model, wanted), find_way(model), {}, 480)
    known = regimes(turn, np.array([10.0]))
    motion = motion_of(table, turn, run(turn, known.speed, known.currents))
    free = CoupledBodies(model.mechanism)
    for node in (3, 80, 130, 170, 220):
        flow = {"drive": motion.currents[0, 0, node]}
        bend, multipliers = free.move(motion.q[node], motion.speed[0, node], flow)
        assert abs(motion.acceleration[0, node] - bend) < off("", motion.acceleration)
        for k, one in enumerate(wanted):
            moment, force = free.wrench(multipliers, one.joint, one.body)
            along = np.array(one.direction) / np.linalg.norm(one.direction)
            expected = along @ (moment if one.moment else force)
            here = motion.reactions[k, 0]
            assert abs(here[node] - expected) < off("", here), one


@pytest.mark.parametrize("joint", ["A:crank:x", "E:lever:y"])
def test_reactions_where_a_coupling_acts_are_not_known(joint):
    model = prepare(loads(GEARED))
    with pytest.raises(UsageError, match=f"{joint[0]} by 'mesh'"):
        freed(model, [reaction(model.mechanism, joint)])


def test_what_joins_coupled_joints_that_share_no_body_is_loaded_too():
    """A cable from A to C passes B, and presses on it or not."""
    model = prepare(loads(CABLE))
    with pytest.raises(UsageError, match="B by 'cable'"):
        freed(model, [reaction(model.mechanism, "B:one:x")])


CABLE = """
name: cable
space: planar
gravity: [0, -9.81]
bodies: {one: {}, two: {}, three: {}}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[0.3, 0], [0, 0]]}
  C: {type: revolute, connects: [two, three], at: [[0.3, 0], [0, 0]]}
couplings: {cable: {values: {A: 1, C: 2}}, belt: {values: {A: 1, B: 1}}}
coordinates: [A]
"""
