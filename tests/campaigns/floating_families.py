"""Families on a base that floats: trees, trees with a gear, a gripper with mimic fingers."""

from tests.campaigns.count_draws import G, Rng, coarse
from tests.campaigns.coupled_families import Coupled, ratio
from tests.campaigns.homes import Home, P, R, X, Y, Z
from tests.mechanisms import FREE

#: Directions of joints: along the grid, and one across it.
AXES = [X, Y, Z, (3, 4, 0)]


def _floating(rng: Rng, planar: bool, kinds: list[str]) -> Coupled:
    """A base and a branching tree of joints on it; each joint's value is a coordinate."""
    size = 2 if planar else 3
    home = Coupled(planar, [f"F.{k}" for k in range(1, 4 if planar else 7)])
    home.joint("F", FREE, G, "base", coarse(rng, size))
    for k, kind in enumerate(kinds):
        parent = ["base", *(f"link{j}" for j in range(k))][int(rng.integers(k + 1))]
        # In the plane hinges turn about its normal, and slides lie in it.
        flat = Z if kind == R else AXES[int(rng.choice([0, 1, 3]))]
        axis = flat if planar else AXES[int(rng.integers(len(AXES)))]
        home.joint(f"J{k}", kind, parent, f"link{k}", coarse(rng, size), axis)
        home.coordinates = [*home.coordinates, f"J{k}"]
    return home


def free_tree(rng: Rng) -> Home:
    """One to three hinges or slides, in the plane or in space."""
    kinds = [str(x) for x in rng.choice([R, P], int(rng.integers(1, 4)), p=[0.7, 0.3])]
    return _floating(rng, bool(rng.uniform() < 0.3), kinds)


def free_geared_tree(rng: Rng) -> Home:
    """Two hinges and perhaps a slide; a gear ties the hinges."""
    kinds = [R, R, P][: int(rng.integers(2, 4))]
    home = _floating(rng, bool(rng.uniform() < 0.3), kinds)
    home.coordinates = [name for name in home.coordinates if name != "J1"]
    return home.couple(rng, "mesh", J0=1, J1=ratio(rng))


def floating_gripper(rng: Rng) -> Home:
    """A wrist on the base, and two fingers that slide on it, mirrored or alike."""
    home = _floating(rng, False, [R])
    home.coordinates = [*home.coordinates, "L"]
    home.joint("L", P, "link0", "left", coarse(rng, 3), Y)
    home.joint("R", P, "link0", "right", coarse(rng, 3), Y)
    return home.couple(rng, "mimic", R=1, L=int(rng.choice([-1, 1])))
