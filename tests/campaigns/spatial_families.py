"""Spatial families of the campaign of counts: loops, platforms, chains and hinges."""

from fractions import Fraction
from typing import Any

from tests.campaigns.count_draws import ARCS, ROUND, G, Rng, coarse, plus, scale, sign, ways
from tests.campaigns.homes import C, Hinges, Home, P, R, S, U, X, Y, Z, hinges
from tests.campaigns.planar_families import (
    coincident_four_bar,
    equal_slider_crank,
    kite,
    parallelogram,
    slider_crank,
)
from tests.mechanisms import _rotation


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
    k = scale(rng)
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
    home = Home(False, ["A"])
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
    b = (*ways(rng, 1)[0], Fraction(int(rng.integers(0, 3)), 10))
    c = plus(b, (Fraction(6, 10), Fraction(int(rng.integers(2, 6)), 10), Fraction(3, 10)))
    d = plus(c, (Fraction(2, 10), Fraction(-4, 10), Fraction(int(rng.integers(-3, 1)), 10)))
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
        axis = plus(top, foot, -1)
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
        v, w = ways(rng, 2)
        top = [Fraction(0)] * 3
        top[n] = Fraction(1, 5)

        def placed(point: Any, n: int = n, top: Any = top) -> list[Fraction]:
            found = list(top)
            found[(n + 1) % 3] += point[0]
            found[(n + 2) % 3] += point[1]
            return found

        foot, knee = placed(plus(v, w)), placed(v)
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
            shift[int(rng.integers(3))] = Fraction(sign(rng) * int(rng.integers(2, 6)), 10)
        at = plus(at, shift)
    return _chain(rng, [R] * count, axes, points)


def wrist(rng: Rng) -> Home:
    """Three or more hinges through one point."""
    axes = [[Z, Y, Z], [Z, X, Y], [(0, 3, 4), Z, X], [Z, Y, X, Z]][int(rng.integers(4))]
    at = coarse(rng, 3)
    return _chain(rng, [R] * len(axes), list(axes), [at] * len(axes))


def vertical_arm(rng: Rng) -> Home:
    """Hinges and slides along the vertical, as a SCARA's."""
    kinds = [str(rng.choice([R, R, P])) for _ in range(int(rng.integers(2, 5)))]
    points: list[Any] = []
    at: Any = (0, 0, 0)
    for _ in kinds:
        points.append(at)
        at = plus(at, (*ways(rng, 1)[0], 0))
    return _chain(rng, kinds, [Z] * len(kinds), points)


def universal_chain(rng: Rng) -> Home:
    """Universal, cylindrical and spherical joints in a chain."""
    kinds = [str(rng.choice([U, C, S, R])) for _ in range(int(rng.integers(2, 4)))]
    axes = [_corner(rng) for _ in kinds]
    return _chain(rng, kinds, axes, [coarse(rng, 3) for _ in kinds])


def gantry(rng: Rng) -> Home:
    """Slides, square or slanting, with a hinge somewhere."""
    kinds = [P, P, str(rng.choice([P, R])), str(rng.choice([P, R]))][: int(rng.integers(2, 5))]
    order = rng.permutation(len(kinds))
    axes: list[Any] = [X, Y, Z, (3, 4, 0)][: len(kinds)]
    points = [coarse(rng, 3) for _ in kinds]
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
