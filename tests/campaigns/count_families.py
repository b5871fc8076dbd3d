"""The named families of the campaign of counts: a function each, from a random generator.

Most are special: sides of one length, parallel or intersecting axes, loops that move though
counting says they should not. A list of directions of one rational length lets unequal
directions have equal lengths.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.campaigns import coupled_families as coupled
from tests.campaigns import floating_families as floating
from tests.campaigns import idle_families as idle
from tests.campaigns import machine_families as machine
from tests.campaigns import planar_families as planar
from tests.campaigns import spatial_families as spatial
from tests.campaigns.count_draws import Rng

Family = Callable[[Rng], Any]
#: With couplings, bases that float, and bodies that turn idly: a campaign of their own.
COUPLED: Mapping[str, Family] = {
    family.__name__: family
    for family in (
        coupled.gear_pair,
        coupled.compound_train,
        coupled.planetary,
        coupled.geared_five_bar,
        coupled.rack_and_pinion,
        coupled.slider_crank_with_rack,
        coupled.belt_arm,
        coupled.tendon_finger,
        coupled.coupled_arm,
        coupled.mimic_gripper,
        coupled.bevel_differential,
        coupled.differential_wrist,
        coupled.screw_jack,
        coupled.screw_arm,
        coupled.geared_rotors,
        floating.free_tree,
        floating.free_geared_tree,
        floating.floating_gripper,
        idle.idle_rod,
        idle.idle_pushrods,
        idle.idle_leg,
        idle.idle_tie_rod,
    )
}
#: Of these, what the fast tests look at: gears, a rack, a thread, tendons, a base that floats.
DAILY = (
    "compound_train",
    "planetary",
    "slider_crank_with_rack",
    "screw_jack",
    "tendon_finger",
    "free_geared_tree",
)
#: By name; each gets an equal share.
FAMILIES: Mapping[str, Family] = {
    family.__name__: family
    for family in (
        planar.parallelogram,
        planar.antiparallelogram,
        planar.rhombus,
        planar.kite,
        planar.coincident_four_bar,
        planar.equal_slider_crank,
        planar.slider_crank,
        planar.scotch_yoke,
        planar.trammel,
        planar.oldham,
        planar.turning_block,
        planar.five_bar,
        planar.watt,
        planar.stephenson,
        planar.peaucellier,
        planar.hart,
        planar.pantograph,
        planar.double_parallelogram,
        planar.legs_3rrr,
        planar.planar_arm,
        spatial.planar_in_space,
        spatial.sarrus,
        spatial.rssr,
        spatial.rsur,
        spatial.bell_crank,
        spatial.delta,
        spatial.legs_3rps,
        spatial.tripteron,
        spatial.serial_arm,
        spatial.wrist,
        spatial.vertical_arm,
        spatial.universal_chain,
        spatial.gantry,
        spatial.cardan,
        spatial.bennett,
        spatial.bricard,
        spatial.spherical_four_bar,
        machine.goldberg,
        machine.h4,
        machine.suspension,
        machine.parallel_rusr,
    )
}
