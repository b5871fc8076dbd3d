"""Families with couplings: gears, belts, racks, screws, mimic joints, tendons.

Every joint is at zero at home, so that a coupling without an offset holds there.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.campaigns.count_draws import G, Rng, coarse, ways
from tests.campaigns.homes import C, Home, P, R, Written, X, Y, Z


@dataclass
class Coupled(Home):
    """A home with couplings: name, and coefficients by joint value."""

    couplings: dict[str, dict[str, Any]] = field(default_factory=dict)
    pitches: dict[str, Any] = field(default_factory=dict)

    def couple(self, rng: Rng, name: str, **terms: Any) -> "Coupled":
        """Add a coupling; `value__n` is the value `value.n`."""
        self.couplings[name] = {key.replace("__", "."): x for key, x in terms.items()}
        return self

    def document(self, rng: Rng, it: Written, name: str) -> dict[str, Any]:
        """The file."""
        found = super().document(rng, it, name)
        for joint, pitch in self.pitches.items():
            found["joints"][joint] |= {"type": "screw", "pitch": pitch}
        couplings = {}
        for label, terms in self.couplings.items():
            values = dict(terms)
            if it.style in ("distinct", "mixed"):  # the last coefficient is a symbol
                *_, last = values
                unit = {"unit": "m"} if isinstance(values[last], str) else {}
                number = str(values[last]).removesuffix(" m")
                found["geometry"][f"n_{label}"] = {"value": Fraction(number)} | unit
                values[last] = f"n_{label}"
            couplings[label] = {"values": values}
        return found | {"couplings": couplings}


def ratio(rng: Rng) -> Fraction:
    """Of teeth; sometimes one, often negative."""
    number = Fraction(int(rng.integers(1, 6)), int(rng.integers(1, 4)))
    return number * int(rng.choice([-1, 1]))


def _arm(rng: Rng) -> str:
    """A radius in m."""
    return f"{Fraction(int(rng.integers(1, 9)), 50) * int(rng.choice([-1, 1]))} m"


def gear_pair(rng: Rng) -> Home:
    """Two shafts in the ground."""
    home = Coupled(True, ["A"])
    home.joint("A", R, G, "one", (0, 0)).joint("B", R, G, "two", coarse(rng))
    return home.couple(rng, "mesh", A=1, B=ratio(rng))


def compound_train(rng: Rng) -> Home:
    """Three shafts, each meshing with the next."""
    home = Coupled(True, ["A"])
    for name in "ABC":
        home.joint(name, R, G, f"gear{name}", coarse(rng))
    home.couple(rng, "first", A=1, B=ratio(rng))
    return home.couple(rng, "second", B=1, C=ratio(rng))


def planetary(rng: Rng) -> Home:
    """Sun, carrier, one to three planets, ring fixed or not."""
    free = bool(rng.uniform() < 0.5)
    home = Coupled(True, ["S", "H"] if free else ["S"])
    home.joint("S", R, G, "sun", (0, 0)).joint("C", R, G, "carrier", (0, 0))
    if free:
        home.joint("H", R, G, "ring", (0, 0))
    zs, zp = (int(x) for x in rng.integers(12, 40, 2))
    for k, way in enumerate(ways(rng, int(rng.integers(1, 4)))):
        home.joint(f"P{k}", R, "carrier", f"planet{k}", way)
        home.couple(rng, f"sun{k}", S=zs, C=-zs, **{f"P{k}": zp})
    zr = zs + 2 * zp
    ring = {"H": -zr, "C": zr, "P0": zp} if free else {"C": zr, "P0": zp}
    return home.couple(rng, "ring", **ring)


def geared_five_bar(rng: Rng) -> Home:
    """A five-bar whose cranks mesh: one degree of freedom."""
    a, b, c, d = ways(rng, 4)
    home = Coupled(True, ["A"])
    first, second = (Fraction(0), Fraction(0)), (Fraction(1, 2), Fraction(0))
    elbow = (first[0] + a[0], first[1] + a[1])
    tip = (elbow[0] + b[0], elbow[1] + b[1])
    other = (second[0] + c[0] + d[0], second[1] + c[1] + d[1])
    shift = (tip[0] - other[0], tip[1] - other[1])
    second = (second[0] + shift[0], second[1] + shift[1])
    far = (second[0] + c[0], second[1] + c[1])
    home.joint("A", R, G, "crank", first).joint("B", R, "crank", "rod", elbow)
    home.joint("C", R, "rod", "link", tip).joint("D", R, "link", "lever", far)
    home.joint("E", R, G, "lever", second)
    return home.couple(rng, "mesh", A=1, E=ratio(rng))


def rack_and_pinion(rng: Rng) -> Home:
    """A rack along one of the axes."""
    home = Coupled(True, ["A"])
    home.joint("A", R, G, "pinion", coarse(rng))
    home.joint("K", P, G, "rack", coarse(rng), X if rng.uniform() < 0.5 else (3, 4, 0))
    return home.couple(rng, "rack", K=1, A=_arm(rng))


def slider_crank_with_rack(rng: Rng) -> Home:
    """The slider's rack turns a flywheel."""
    a, b = ways(rng, 2)
    home = Coupled(True, ["A"])
    tip = (a[0] + b[0], a[1] + b[1])
    home.joint("A", R, G, "crank", (0, 0)).joint("B", R, "crank", "rod", a)
    home.joint("C", R, "rod", "slider", tip).joint("K", P, G, "slider", tip, X)
    home.joint("W", R, G, "wheel", coarse(rng))
    return home.couple(rng, "rack", K=1, W=_arm(rng))


def belt_arm(rng: Rng) -> Home:
    """Two links and a hand; belts over the elbows."""
    a, b = ways(rng, 2)
    home = Coupled(True, ["A"])
    tip = (a[0] + b[0], a[1] + b[1])
    home.joint("A", R, G, "upper", (0, 0)).joint("B", R, "upper", "lower", a)
    home.joint("C", R, "lower", "hand", tip)
    keeps = bool(rng.uniform() < 0.5)  # the hand keeps its orientation
    home.couple(rng, "elbow", A=1, B=ratio(rng))
    return home.couple(rng, "hand", A=1, B=1, C=1 if keeps else ratio(rng))


def tendon_finger(rng: Rng) -> Home:
    """Three joints of one tendon, two of them free of it."""
    a, b = ways(rng, 2)
    home = Coupled(True, ["A", "B"])
    tip = (a[0] + b[0], a[1] + b[1])
    home.joint("A", R, G, "first", (0, 0)).joint("B", R, "first", "middle", a)
    home.joint("C", R, "middle", "last", tip)
    return home.couple(rng, "tendon", A=ratio(rng), B=ratio(rng), C=ratio(rng))


def coupled_arm(rng: Rng) -> Home:
    """Four hinges in space along a grid; two couplings."""
    home = Coupled(False, ["A", "B"])
    before = G
    for name in "ABCD":
        axis = [X, Y, Z, (3, 4, 0)][int(rng.integers(4))]
        home.joint(name, R, before, f"link{name}", coarse(rng, 3), axis)
        before = f"link{name}"
    home.couple(rng, "one", A=1, C=ratio(rng))
    return home.couple(rng, "two", B=1, A=1, D=ratio(rng))


def mimic_gripper(rng: Rng) -> Home:
    """Two fingers that slide on a wrist, mirrored or alike."""
    home = Coupled(False, ["W", "L"])
    home.joint("W", R, G, "palm", (0, 0, 0), [X, Y, Z][int(rng.integers(3))])
    home.joint("L", P, "palm", "left", coarse(rng, 3), Y)
    home.joint("R", P, "palm", "right", coarse(rng, 3), Y)
    return home.couple(rng, "mimic", R=1, L=int(rng.choice([-1, 1])))


def bevel_differential(rng: Rng) -> Home:
    """Two wheels' shafts, cage and spider."""
    home = Coupled(False, ["L", "R"])
    home.joint("L", R, G, "left", (0, 0, 0), X).joint("R", R, G, "right", (0, 0, 0), X)
    home.joint("D", R, G, "cage", (0, 0, 0), X)
    home.joint("S", R, "cage", "spider", (0, Fraction(int(rng.integers(0, 3)), 20), 0), Y)
    k = abs(ratio(rng))
    home.couple(rng, "left", L=1, D=-1, S=k)
    return home.couple(rng, "right", R=1, D=-1, S=-k)


def differential_wrist(rng: Rng) -> Home:
    """A hand on two hinges that meet, driven through two shafts at their sum and difference."""
    home = Coupled(False, ["M", "N"])
    home.joint("M", R, G, "shaft1", coarse(rng, 3), X).joint("N", R, G, "shaft2", (0, 0, 0), X)
    home.joint("A", R, G, "cradle", (0, 0, 0), Y).joint("B", R, "cradle", "hand", (0, 0, 0), X)
    k = ratio(rng)
    home.couple(rng, "total", M=1, A=-1, B=k)
    return home.couple(rng, "rest", N=1, A=-1, B=-k)


def screw_jack(rng: Rng) -> Home:
    """A screw in the ground lifts a table on a slide, or one that turns on top of it."""
    home = Coupled(False, ["N.2"], offset=False)
    home.joint("N", C, G, "spindle", (0, 0, 0), Z)
    home.pitches["N"] = f"{int(rng.integers(2, 9))} mm"
    home.joint("T", R, "spindle", "table", (0, 0, 1), Z)
    if rng.uniform() < 0.5:
        home.joint("G", P, G, "table", (0, 0, 1), Z)
    else:
        home.coordinates = ["N.2", "T"]
    return home


def screw_arm(rng: Rng) -> Home:
    """A screw along a grid's axis that carries two hinges."""
    home = Coupled(False, ["N.2", "A", "B"], offset=False)
    home.joint("N", C, G, "nut", coarse(rng, 3), [X, Y, Z][int(rng.integers(3))])
    home.pitches["N"] = f"{int(rng.integers(2, 90))} mm"
    home.joint("A", R, "nut", "upper", coarse(rng, 3), [X, Y, Z][int(rng.integers(3))])
    return home.joint("B", R, "upper", "lower", coarse(rng, 3), [X, Y, Z][int(rng.integers(3))])


def geared_rotors(rng: Rng) -> Home:
    """Two hinges, each with a rotor on the link before that a gear drives."""
    home = Coupled(False, ["A", "B"])
    first, second = ([X, Y, Z][int(k)] for k in rng.integers(0, 3, 2))
    home.joint("A", R, G, "upper", (0, 0, 0), first)
    home.joint("B", R, "upper", "lower", coarse(rng, 3), second)
    home.joint("M", R, G, "rotor1", coarse(rng, 3), first)
    home.joint("N", R, "upper", "rotor2", coarse(rng, 3), second if rng.uniform() < 0.5 else Z)
    home.couple(rng, "drive1", M=1, A=ratio(rng))
    return home.couple(rng, "drive2", N=1, B=ratio(rng))
