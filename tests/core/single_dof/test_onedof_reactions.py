"""Reactions and accelerations of loaded machines against Lagrange multipliers of all bodies."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads
from basepar_core.single_dof.cycle_integrator import regimes, run
from basepar_core.single_dof.machines import turn_at
from basepar_core.single_dof.range import find_way
from basepar_core.single_dof.reaction_freedoms import freed, reaction
from basepar_core.single_dof.results import motion_of
from tests.oracles.free_bodies import FreeBodies

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


@pytest.mark.parametrize("name", list(CASES))
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
