"""Planar families of the campaign of counts: four-bars, sliders, six-bars, platforms, an arm."""

from fractions import Fraction
from typing import Any

from tests.campaigns.count_draws import G, Rng, plus, scale, ways
from tests.campaigns.homes import Home, P, R, X, Y, Z


def _four_bar(points: Any, loose: bool = True) -> Home:
    """Crank, coupler and rocker through four points, the first and last on the ground."""
    a, b, c, d = points
    home = Home(True, ["A"], loose)
    home.joint("A", R, G, "crank", a).joint("B", R, "crank", "coupler", b)
    return home.joint("C", R, "coupler", "rocker", c).joint("D", R, G, "rocker", d)


def parallelogram(rng: Rng) -> Home:
    v, w = ways(rng, 2)
    w = plus((0, 0), w, Fraction(int(rng.integers(2, 6)), 3))
    return _four_bar([(0, 0), v, plus(v, w), w])


def antiparallelogram(rng: Rng) -> Home:
    p, q, h = (Fraction(int(x), 20) for x in (rng.integers(3, 6), rng.integers(7, 12), 6))
    # Diagonals and legs of a trapezoid; the ground is one or the other.
    if rng.uniform() < 0.5:
        return _four_bar([(-p, 0), (-q, h), (p, 0), (q, h)][::-1])
    return _four_bar([(-p, 0), (q, h), (p, 0), (-q, h)])


def rhombus(rng: Rng) -> Home:
    v, w = ways(rng, 2)
    return _four_bar([(0, 0), v, plus(v, w), w])


def kite(rng: Rng) -> Home:
    v, w = ways(rng, 2)
    share = Fraction(int(rng.integers(3, 6)), 4) * Fraction(5, 4)
    far = plus((0, 0), plus(v, w), share)
    # The ground is a short side, and the crank the other one or a long one.
    points = [(0, 0), v, far, w]
    return _four_bar(points if rng.uniform() < 0.5 else [points[3], points[2], v, (0, 0)])


def coincident_four_bar(rng: Rng) -> Home:
    """Coupler and rocker, or coupler and ground, of one length; Galloway's and Chebyshev's."""
    v, w, u = ways(rng, 3)
    half = plus((0, 0), u, Fraction(int(rng.integers(1, 4)), 4))
    sides = [half, v, w] if rng.uniform() < 0.5 else [v, w, half]
    b = sides[0]
    c = plus(b, sides[1])
    return _four_bar([(0, 0), b, c, plus(c, sides[2])])


def _slider(rng: Rng, b: Any, c: Any) -> Home:
    home = Home(True, ["A"])
    home.joint("A", R, G, "crank", (0, 0)).joint("B", R, "crank", "rod", b)
    home.joint("C", R, "rod", "slider", c)
    return home.joint("D", P, G, "slider", c, X)


def equal_slider_crank(rng: Rng) -> Home:
    ((x, y),) = ways(rng, 1)
    return _slider(rng, (x, y), (2 * x, 0))


def slider_crank(rng: Rng) -> Home:
    (b,) = ways(rng, 1)
    high = Fraction(0) if rng.uniform() < 0.5 else Fraction(int(rng.integers(-3, 4)), 20)
    return _slider(rng, b, (b[0] + Fraction(int(rng.integers(8, 14)), 10), high))


def scotch_yoke(rng: Rng) -> Home:
    (b,) = ways(rng, 1)
    home = Home(True, ["A"])
    home.joint("A", R, G, "crank", (0, 0)).joint("B", R, "crank", "block", b)
    axis = Y if rng.uniform() < 0.6 else (3, 4, 0)
    return home.joint("C", P, "block", "yoke", b, axis).joint("D", P, G, "yoke", (b[0], 0), X)


def trammel(rng: Rng) -> Home:
    b = tuple(abs(x) for x in ways(rng, 1)[0])
    home = Home(True, ["C"])
    home.joint("A", P, G, "one", (b[0], 0), X).joint("B", R, "one", "rod", (b[0], 0))
    home.joint("C", R, "rod", "two", (0, b[1]))
    return home.joint("D", P, G, "two", (0, b[1]), Y)


def oldham(rng: Rng) -> Home:
    d = Fraction(int(rng.integers(1, 4)), 10)
    home = Home(True, ["A"])
    home.joint("A", R, G, "one", (0, 0)).joint("B", P, "one", "cross", (0, 0), (3, 4, 0))
    axis = (-4, 3, 0) if rng.uniform() < 0.6 else (5, 12, 0)
    return home.joint("C", P, "cross", "two", (d, 0), axis).joint("D", R, G, "two", (d, 0))


def turning_block(rng: Rng) -> Home:
    (b,) = ways(rng, 1)
    length = Fraction(float(b[0] ** 2 + b[1] ** 2) ** 0.5).limit_denominator(10**4)
    d = (length if rng.uniform() < 0.6 else length * Fraction(1, 2), Fraction(0))
    home = Home(True, ["A"])
    home.joint("A", R, G, "crank", (0, 0)).joint("B", R, "crank", "block", b)
    axis = (b[0] - d[0], b[1], 0)
    return home.joint("C", P, "block", "lever", b, axis).joint("D", R, G, "lever", d)


def five_bar(rng: Rng) -> Home:
    sides = ways(rng, 4)
    home = Home(True, ["A", "E"])
    at: Any = (0, 0)
    names = [G, "one", "two", "three", "four", G]
    for k, label in enumerate("ABCD"):
        home.joint(label, R, names[k], names[k + 1], at)
        at = plus(at, sides[k])
    return home.joint("E", R, G, "four", at)


def watt(rng: Rng) -> Home:
    """Two four-bars in a row; either may be a parallelogram, or have one length."""
    v, w, u = ways(rng, 3)
    home = _four_bar([(0, 0), v, plus(v, w), w if rng.uniform() < 0.6 else plus(w, u, 2)])
    d = home.joints[-1][4][:2]
    pin = plus(d, u, Fraction(1, 2)) if rng.uniform() < 0.5 else plus(v, w)
    end = plus(pin, w, Fraction(int(rng.integers(2, 5)), 2))
    home.joint("E", R, "rocker", "rod", pin).joint("F", R, "rod", "output", end)
    foot = plus(d, w, Fraction(int(rng.integers(3, 6)), 2))
    return home.joint("G", R, G, "output", plus(foot, u, Fraction(1, 4)))


def stephenson(rng: Rng) -> Home:
    v, w, u = ways(rng, 3)
    home = _four_bar([(0, 0), v, plus(v, w), w if rng.uniform() < 0.3 else plus(w, u, 2)])
    pin = plus(v, w, Fraction(1, 2)) if rng.uniform() < 0.5 else plus(v, u, Fraction(1, 2))
    end = plus(pin, u, Fraction(3, 2))
    home.joint("E", R, "coupler", "rod", pin).joint("F", R, "rod", "output", end)
    return home.joint("G", R, G, "output", plus(end, v, -1))


def peaucellier(rng: Rng) -> Home:
    k = scale(rng)
    y, u, x = [(12, 5, 16), (12, 9, 35), (12, 5, 35), (24, 10, 32)][int(rng.integers(4))]
    a, b, p, q = (x, y), (x, -y), (x - u, 0), (x + u, 0)
    a, b, p, q = (tuple(Fraction(c) * k * 2 for c in point) for point in (a, b, p, q))
    centre = (p[0] / 2, Fraction(0))
    home = Home(True, ["A"])
    home.joint("A", R, G, "crank", centre)
    home.joint("O1", R, G, "long1", (0, 0)).joint("O2", R, G, "long2", (0, 0))
    home.joint("P1", R, "crank", "side1", p).joint("P2", R, "crank", "side2", p)
    home.joint("A1", R, "long1", "side1", a).joint("B1", R, "long2", "side2", b)
    home.joint("A2", R, "long1", "side3", a).joint("B2", R, "long2", "side4", b)
    return home.joint("Q1", R, "side3", "side4", q)


def hart(rng: Rng) -> Home:
    """Hart's inversor: an antiparallelogram of trapezoid diagonals, cut by a parallel line.

    Half of them guide the pen by the slider it does not need.
    """
    tenth = Fraction(1, 10)
    p, q, h = (int(x) * tenth for x in (rng.integers(7, 10), rng.integers(3, 6), 6))
    t = Fraction(int(rng.integers(2, 5)), 6)
    a, b, c, d = (-p, 0), (q, h), (p, 0), (-q, h)
    fixed, driven = plus(a, plus(b, a, -1), t), plus(a, plus(d, a, -1), t)
    pen = plus(c, plus(b, c, -1), t)
    high = int(rng.integers(-3, 4)) * tenth
    # As far from the fixed point as from the driven one.
    centre = ((fixed[0] + driven[0]) / 2, fixed[1] + high)
    home = Home(True, ["M"])
    home.joint("M", R, G, "crank", centre).joint("P", R, "crank", "side1", driven)
    home.joint("O", R, G, "long1", fixed).joint("A", R, "long1", "side1", a)
    home.joint("B", R, "long1", "side2", b).joint("D", R, "side1", "long2", d)
    home.joint("C", R, "side2", "long2", c)
    if rng.uniform() < 0.5:
        home.loose = False
        home.joint("Q", R, "side2", "block", pen)
        home.joint("S", P, G, "block", pen, (high, fixed[0] - centre[0], 0))
    return home


def pantograph(rng: Rng) -> Home:
    v, w = ways(rng, 2)
    share = Fraction(int(rng.integers(1, 4)), 2)
    p = v
    q = plus(v, v, share)
    home = Home(True, ["O", "P"])
    home.joint("O", R, G, "long", (0, 0)).joint("P", R, "long", "short", p)
    home.joint("Q", R, "long", "pen", q).joint("N", R, "pen", "link", plus(q, w))
    return home.joint("M", R, "short", "link", plus(p, w))


def double_parallelogram(rng: Rng) -> Home:
    """Three cranks under one coupler, or two parallelograms one behind the other."""
    v, w = ways(rng, 2)
    if rng.uniform() < 0.5:
        home = _four_bar([(0, 0), v, plus(v, w), w], False)
        foot = plus((0, 0), w, Fraction(int(rng.integers(3, 6)), 2))
        home.joint("E", R, G, "third", foot)
        return home.joint("F", R, "coupler", "third", plus(foot, v))
    home = _four_bar([(0, 0), v, plus(v, w), w])
    home.coordinates = ["A", "E"]
    for name, foot in (("E", v), ("H", plus(v, w))):
        home.joint(name, R, "coupler", f"upper{name}", foot)
    home.joint("F", R, "upperE", "top", plus(v, v))
    return home.joint("K", R, "upperH", "top", plus(plus(v, w), v))


def legs_3rrr(rng: Rng) -> Home:
    home = Home(True, ["A1", "A2", "A3"])
    sides = ways(rng, 6)
    for k in range(3):
        top = [(0, 0), (Fraction(2, 10), 0), (Fraction(1, 10), Fraction(2, 10))][k]
        knee = plus(top, sides[2 * k])
        foot = plus(knee, sides[2 * k + 1])
        home.joint(f"A{k + 1}", R, G, f"arm{k + 1}", foot)
        home.joint(f"B{k + 1}", R, f"arm{k + 1}", f"rod{k + 1}", knee)
        home.joint(f"C{k + 1}", R, f"rod{k + 1}", "platform", top)
    return home


def planar_arm(rng: Rng) -> Home:
    kinds = [str(rng.choice([R, R, P])) for _ in range(int(rng.integers(2, 5)))]
    home = Home(True, [f"J{k}" for k in range(len(kinds))])
    at: Any = (0, 0)
    for k, kind in enumerate(kinds):
        axis = [X, Y, (3, 4, 0)][int(rng.integers(3))]
        home.joint(f"J{k}", kind, f"b{k - 1}" if k else G, f"b{k}", at, axis if kind == P else Z)
        at = plus(at, ways(rng, 1)[0])
    return home
