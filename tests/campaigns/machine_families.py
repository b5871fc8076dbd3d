"""Families of the campaign of counts of many bodies: robots, suspensions; Goldberg's loop."""

from fractions import Fraction
from typing import Any

from tests.campaigns.count_draws import ARCS, G, Rng, plus
from tests.campaigns.homes import Hinges, Home, P, R, S, U, X, Y, Z, hinges


def goldberg(rng: Rng) -> Hinges:
    """Goldberg's 5R: two Bennett loops with one link in common, which is left out.

    Links a-b-a-b and c-b-c-b, all lengths as the sines of their twists; the links a and c that
    meet at a hinge of the common link become one of length a + c and twist alpha + gamma.
    """
    (ca, sa), (cb, sb), (cc, sc) = (ARCS[int(k)] for k in rng.permutation(3))
    k = Fraction(int(rng.integers(1, 4)), 4)
    both = (ca * cc - sa * sc, sa * cc + ca * sc)
    lengths = [k * (sa + sc), k * sb, k * sc, k * sa, k * sb]
    return hinges(lengths, [both, (cb, sb), (cc, sc), (ca, sa), (cb, sb)])


def h4(rng: Rng) -> Home:
    """Four arms with rods; the platform is two halves and a bar between them on vertical hinges.

    The halves keep their orientation, the bar turns: three translations and a rotation.
    """
    k = Fraction(1, 200)
    spread = Fraction(int(rng.integers(2, 5)), 10)
    home = Home(False, ["A1", "A2", "A3", "A4"])
    for n, (x, y) in enumerate([(3, 4), (-4, 3), (-12, -5), (5, -12)]):
        half, shift = ("front", spread) if n < 2 else ("back", -spread)
        r = Fraction(1, 5 if n < 2 else 13)
        out, side = (x * r, y * r, 0), (-y * r, x * r, 0)
        # Square to the arm's hinge and the rod.
        across = (Fraction(56, 65) * out[0], Fraction(56, 65) * out[1], Fraction(-33, 65))

        def at(along: Any, z: Any, out: Any = out, shift: Any = shift) -> tuple[Any, ...]:
            return plus((0, shift, z), out, along)

        elbow, foot = at(53 * k, -56 * k), at(20 * k, -112 * k)
        home.joint(f"A{n + 1}", R, G, f"arm{n + 1}", at(20 * k, 0), side)
        home.joint(f"B{n + 1}", U, f"arm{n + 1}", f"rod{n + 1}", elbow, side, across)
        home.joint(f"C{n + 1}", U, half, f"rod{n + 1}", foot, side, across)
    for half, shift in (("front", spread), ("back", -spread)):
        home.joint(f"V{half}", R, half, "bar", (0, shift, -112 * k), Z)
    return home


def suspension(rng: Rng) -> Home:
    """Two wishbones, knuckle, tie-rod, wheel, perhaps a damper; parallel and equal, or neither."""
    mm = Fraction(1, 1000)
    special = rng.uniform() < 0.5
    home = Home(False, ["A", "W"])
    up = 200 * mm
    low, high = (350 * mm, 0, 20 * mm), (350 * mm, 0, 20 * mm + up)
    if not special:
        high = (int(rng.integers(25, 33)) * 10 * mm, 20 * mm, up + 50 * mm)
    home.joint("A", R, G, "lower", (0, 0, 0), Y)
    home.joint("B", R, G, "upper", (0, 0, up), Y if special else (1, 12, 0))
    home.joint("C", S, "lower", "knuckle", low).joint("D", S, "upper", "knuckle", high)
    inner = (0, 130 * mm, 50 * mm) if special else (70 * mm, 140 * mm, 60 * mm)
    outer = plus(inner, (350 * mm, 0, 20 * mm)) if special else (340 * mm, 120 * mm, 80 * mm)
    home.joint("E", U, G, "tie", inner, Y, Z).joint("F", S, "tie", "knuckle", outer)
    hub = plus(low, (50 * mm, 0, 100 * mm))
    home.joint("W", R, "knuckle", "wheel", hub, X if special else (24, 7, 0))
    if rng.uniform() < 0.5:
        top, foot = (120 * mm, 0, 460 * mm), (200 * mm, 0, 10 * mm)
        if not special:
            top, foot = (140 * mm, -40 * mm, 460 * mm), (200 * mm, 20 * mm, 0)
        home.joint("K", U, G, "tube", top, Y, X)
        home.joint("L", P, "tube", "rod", top, plus(foot, top, -1))
        home.joint("M", S, "rod", "lower", foot)
    return home


def parallel_rusr(rng: Rng) -> Home:
    """R-U-S-R, once or twice, with parallel hinges: the rods keep their slopes."""
    tenth = Fraction(1, 10)
    home = Home(False, ["A"])
    corner = [(Z, X), (X, Y), (Y, Z), (X, Z)][int(rng.integers(4))]
    rise = int(rng.integers(-1, 3)) * tenth
    home.joint("A", R, G, "crank", (0, 0, 0), Z)
    home.joint("B", U, "crank", "rod", (0, 3 * tenth, tenth), *corner)
    home.joint("C", S, "rod", "rocker", (6 * tenth, 4 * tenth, tenth + rise))
    home.joint("D", R, G, "rocker", (6 * tenth, 0, 0), Z)
    if rng.uniform() < 0.5:
        home.joint("E", U, "rocker", "pull", (8 * tenth, 3 * tenth, 2 * tenth), *corner)
        home.joint("F", S, "pull", "lever", (14 * tenth, 4 * tenth, 2 * tenth - rise))
        home.joint("H", R, G, "lever", (14 * tenth, 0, 0), Z)
    return home
