"""Families with slender bodies that turn idly between two balls: rods, legs, tie rods, dampers."""

from fractions import Fraction

from tests.campaigns.count_draws import G, Rng, plus, ways
from tests.campaigns.homes import Home, P, R, S, X, Y, Z

TENTH, MM = Fraction(1, 10), Fraction(1, 1000)


def idle_rod(rng: Rng) -> Home:
    """R-S-S-R, its hinges skew, parallel or square."""
    axes = [(Z, Z), (Z, X), (Z, (3, 4, 0)), (Z, (1, 2, 2))][int(rng.integers(4))]
    home = Home(False, ["A"], slender=["rod"])
    b = (*ways(rng, 1)[0], Fraction(int(rng.integers(0, 3)), 10))
    c = plus(b, (6 * TENTH, Fraction(int(rng.integers(2, 6)), 10), 3 * TENTH))
    d = plus(c, (2 * TENTH, -4 * TENTH, Fraction(int(rng.integers(-3, 1)), 10)))
    home.joint("A", R, G, "crank", (0, 0, 0), axes[0])
    home.joint("B", S, "crank", "rod", b).joint("C", S, "rod", "rocker", c)
    return home.joint("D", R, G, "rocker", d, axes[1])


def idle_pushrods(rng: Rng) -> Home:
    """Crank, rod, bell crank, rod, rocker; both rods between balls."""
    home = Home(False, ["A"], slender=["push", "pull"])
    home.joint("A", R, G, "crank", (0, 0, 0), Y)
    home.joint("B", S, "crank", "push", (0, 0, 3 * TENTH))
    home.joint("C", S, "push", "bell", (6 * TENTH, TENTH, 3 * TENTH))
    home.joint("D", R, G, "bell", (6 * TENTH, TENTH, 0), (Y, X, (1, 2, 2))[int(rng.integers(2))])
    home.joint("E", S, "bell", "pull", (7 * TENTH, 4 * TENTH, 2 * TENTH))
    home.joint("F", S, "pull", "rocker", (7 * TENTH, 11 * TENTH, 3 * TENTH))
    return home.joint(
        "H", R, G, "rocker", (7 * TENTH, 11 * TENTH, -TENTH), (Y, X)[int(rng.integers(2))]
    )


def idle_leg(rng: Rng) -> Home:
    """A cylinder and its piston rod between balls, on the ground and on an arm."""
    home = Home(False, ["A"], slender=["tube", "piston"])
    foot = (Fraction(int(rng.integers(1, 5)), 10), -3 * TENTH, 0)
    top = (Fraction(int(rng.integers(3, 7)), 10), 2 * TENTH, 5 * TENTH)
    home.joint("A", R, G, "arm", (0, 0, 6 * TENTH), (Y, X, (1, 2, 2))[int(rng.integers(3))])
    home.joint("B", S, G, "tube", foot)
    home.joint("L", P, "tube", "piston", foot, plus(top, foot, -1))
    return home.joint("C", S, "piston", "arm", top)


def idle_tie_rod(rng: Rng) -> Home:
    """Two wishbones, knuckle and wheel; tie rod, and perhaps damper, between balls."""
    home = Home(False, ["A", "W"], slender=["tie"])
    low, high = (350 * MM, 0, 20 * MM), (280 * MM, 20 * MM, 250 * MM)
    home.joint("A", R, G, "lower", (0, 0, 0), Y)
    home.joint("B", R, G, "upper", (0, 0, 200 * MM), (1, 12, 0))
    home.joint("C", S, "lower", "knuckle", low).joint("D", S, "upper", "knuckle", high)
    home.joint("E", S, G, "tie", (70 * MM, 140 * MM, 60 * MM))
    home.joint("F", S, "tie", "knuckle", (340 * MM, 120 * MM, 80 * MM))
    home.joint("W", R, "knuckle", "wheel", plus(low, (50 * MM, 0, 100 * MM)), (24, 7, 0))
    if rng.uniform() < 0.5:
        top, foot = (140 * MM, -40 * MM, 460 * MM), (200 * MM, 20 * MM, 0)
        home.joint("K", S, G, "tube", top)
        home.joint("L", P, "tube", "piston", top, plus(foot, top, -1))
        home.joint("M", S, "piston", "lower", foot)
        home.slender = ["tie", "tube", "piston"]
    return home
