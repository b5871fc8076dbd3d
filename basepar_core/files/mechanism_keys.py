"""The keys of mechanism files (docs/mechanism-files.md)."""

from dataclasses import replace

from basepar_core.mechanism import BODY_FORMS, JOINT_TYPES

from .keys import (
    REQUIRED,
    AnyOf,
    ByKey,
    BySpace,
    Each,
    Key,
    Keys,
    Named,
    Quantity,
    Scalar,
    Whole,
    by_word,
)

#: What may name a symbol, a body, a joint, a spring, …
NAME = "[A-Za-z][A-Za-z0-9_]*"
#: A motion of more of them is a slip, and no memory holds it.
MOST_HARMONICS, MOST_SAMPLES = 1000, 1_000_000
FRICTION_KINDS = ("viscous", "coulomb", "offset", "rotor")

_NUMBER, _TEXT = Quantity(), Scalar()
_VECTOR = BySpace(Each(_NUMBER, 2), Each(_NUMBER, 3))
_VECTORS, _ENDS = Each(_VECTOR, 2), Each(_TEXT, 2)
_INERTIA = BySpace(_NUMBER, Each(_NUMBER, 6))
_CENTRE, _MOMENT = ("centre", "first_moment"), ("inertia", "central_inertia")
_TERMS = Each(Each(_NUMBER, 3))

GEOMETRY_SYMBOL = Keys(
    (
        Key("value", _NUMBER, "number in the symbol's `unit`"),
        Key("unit", _TEXT, "such as `mm`, `deg`, `kg/m^3`", "no dimension"),
        Key("bounds", Each(_NUMBER, 2), "`[lower, upper]` of what is reasonable", "none"),
    )
)
CONSTANT = Keys(tuple(key for key in GEOMETRY_SYMBOL.keys if key.name != "bounds"))

SHAPE = Keys(
    (
        Key("circle", _VECTOR, "its middle, m", "one of the three"),
        Key("capsule", _VECTORS, "both ends of its middle line, m", "one of the three"),
        Key("polygon", Each(_VECTOR, least=3), "corners of a convex one, m", "one of the three"),
        Key("radius", _NUMBER, "of circle, capsule or corners, m", "polygon: 0; else required"),
    )
)
_SHAPES = AnyOf((SHAPE, Each(SHAPE, least=1)))
BODY = Keys(
    (
        Key(
            "number", Whole(), "whole number, unique: with 1, `mx1` also names `crank.mx`", "none"
        ),
        Key("mass", _NUMBER, "kg", "none"),
        Key("centre", _VECTOR, "centre of mass, m: `[x, y]` or `[x, y, z]`", "none"),
        Key("first_moment", _VECTOR, "mass times centre, kg m; instead of `centre`", "none"),
        Key(
            "inertia",
            _INERTIA,
            "kg m² about the frame's origin: J, or in space `[Ixx, Ixy, Ixz, Iyy, Iyz, Izz]` "
            "along its axes",
            "none",
        ),
        Key(
            "central_inertia",
            _INERTIA,
            "the same about the centre of mass; instead of `inertia`",
            "none",
        ),
        Key(
            "form",
            Scalar(BODY_FORMS),
            "`massless`, or `slender` ([below](#slender-bodies))",
            "any",
        ),
        Key("shape", _SHAPES, "for clearances: a [shape](#shapes), or a list of them", "none"),
    ),
    together=(("mass",), _CENTRE, _MOMENT),
)

#: In files only: a cylindrical joint whose slide follows its angle.
SCREW = "screw"
#: In the plane the joint of the same values that may connect any two bodies, `planar`.
FREE = "free"
_PITCH = Key("pitch", _NUMBER, "of a screw: m per turn, right-handed", "none")
JOINT = Keys(
    (
        Key("type", Scalar((*JOINT_TYPES, SCREW)), "see below"),
        Key(
            "connects",
            _ENDS,
            "`[first, second]` body, one of them perhaps `ground`; of three bodies on one pin, "
            "two joints at one place",
        ),
        Key(
            "at",
            _VECTORS,
            "the joint's point, `[in the first body's frame, in the second's]`",
            "the origins",
        ),
        Key(
            "axis",
            _VECTORS,
            "direction of the joint's z-axis in both bodies, of any length; equally long in both, "
            "with angles too: `[[0, -sin(a), cos(a)], [0, 0, 1]]`",
            "z in both",
        ),
        Key(
            "reference",
            _VECTORS,
            "direction of its x-axis in both bodies; the part along the axis is taken off",
            "the first of x, y, z that is not parallel to the axis",
        ),
        _PITCH,
    )
)


def _planar_joint(kind: str) -> Keys:
    """A joint's keys in the plane: the axis of most is z, and one that slides has no reference."""
    slides = "z" in JOINT_TYPES[kind].slides
    left_out = "reference" if slides else "axis"
    keys = (
        replace(key, default=REQUIRED) if slides and key.name == "axis" else key
        for key in JOINT.keys
        if key.name not in ("type", "pitch", left_out)
    )
    return Keys(tuple(keys))


_TYPE, *_OTHERS, _ = JOINT.keys
_JOINT = BySpace(
    by_word(
        "type",
        _TYPE.what,
        {k: _planar_joint(k) for k, one in JOINT_TYPES.items() if one.planar}
        | {FREE: _planar_joint("planar")},
    ),
    by_word(
        "type",
        _TYPE.what,
        {k: Keys(tuple(_OTHERS)) for k, one in JOINT_TYPES.items() if one.spatial}
        | {SCREW: Keys((*_OTHERS, replace(_PITCH, default=REQUIRED)))},
    ),
)

COUPLING = Keys(
    (
        Key("values", Named(_NUMBER, least=2), "coefficients by joint value"),
        Key("offset", _NUMBER, "what the products add up to, rad or m", "0"),
    )
)
POINT = Keys(
    (
        Key("body", _TEXT, "the body that carries it, or `ground`"),
        Key("at", _VECTOR, "its place in the body's frame, m", "the frame's origin"),
    )
)
POSE = Keys(
    (
        Key("at", _VECTOR, "the body frame's origin, m", "zero"),
        Key(
            "rotation",
            BySpace(AnyOf((_NUMBER, Each(_NUMBER, 1))), _VECTOR),
            "rotation vector, rad; in the plane one angle",
            "zero",
        ),
    )
)
ASSEMBLY = Named(_NUMBER, own={"bodies": Named(POSE), "points": Named(_VECTOR)})

_SAMPLES = Key("samples", Whole(1, MOST_SAMPLES), "N")
_SEED = Key("seed", Whole(), "of the random numbers")
_AMPLITUDE = Key("amplitude", Named(_NUMBER), "A, the largest deviation, per coordinate")
_DURATION = Key("duration", _NUMBER, "T")
_FILE = Key("file", _TEXT, "CSV with the columns `t` and, per coordinate, `A`, `A'`, `A''` in SI")
_WHICH = "the kind of motion"
EXCITATION = by_word(
    "kind",
    _WHICH,
    {
        "fourier": Keys(
            (
                Key("harmonics", Whole(1, MOST_HARMONICS), "H"),
                Key("base_frequency", _NUMBER, "ω/2π"),
                _AMPLITUDE,
                _SAMPLES,
                _SEED,
            ),
            what="q = q₀ + s Σₖ₌₁ᴴ (aₖ sin kωt + bₖ cos kωt); a, b normal random numbers of the "
            "seed; s such that the largest deviation of a sample is the amplitude; "
            "tᵢ = i/(N·base_frequency)",
        ),
        "sines": Keys(
            (
                _DURATION,
                _SAMPLES,
                Key("terms", Named(_TERMS), "per coordinate a list of `[a, ω, φ]`"),
            ),
            what="q = Σ a sin(ωt + φ), absolute: q₀ does not enter; tᵢ = iT/N",
        ),
        "states": Keys(
            (_SAMPLES, _SEED, _AMPLITUDE, Key("frequency", _NUMBER, "f")),
            what="no motion but N states: q = q₀ + A u, q̇ = 2πf A v, q̈ = (2πf)² A w, each "
            "uniform in −1 … 1",
        ),
        "data": Keys((_FILE,), what="the samples of the file"),
    },
)
LAW = by_word(
    "kind",
    _WHICH,
    {
        "constant_speed": Keys(
            (
                Key("speed", _NUMBER, "of the coordinate"),
                Key("turns", _NUMBER, "how many, of an angle", "this or `duration`"),
                replace(_DURATION, default="this or `turns`"),
            ),
            one_of=(("turns", "duration"),),
            what="q = q₀ + speed·t; T = 2π·turns/speed",
        ),
        "sines": Keys(
            (Key("terms", _TERMS, "list of `[a, ω, φ]`"), _DURATION),
            what="q = Σ a sin(ωt + φ), absolute",
        ),
        "rest_to_rest": Keys(
            (Key("to", _NUMBER, "value at the end"), _DURATION),
            what="from q₀ to `to` by the polynomial of fifth degree that starts and ends at rest, "
            "without acceleration",
        ),
    },
)
_EFFECTIVE = Key(
    "effective_samples",
    _NUMBER,
    "in criteria of reductions, instead of N·(number of coordinates)",
    "none",
)
CYCLE_OF_LAWS = Keys(
    (Key("joints", Named(LAW), "a motion per coordinate"), _SAMPLES, _EFFECTIVE),
)
CYCLE_OF_DATA = Keys((Key("kind", Scalar(("data",)), _WHICH), _FILE, _EFFECTIVE))

FRICTION = Keys(
    tuple(
        Key(kind, _NUMBER, what, "none")
        for kind, what in zip(
            FRICTION_KINDS,
            ("N m s/rad (N s/m)", "N m (N)", "N m (N)", "kg m² (kg) at the joint"),
            strict=True,
        )
    )
)
_STIFFNESS = Key("stiffness", _NUMBER, "N m/rad or N/m", "none: a column only")
_CONNECTS = Key("connects", _ENDS, "two bodies")
_AT = Key("at", _VECTORS, "a point of each")
SPRING_ON_JOINT = Keys(
    (
        Key("joint", _TEXT, "the joint value"),
        Key("rest", _NUMBER, "the joint value without torque"),
        _STIFFNESS,
    )
)
SPRING = Keys((_CONNECTS, _AT, Key("rest", _NUMBER, "length without force, m"), _STIFFNESS))
DAMPER = Keys((_CONNECTS, _AT, Key("damping", _NUMBER, "N s/m", "none: a column only")))

MOTOR = Keys(
    (
        Key("joint", _TEXT, "the joint value that it drives"),
        Key("voltage", _NUMBER, "U in V"),
        Key("resistance", _NUMBER, "R in Ω"),
        Key("constant", _NUMBER, "K in N m/A, which is also V s/rad"),
        Key("ratio", _NUMBER, "n, motor turns per turn of the joint", "1"),
        Key("inductance", _NUMBER, "L in H, positive", "none"),
        Key("rotor", _NUMBER, "moment of inertia at the motor, kg m²", "none"),
    )
)
_ACTS_ON = Key("joint", _TEXT, "the joint value on which it acts")
TORQUE = Keys(
    (
        _ACTS_ON,
        Key(
            "value",
            _NUMBER,
            "any expression in symbols, and in `position` and `speed` of its joint",
        ),
        Key(
            "when",
            Scalar(("rising", "falling")),
            "acts only while the joint's value is `rising`, or `falling`",
            "always",
        ),
    )
)
TORQUE_OF_PIECES = Keys(
    (
        _ACTS_ON,
        Key(
            "pieces",
            _TERMS,
            "instead of `value`: `[[from, to, torque], …]` over ranges of the joint, or of "
            "another one; the torque an expression in symbols",
        ),
        Key(
            "along",
            _TEXT,
            "with `pieces`: the joint value whose ranges they are",
            "the joint itself",
        ),
    )
)

MECHANISM = Keys(
    (
        Key("name", _TEXT, "one line, at most 100 characters"),
        Key("description", _TEXT, "any text", "empty"),
        Key("space", Scalar(("planar", "spatial")), "`planar` or `spatial`"),
        Key(
            "gravity",
            _VECTOR,
            "acceleration in the world frame, m/s²: `[0, -9.81]` or `[0, 0, -9.81]`; `[0, 0]` is "
            "none",
        ),
        Key(
            "geometry",
            Named(GEOMETRY_SYMBOL, NAME),
            "symbols with `value`, `unit`, `bounds`: what a sweep may vary",
            "none",
        ),
        Key(
            "constants",
            Named(CONSTANT, NAME),
            "symbols with `value`, `unit`: never varied",
            "none",
        ),
        Key("relations", Named(_TEXT), "algebraic numbers: `{r3: r3^2 = 3}`", "none"),
        Key("bodies", Named(BODY, NAME, 1), "the moving bodies; `ground` is always there"),
        Key("joints", Named(_JOINT, NAME), "the joints"),
        Key(
            "couplings",
            Named(COUPLING, NAME),
            "linear relations of joint values: gears, racks, belts, [below](#couplings)",
            "none",
        ),
        Key(
            "coordinates",
            Each(_TEXT, least=1),
            "the independent joint values, as many as there are degrees of freedom",
        ),
        Key(
            "actuated",
            Each(_TEXT),
            "joint values with drives, for metrics of torque",
            "the coordinates",
        ),
        Key(
            "assembly",
            ASSEMBLY,
            "approximate joint values, poses and places of points; they pick the branch",
            "see below",
        ),
        Key(
            "excitation",
            EXCITATION,
            "the motion that rank, singular values and condition use",
            "none",
        ),
        Key(
            "cycle",
            ByKey("kind", CYCLE_OF_DATA, CYCLE_OF_LAWS),
            "the motion that torques, reduction and metrics use",
            "none",
        ),
        Key(
            "noise",
            Named(_NUMBER),
            "standard deviation of each coordinate's torque (force) measurement",
            "none",
        ),
        Key(
            "friction",
            Named(AnyOf((Each(Scalar(FRICTION_KINDS)), FRICTION))),
            "per joint value, [force laws](#force-laws): columns of W, and torques",
            "none",
        ),
        Key(
            "springs",
            Named(ByKey("joint", SPRING_ON_JOINT, SPRING), NAME),
            "on joint values or between points, [force laws](#force-laws)",
            "none",
        ),
        Key("dampers", Named(DAMPER, NAME), "between points, [force laws](#force-laws)", "none"),
        Key(
            "motors",
            Named(MOTOR, NAME),
            "what drives a mechanism of one degree of freedom: [below](#motors-and-torques)",
            "none",
        ),
        Key(
            "torques",
            Named(ByKey("pieces", TORQUE_OF_PIECES, TORQUE), NAME),
            "what drives or loads it: [below](#motors-and-torques)",
            "none",
        ),
        Key(
            "points",
            Named(POINT, NAME),
            "points of bodies whose paths are wanted: [below](#points)",
            "none",
        ),
        Key("shape", _SHAPES, "[shapes](#shapes) that stand on the ground", "none"),
    )
)
