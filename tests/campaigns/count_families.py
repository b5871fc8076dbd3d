"""The named families of the campaign of counts: a function each, from a random generator.

Most are special: sides of one length, parallel or intersecting axes, loops that move though
counting says they should not. A list of directions of one rational length lets unequal
directions have equal lengths.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from tests.campaigns.homes import C, Hinges, Home, P, R, S, U, X, Y, Z, hinges
from tests.mechanisms import _rotation

Rng = np.random.Generator
G = "ground"
#: Of length 65, in units of 1/100 m.
ROUND = [
    (s * x, t * y)
    for pair in ((16, 63), (33, 56), (25, 60), (39, 52))
    for x, y in (pair, pair[::-1])
    for s, t in product((1, -1), repeat=2)
]
#: Rational right angles: cosine and sine.
ARCS = [(Fraction(a, h), Fraction(b, h)) for a, b, h in ((3, 4, 5), (5, 12, 13), (8, 15, 17))]


def _scale(rng: Rng) -> Fraction:
    return Fraction(int(rng.choice([1, 2, 3, 4])), 400)


def _ways(rng: Rng, count: int, apart: float = 0.3) -> list[tuple[Fraction, Fraction]]:
    """Vectors of one length, no two neighbours nearly parallel."""
    k = _scale(rng)
    found: list[tuple[int, int]] = []
    while len(found) < count:
        new = ROUND[int(rng.integers(len(ROUND)))]
        if not found or abs(new[0] * found[-1][1] - new[1] * found[-1][0]) > apart * 65**2:
            found.append(new)
    return [(x * k, y * k) for x, y in found]


def _plus(a: Any, b: Any, share: Any = 1) -> tuple[Any, ...]:
    return tuple(x + share * y for x, y in zip(a, b, strict=True))


def _coarse(rng: Rng, size: int = 2) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(x), 10) for x in rng.integers(-6, 7, size))


def _sign(rng: Rng) -> int:
    return int(rng.choice([-1, 1]))


def _four_bar(points: Any, loose: bool = True) -> Home:
    """Crank, coupler and rocker through four points, the first and last on the ground."""
    a, b, c, d = points
    home = Home(True, ["A"], loose)
    home.joint("A", R, G, "crank", a).joint("B", R, "crank", "coupler", b)
    return home.joint("C", R, "coupler", "rocker", c).joint("D", R, G, "rocker", d)


def parallelogram(rng: Rng) -> Home:
    v, w = _ways(rng, 2)
    w = _plus((0, 0), w, Fraction(int(rng.integers(2, 6)), 3))
    return _four_bar([(0, 0), v, _plus(v, w), w])


def antiparallelogram(rng: Rng) -> Home:
    p, q, h = (Fraction(int(x), 20) for x in (rng.integers(3, 6), rng.integers(7, 12), 6))
    # Diagonals and legs of a trapezoid; the ground is one or the other.
    if rng.uniform() < 0.5:
        return _four_bar([(-p, 0), (-q, h), (p, 0), (q, h)][::-1])
    return _four_bar([(-p, 0), (q, h), (p, 0), (-q, h)])


def rhombus(rng: Rng) -> Home:
    v, w = _ways(rng, 2)
    return _four_bar([(0, 0), v, _plus(v, w), w])


def kite(rng: Rng) -> Home:
    v, w = _ways(rng, 2)
    share = Fraction(int(rng.integers(3, 6)), 4) * Fraction(5, 4)
    far = _plus((0, 0), _plus(v, w), share)
    # The ground is a short side, and the crank the other one or a long one.
    points = [(0, 0), v, far, w]
    return _four_bar(points if rng.uniform() < 0.5 else [points[3], points[2], v, (0, 0)])


def coincident_four_bar(rng: Rng) -> Home:
    """Coupler and rocker, or coupler and ground, of one length; Galloway's and Chebyshev's."""
    v, w, u = _ways(rng, 3)
    half = _plus((0, 0), u, Fraction(int(rng.integers(1, 4)), 4))
    sides = [half, v, w] if rng.uniform() < 0.5 else [v, w, half]
    b = sides[0]
    c = _plus(b, sides[1])
    return _four_bar([(0, 0), b, c, _plus(c, sides[2])])


def _slider(rng: Rng, b: Any, c: Any) -> Home:
    home = Home(True, ["A"])
    home.joint("A", R, G, "crank", (0, 0)).joint("B", R, "crank", "rod", b)
    home.joint("C", R, "rod", "slider", c)
    return home.joint("D", P, G, "slider", c, X)


def equal_slider_crank(rng: Rng) -> Home:
    ((x, y),) = _ways(rng, 1)
    return _slider(rng, (x, y), (2 * x, 0))


def slider_crank(rng: Rng) -> Home:
    (b,) = _ways(rng, 1)
    high = Fraction(0) if rng.uniform() < 0.5 else Fraction(int(rng.integers(-3, 4)), 20)
    return _slider(rng, b, (b[0] + Fraction(int(rng.integers(8, 14)), 10), high))


def scotch_yoke(rng: Rng) -> Home:
    (b,) = _ways(rng, 1)
    home = Home(True, ["A"])
    home.joint("A", R, G, "crank", (0, 0)).joint("B", R, "crank", "block", b)
    axis = Y if rng.uniform() < 0.6 else (3, 4, 0)
    return home.joint("C", P, "block", "yoke", b, axis).joint("D", P, G, "yoke", (b[0], 0), X)


def trammel(rng: Rng) -> Home:
    b = tuple(abs(x) for x in _ways(rng, 1)[0])
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
    (b,) = _ways(rng, 1)
    k = Fraction(65, 100) * abs(b[0] * 100) / abs(b[0] * 100)
    length = Fraction(float(b[0] ** 2 + b[1] ** 2) ** 0.5).limit_denominator(10**4)
    d = (length if rng.uniform() < 0.6 else length * Fraction(1, 2), Fraction(0))
    home = Home(True, ["A"])
    home.joint("A", R, G, "crank", (0, 0)).joint("B", R, "crank", "block", b)
    axis = (b[0] - d[0], b[1], 0)
    return (
        home.joint("C", P, "block", "lever", b, axis).joint("D", R, G, "lever", d) if k else home
    )


def five_bar(rng: Rng) -> Home:
    ways = _ways(rng, 4)
    home = Home(True, ["A", "E"])
    at: Any = (0, 0)
    names = [G, "one", "two", "three", "four", G]
    for k, label in enumerate("ABCD"):
        home.joint(label, R, names[k], names[k + 1], at)
        at = _plus(at, ways[k])
    return home.joint("E", R, G, "four", at)


def watt(rng: Rng) -> Home:
    """Two four-bars in a row; either may be a parallelogram, or have one length."""
    v, w, u = _ways(rng, 3)
    home = _four_bar([(0, 0), v, _plus(v, w), w if rng.uniform() < 0.6 else _plus(w, u, 2)])
    d = home.joints[-1][4][:2]
    pin = _plus(d, u, Fraction(1, 2)) if rng.uniform() < 0.5 else _plus(v, w)
    end = _plus(pin, w, Fraction(int(rng.integers(2, 5)), 2))
    home.joint("E", R, "rocker", "rod", pin).joint("F", R, "rod", "output", end)
    foot = _plus(d, w, Fraction(int(rng.integers(3, 6)), 2))
    return home.joint("G", R, G, "output", _plus(foot, u, Fraction(1, 4)))


def stephenson(rng: Rng) -> Home:
    v, w, u = _ways(rng, 3)
    home = _four_bar([(0, 0), v, _plus(v, w), w if rng.uniform() < 0.3 else _plus(w, u, 2)])
    pin = _plus(v, w, Fraction(1, 2)) if rng.uniform() < 0.5 else _plus(v, u, Fraction(1, 2))
    end = _plus(pin, u, Fraction(3, 2))
    home.joint("E", R, "coupler", "rod", pin).joint("F", R, "rod", "output", end)
    return home.joint("G", R, G, "output", _plus(end, v, -1))


def peaucellier(rng: Rng) -> Home:
    k = _scale(rng)
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


def pantograph(rng: Rng) -> Home:
    v, w = _ways(rng, 2)
    share = Fraction(int(rng.integers(1, 4)), 2)
    p = v
    q = _plus(v, v, share)
    home = Home(True, ["O", "P"])
    home.joint("O", R, G, "long", (0, 0)).joint("P", R, "long", "short", p)
    home.joint("Q", R, "long", "pen", q).joint("N", R, "pen", "link", _plus(q, w))
    return home.joint("M", R, "short", "link", _plus(p, w))


def double_parallelogram(rng: Rng) -> Home:
    """Three cranks under one coupler, or two parallelograms one behind the other."""
    v, w = _ways(rng, 2)
    if rng.uniform() < 0.5:
        home = _four_bar([(0, 0), v, _plus(v, w), w], False)
        foot = _plus((0, 0), w, Fraction(int(rng.integers(3, 6)), 2))
        home.joint("E", R, G, "third", foot)
        return home.joint("F", R, "coupler", "third", _plus(foot, v))
    home = _four_bar([(0, 0), v, _plus(v, w), w])
    home.coordinates = ["A", "E"]
    for name, foot in (("E", v), ("H", _plus(v, w))):
        home.joint(name, R, "coupler", f"upper{name}", foot)
    home.joint("F", R, "upperE", "top", _plus(v, v))
    return home.joint("K", R, "upperH", "top", _plus(_plus(v, w), v))


def legs_3rrr(rng: Rng) -> Home:
    home = Home(True, ["A1", "A2", "A3"])
    ways = _ways(rng, 6)
    for k in range(3):
        top = [(0, 0), (Fraction(2, 10), 0), (Fraction(1, 10), Fraction(2, 10))][k]
        knee = _plus(top, ways[2 * k])
        foot = _plus(knee, ways[2 * k + 1])
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
        at = _plus(at, _ways(rng, 1)[0])
    return home


def _deep(point: Any, turn: Any, lift: Any = 0) -> list[Fraction]:
    """A point of a plane, somewhere in space."""
    v = [Fraction(point[0]), Fraction(point[1]), Fraction(lift)]
    return [sum((turn[i][k] * v[k] for k in range(3)), Fraction(0)) for i in range(3)]


def planar_in_space(rng: Rng) -> Home:
    """A planar loop of spatial hinges: four-bar, slider-crank, parallelogram."""
    flat = [parallelogram, kite, equal_slider_crank, coincident_four_bar, slider_crank][
        int(rng.integers(5))
    ](rng)
    turn = [[Fraction(int(i == k)) for k in range(3)] for i in range(3)]
    if rng.uniform() < 0.6:
        turn = _rotation(rng)
    home = Home(False, ["A"], False)
    for name, kind, first, second, at, axis, _ in flat.joints:
        lift = Fraction(int(rng.integers(-2, 3)), 10)
        point = _deep(at, turn, lift)
        home.joint(name, kind, first, second, point, _deep(axis[:2], turn, axis[2]))
    return home


def sarrus(rng: Rng) -> Home:
    k = _scale(rng)
    home = Home(False, ["A1"], False)
    equal = rng.uniform() < 0.6
    for n in range(2 if rng.uniform() < 0.7 else 3):
        u, w = ROUND[int(rng.integers(len(ROUND)))]
        u, w = abs(u) * k, abs(w) * k
        far = (Fraction(0), 2 * w) if equal else (u / 2, 3 * w)
        out = [(1, 0), (0, 1), (-1, 0)][n]
        axis = (out[1], out[0], 0) if n < 2 else Y

        def at(r: Any, z: Any, out: Any = out) -> tuple[Any, ...]:
            r = r + Fraction(1, 4)
            return (r * out[0], r * out[1], z)

        home.joint(f"A{n + 1}", R, G, f"lower{n + 1}", at(0, 0), axis)
        home.joint(f"B{n + 1}", R, f"lower{n + 1}", f"upper{n + 1}", at(u, w), axis)
        home.joint(f"C{n + 1}", R, f"upper{n + 1}", "platform", at(*far), axis)
    return home


def _direction(rng: Rng) -> Any:
    options: list[Any] = [X, Y, Z, (3, 4, 0), (0, 3, 4), (1, 2, 2), (2, -1, 2), (2, 3, 6)]
    return options[int(rng.integers(len(options)))]


def _corner(rng: Rng) -> tuple[Any, Any]:
    """Two perpendicular directions of rational length."""
    turn = _rotation(rng) if rng.uniform() < 0.4 else None
    if turn is None:
        pairs = [(X, Y), (Y, Z), (Z, X), ((1, 2, 2), (2, 1, -2)), ((3, 4, 0), Z)]
        return pairs[int(rng.integers(len(pairs)))]
    return tuple(row[2] for row in turn), tuple(row[0] for row in turn)


def rssr(rng: Rng) -> Home:
    home = Home(False, ["A", "B.1", "B.2", "B.3"] if False else ["A"])
    turn = (X, Y) if rng.uniform() < 0.5 else _corner(rng)
    home.joint("A", R, G, "crank", (0, 0, 0), Z)
    home.joint(
        "B", S, "crank", "coupler", (Fraction(3, 10), 0, Fraction(int(rng.integers(0, 2)), 10))
    )
    end = (Fraction(4, 10), Fraction(9, 10), Fraction(6, 10))
    home.joint("C", U, "coupler", "rocker", end, *_corner(rng))
    return home.joint("D", R, G, "rocker", (Fraction(9, 10), Fraction(7, 10), 0), turn[0], turn[1])


def rsur(rng: Rng) -> Home:
    """R-S-U-R or R-U-S-R, its hinges skew, parallel or square."""
    axes = [(Z, Z), (Z, X), (Z, (3, 4, 0)), (Z, (1, 2, 2))][int(rng.integers(4))]
    home = Home(False, ["A"])
    b = (*_ways(rng, 1)[0], Fraction(int(rng.integers(0, 3)), 10))
    c = _plus(b, (Fraction(6, 10), Fraction(int(rng.integers(2, 6)), 10), Fraction(3, 10)))
    d = _plus(c, (Fraction(2, 10), Fraction(-4, 10), Fraction(int(rng.integers(-3, 1)), 10)))
    ball_first = rng.uniform() < 0.5
    home.joint("A", R, G, "crank", (0, 0, 0), axes[0])
    if ball_first:
        home.joint("B", S, "crank", "coupler", b).joint(
            "C", U, "coupler", "rocker", c, *_corner(rng)
        )
    else:
        home.joint("B", U, "crank", "coupler", b, *_corner(rng)).joint(
            "C", S, "coupler", "rocker", c
        )
    return home.joint("D", R, G, "rocker", d, axes[1])


def bell_crank(rng: Rng) -> Home:
    """Crank, rod, bell crank, rod, rocker: R-U-S-R twice, a rod's lengths perhaps equal."""
    home = Home(False, ["A"])
    tenth = Fraction(1, 10)
    home.joint("A", R, G, "crank", (0, 0, 0), Y)
    home.joint("B", U, "crank", "push", (0, 0, 3 * tenth), *_corner(rng))
    home.joint("C", S, "push", "bell", (6 * tenth, tenth, 3 * tenth))
    home.joint("D", R, G, "bell", (6 * tenth, tenth, 0), (Y, X, (1, 2, 2))[int(rng.integers(2))])
    home.joint("E", U, "bell", "pull", (7 * tenth, 4 * tenth, 2 * tenth), *_corner(rng))
    home.joint("F", S, "pull", "rocker", (7 * tenth, 11 * tenth, 3 * tenth))
    axis = (Y, X, Z)[int(rng.integers(2))]
    home.joint("G", R, G, "rocker", (7 * tenth, 11 * tenth, -tenth), axis)
    return home


def delta(rng: Rng) -> Home:
    """Arms of one length, rods in parallel pairs or single between universal joints."""
    k = Fraction(1, 200)
    home = Home(False, ["A1", "A2", "A3"])
    single = rng.uniform() < 0.5
    for n, (x, y) in enumerate([(1, 0), (-3, 4), (-3, -4)]):
        r = Fraction(1) if n == 0 else Fraction(1, 5)
        out, side = (x * r, y * r), (-y * r, x * r)

        def at(along: Any, z: Any, across: Any = 0, out: Any = out, side: Any = side) -> list[Any]:
            return [along * out[0] + across * side[0], along * out[1] + across * side[1], z]

        base, elbow = at(20 * k, 0), (20 * k + 33 * k, -56 * k)
        foot = (elbow[0] - 33 * k, elbow[1] - 112 * k)
        axis = (*side, 0)
        home.joint(f"A{n + 1}", R, G, f"arm{n + 1}", base, axis)
        for m, shift in enumerate([0] if single else [5 * k, -5 * k]):
            rod = f"rod{n + 1}{m}"
            top, end = at(elbow[0], elbow[1], shift), at(foot[0], foot[1], shift)
            home.joint(f"B{n + 1}{m}", U, f"arm{n + 1}", rod, top, axis, Z)
            if single:
                home.joint(f"C{n + 1}{m}", U, "platform", rod, end, axis, Z)
            else:
                home.joint(f"C{n + 1}{m}", S, rod, "platform", end)
    return home


def legs_3rps(rng: Rng) -> Home:
    k = Fraction(1, 20)
    home = Home(False, ["P1", "P2", "P3"])
    for n, (x, y) in enumerate([(1, 0), (-3, 4), (-3, -4)]):
        r = Fraction(1) if n == 0 else Fraction(1, 5)
        out = (x * r, y * r)
        far, near = 8 * k, (8 - 5) * k
        foot, top = (far * out[0], far * out[1], 0), (near * out[0], near * out[1], 12 * k)
        home.joint(f"A{n + 1}", R, G, f"tube{n + 1}", foot, (-out[1], out[0], 0))
        axis = _plus(top, foot, -1)
        home.joint(f"P{n + 1}", P, f"tube{n + 1}", f"rod{n + 1}", foot, axis, (-out[1], out[0], 0))
        home.joint(f"C{n + 1}", S, f"rod{n + 1}", "platform", top)
    return home


def tripteron(rng: Rng) -> Home:
    """Three legs, each sliding along an axis of its own and folding about it: translations."""
    home = Home(False, ["A1.1", "A2.1", "A3.1"], False)
    slides = rng.uniform() < 0.5
    if slides:
        home.coordinates = ["A1", "A2", "A3"]
    for n, axis in enumerate([X, Y, Z]):
        v, w = _ways(rng, 2)
        top = [Fraction(0)] * 3
        top[n] = Fraction(1, 5)

        def placed(point: Any, n: int = n, top: Any = top) -> list[Fraction]:
            found = list(top)
            found[(n + 1) % 3] += point[0]
            found[(n + 2) % 3] += point[1]
            return found

        foot, knee = placed(_plus(v, w)), placed(v)
        if slides:
            home.joint(f"A{n + 1}", P, G, f"slide{n + 1}", foot, axis)
            home.joint(f"D{n + 1}", R, f"slide{n + 1}", f"arm{n + 1}", foot, axis)
        else:
            home.joint(f"A{n + 1}", C, G, f"arm{n + 1}", foot, axis)
        home.joint(f"B{n + 1}", R, f"arm{n + 1}", f"rod{n + 1}", knee, axis)
        home.joint(f"C{n + 1}", R, f"rod{n + 1}", "platform", top, axis)
    return home


def _chain(rng: Rng, kinds: list[str], axes: list[Any], points: list[Any]) -> Home:
    names = []
    home = Home(False, [])
    for k, (kind, axis, at) in enumerate(zip(kinds, axes, points, strict=True)):
        count = {R: 1, P: 1, C: 2, U: 2, S: 3}[kind]
        names += [f"J{k}"] if count == 1 else [f"J{k}.{i + 1}" for i in range(count)]
        pair = axis if isinstance(axis[0], tuple | list) else (axis,)
        home.joint(f"J{k}", kind, f"b{k - 1}" if k else G, f"b{k}", at, *pair)
    home.coordinates = names
    return home


def serial_arm(rng: Rng) -> Home:
    """Hinges parallel, square or through one point, some offsets zero."""
    count = int(rng.integers(3, 7))
    axes: list[Any] = []
    points: list[Any] = []
    at: Any = (0, 0, 0)
    for _ in range(count):
        axes.append([X, Y, Z, axes[-1] if axes else Z, (3, 0, 4)][int(rng.integers(5))])
        points.append(at)
        shift = [0, 0, 0]
        if rng.uniform() < 0.7:
            shift[int(rng.integers(3))] = Fraction(_sign(rng) * int(rng.integers(2, 6)), 10)
        at = _plus(at, shift)
    return _chain(rng, [R] * count, axes, points)


def wrist(rng: Rng) -> Home:
    """Three or more hinges through one point."""
    axes = [[Z, Y, Z], [Z, X, Y], [(0, 3, 4), Z, X], [Z, Y, X, Z]][int(rng.integers(4))]
    at = _coarse(rng, 3)
    return _chain(rng, [R] * len(axes), list(axes), [at] * len(axes))


def vertical_arm(rng: Rng) -> Home:
    """Hinges and slides along the vertical, as a SCARA's."""
    kinds = [str(rng.choice([R, R, P])) for _ in range(int(rng.integers(2, 5)))]
    points: list[Any] = []
    at: Any = (0, 0, 0)
    for _ in kinds:
        points.append(at)
        at = _plus(at, (*_ways(rng, 1)[0], 0))
    return _chain(rng, kinds, [Z] * len(kinds), points)


def universal_chain(rng: Rng) -> Home:
    """Universal, cylindrical and spherical joints in a chain."""
    kinds = [str(rng.choice([U, C, S, R])) for _ in range(int(rng.integers(2, 4)))]
    axes = [_corner(rng) for _ in kinds]
    return _chain(rng, kinds, axes, [_coarse(rng, 3) for _ in kinds])


def gantry(rng: Rng) -> Home:
    """Slides, square or slanting, with a hinge somewhere."""
    kinds = [P, P, str(rng.choice([P, R])), str(rng.choice([P, R]))][: int(rng.integers(2, 5))]
    order = rng.permutation(len(kinds))
    axes: list[Any] = [X, Y, Z, (3, 4, 0)][: len(kinds)]
    points = [_coarse(rng, 3) for _ in kinds]
    return _chain(rng, [kinds[k] for k in order], axes, points)


def cardan(rng: Rng) -> Home:
    """One universal joint between shafts that meet; or two with a sliding piece between."""
    home = Home(False, ["A"], False)
    if rng.uniform() < 0.5:
        home.joint("A", R, G, "one", (0, 0, 0), X)
        home.joint("B", U, "one", "two", (Fraction(1, 2), 0, 0), Y, Z)
        end = (Fraction(1, 2) + Fraction(3, 10), Fraction(4, 10), 0)
        # The second shaft's axis passes through the centre, square to the cross's second axis.
        return home.joint("C", R, G, "two", end, (3, 4, 0), Z)
    home.loose = True
    home.joint("A", R, G, "one", (0, 0, 0), X)
    home.joint("B", U, "one", "tube", (Fraction(1, 2), 0, 0), Y, Z)
    mid = (Fraction(8, 10), Fraction(4, 10), 0)
    home.joint("C", P, "tube", "rod", mid, (3, 4, 0), Z)
    home.joint("D", U, "two", "rod", (Fraction(11, 10), Fraction(8, 10), 0), Y, Z)
    axis: Any = X if rng.uniform() < 0.6 else (7, 24, 0)
    return home.joint("E", R, G, "two", (Fraction(16, 10), Fraction(8, 10), 0), axis)


def bennett(rng: Rng) -> Hinges:
    (c1, s1), (c2, s2) = (ARCS[int(k)] for k in rng.choice(3, 2, replace=False))
    k = Fraction(int(rng.integers(1, 4)), 4)
    return hinges([k * s1, k * s2] * 2, [(c1, s1), (c2, s2)] * 2)


def bricard(rng: Rng) -> Hinges:
    """Line-symmetric, trihedral, or orthogonal."""
    kind = int(rng.integers(3))
    right, left = (Fraction(0), Fraction(1)), (Fraction(0), Fraction(-1))
    if kind == 0:
        arcs = [ARCS[int(k)] for k in rng.integers(0, 3, 3)]
        a = [Fraction(int(x), 10) for x in rng.integers(1, 6, 3)]
        d = [Fraction(int(x), 10) for x in rng.integers(0, 3, 3)]
        return hinges(a * 2, arcs * 2, d * 2)
    # a1² + a3² + a5² = a2² + a4² + a6², twists of right angles.
    odd, even = [(1, 4, 8), (2, 5, 6)][int(rng.integers(2))], (4, 4, 7)
    if odd == (2, 5, 6):
        odd, even = (2, 5, 6), (1, 8, 0) if rng.uniform() < 0.3 else (4, 0, 7)
    lengths = [Fraction(x, 10) for pair in zip(odd, even, strict=True) for x in pair]
    return hinges(lengths, [right, left] * 3)


def spherical_four_bar(rng: Rng) -> Hinges:
    """Opposite arcs equal, neighbours equal, all equal, or none."""
    arcs = [ARCS[int(k)] for k in rng.integers(0, 3, 4)]
    kind = int(rng.integers(4))
    if kind == 0:
        arcs[2:] = arcs[:2]
    elif kind == 1:
        arcs[1], arcs[3] = arcs[0], arcs[2]
    elif kind == 2:
        arcs = [(Fraction(0), Fraction(1)), ARCS[0], (Fraction(0), Fraction(1)), ARCS[1]]
    return hinges([0] * 4, arcs)


Family = Callable[[Rng], Any]
#: By name; each gets an equal share. `suspension` is the library's, at other numbers.
FAMILIES: Mapping[str, Family] = {
    family.__name__: family
    for family in (
        parallelogram,
        antiparallelogram,
        rhombus,
        kite,
        coincident_four_bar,
        equal_slider_crank,
        slider_crank,
        scotch_yoke,
        trammel,
        oldham,
        turning_block,
        five_bar,
        watt,
        stephenson,
        peaucellier,
        pantograph,
        double_parallelogram,
        legs_3rrr,
        planar_arm,
        planar_in_space,
        sarrus,
        rssr,
        rsur,
        bell_crank,
        delta,
        legs_3rps,
        tripteron,
        serial_arm,
        wrist,
        vertical_arm,
        universal_chain,
        gantry,
        cardan,
        bennett,
        bricard,
        spherical_four_bar,
    )
}
