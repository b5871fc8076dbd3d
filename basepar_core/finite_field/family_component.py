"""The family, and the component of it, to which the real mechanism belongs.

Points at random orientations may lie elsewhere: a parallelogram drawn so has sides of length
zero. Several integers must agree with the real, assembled mechanism; where they do not,
relations between orientations are looked for on the real branch and become edges of the
orientation graph (decision 8).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from flint import nmod_mat

from basepar_core.dynamics import Model, kinematics, spatial
from basepar_core.errors import FamilyError, MotionError
from basepar_core.mechanism import Mechanism, joint_type
from basepar_core.symbolic import GeometryField, Transfers

from .arithmetic import Draw
from .constraints import jacobian
from .detection import Branch, spin_relations
from .evaluation import Evaluator
from .family import Family, Signature, Slot, SpinRelation, build, candidates
from .frames import joint_frames, locks
from .lengths import closure_rows, exact_number, numeric_rank
from .motion import Motion
from .random_points import InconsistentError, Point, draw_point, field_for, signature, travels
from .seeds import seed_of
from .series import Truncated, coefficients

#: Draws of a loop's square root after which a discriminant that always had one is a square;
#: one that is not passes for one in 2⁻³².
SQUARES = 32
#: Draws in which one of two components must have shown that it closes.
TRIES = 8
#: A length or a travel of the real mechanism that is this small (m) may be zero by structure.
NO_LENGTH = 1e-9
#: What helps where equal dimensions make a linkage special.
OWN_SYMBOLS = (
    " Where a symbol stands in several legs, one of its own for each leg may make it a member of "
    "a family that closes."
)


@dataclass(frozen=True)
class Component:
    """A family on the real mechanism's component, with what its check found.

    Attributes
    ----------
    family
        To draw points from.
    freedoms, dimension, symbols
        f, the dimension of the variety and the number of geometry symbols; f = dimension −
        symbols unless `codimension` relations between symbols are needed to close.
    codimension
        Relations between the symbols that closure demands.
    redundant
        Constraint equations beyond the rank of their Jacobian at a random member. That they last
        along the motion rests on the count of dimensions, at a point that is random.
    notes
        What a reader of a certificate should know, in words.
    """

    family: Family
    freedoms: int
    dimension: int
    symbols: int
    codimension: int
    redundant: int
    notes: tuple[str, ...]
    #: Ranks of members looked at, by seed and size of the prime; see `rank.member_rank`.
    ranks: dict[tuple[tuple[int, ...], int], tuple[int, list[int]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )


def find_component(
    model: Model,
    seed: int = 0,
    prescribed: Mapping[str, Fraction] | None = None,
    relations: Sequence[SpinRelation] = (),
    branch: Branch | None = None,
) -> Component:
    """The family of a mechanism on the component of its real branch.

    Parameters
    ----------
    model
        The mechanism, assembled.
    seed
        Of the points that check it.
    prescribed
        Symbols that keep a value.
    relations
        Edges known beforehand; without any, relations are detected where the check fails.
    branch
        Where they are detected, if it may be sampled already.

    Raises
    ------
    FamilyError
        The family cannot be parametrised in the ways known here; says why.
    """
    prescribed = prescribed or {}
    try:
        plain = _check(model, _closing(model.mechanism, relations, prescribed, seed), seed)
        if relations or not (plain.notes or plain.family.freed):
            return plain
        reason = ""
    except FamilyError as error:
        if relations:
            raise
        plain, reason = None, error.message
    transfers = Transfers(model.mechanism, GeometryField.of(model.mechanism))
    try:
        found = spin_relations(transfers, branch or Branch(model))
    except MotionError:  # nothing can be seen of a motion that cannot be followed
        found = []
    if found:
        try:
            special = _check(model, _closing(model.mechanism, found, prescribed, seed), seed)
            if plain is None or len(special.family.freed) < len(plain.family.freed):
                return special
            if len(special.notes) < len(plain.notes):
                return special
        except FamilyError as error:
            if error.message != reason:
                first = reason.removesuffix(OWN_SYMBOLS)
                reason = f"{first} With the relations seen on the real branch: {error.message}"
    if plain is None:
        raise FamilyError(reason)
    return plain


def _draw(family: Family, seed: int, stage: int) -> Draw:
    rng = np.random.default_rng([seed_of(family.mechanism, "component", seed), stage])
    return field_for(family, rng)


def _closing(
    mechanism: Mechanism,
    relations: Sequence[SpinRelation],
    prescribed: Mapping[str, Fraction],
    seed: int,
) -> Family:
    """The family, with as few numbers freed as let its loops close."""

    def closes(freed: Sequence[Slot]) -> Family | None:
        family = build(mechanism, relations, prescribed, freed)
        draw = _draw(family, seed, 1)
        for _ in range(TRIES):
            try:
                draw_point(family, draw)
            except InconsistentError:
                if not family.closing.with_root:
                    return None
            else:
                return family
        return None

    family = closes(())
    if family is not None:
        return family
    every = candidates(mechanism)
    stages = [k for k in range(1, len(every) + 1) if k == len(every) or _next_stage(every, k)]
    count = next((k for k in stages if closes(every[:k]) is not None), None)
    if count is None:
        raise FamilyError(
            f"The loops of {mechanism.name!r} do not close at random orientations, even with all "
            f"numbers in its points free: its dimensions obey a relation that is not stated."
        )
    kept = every[:count]
    for slot in reversed(kept):
        fewer = [other for other in kept if other is not slot]
        if closes(fewer) is not None:
            kept = fewer
    family = closes(kept)
    assert family is not None
    return family


def _next_stage(every: Sequence[Slot], k: int) -> bool:
    """Whether candidate k is the first of another kind, or of a moving body."""
    before, after = every[k - 1], every[k]
    return not after.on_ground or (before.value == 0) != (after.value == 0)


def _check(model: Model, family: Family, seed: int) -> Component:
    draw = _draw(family, seed, 2)
    family = _on_one_component(model, family, draw)
    try:
        point, motion = start(family, draw)
    except InconsistentError:
        raise FamilyError(
            f"The loops of {model.mechanism.name!r} close at some random orientations and not at "
            f"others: the closure has components of different kinds."
        ) from None
    _nothing_forced_to_zero(model, family, point)
    expected = len(model.mechanism.coordinates)
    if motion.freedoms != expected:
        raise FamilyError(
            f"A random member of the family of {model.mechanism.name!r} has {motion.freedoms} "
            f"degrees of freedom, the real mechanism has {expected}: it is on another component."
        )
    # Points are drawn without further constraints, whose offsets are free: each takes one freedom.
    taken = len(point.further)
    codimension = motion.freedoms + taken - (point.dimension - family.symbols)
    if codimension < 0 or (codimension and not _is_smooth(family, point)):
        raise FamilyError(
            f"The family of {model.mechanism.name!r} has dimension {point.dimension} over "
            f"{family.symbols} symbols of geometry, which does not fit its {motion.freedoms} "
            f"degrees of freedom."
        )
    notes = []
    if _real_length_rank(model, family) != point.length_rank:
        notes.append(
            "the nominal geometry closes in a special way, where the rank may be lower than that "
            "of generic geometry"
        )
    redundant = motion.equations - len(motion.kept)
    return Component(
        family,
        motion.freedoms,
        point.dimension,
        family.symbols,
        codimension,
        redundant,
        tuple(notes),
    )


def start(family: Family, draw: Draw) -> tuple[Point, Motion]:
    """A random point of a family with a random drive."""
    point = draw_point(family, draw)
    return point, Motion(point, family.mechanism.planar, draw)


def _on_one_component(model: Model, family: Family, draw: Draw) -> Family:
    """A family whose orientations close in one way, or told apart by how its lengths close.

    Where the discriminant of a closure is always a square, each of its roots is a component of
    its own. An over-constrained linkage's lengths close on one of them only, or vanish on the
    other.

    Raises
    ------
    FamilyError
        Nothing tells them apart.
    """
    closing = family.closing
    found: set[Signature | None] = set()
    for _ in range(SQUARES):
        if closing.with_root.keys() <= closing.without.keys():
            return family
        try:
            found.add(signature(family, draw_point(family, draw)))
        except InconsistentError:
            found.add(None)
    squares = closing.with_root.keys() - closing.without.keys()
    if not squares:
        return family
    nominal = family.mechanism.nominal
    real = _real_length_rank(model, family)
    good = [
        key
        for key in found
        if key and key[0] == real and not any(abs(nominal[name]) > NO_LENGTH for name in key[1])
    ]
    # Two components of one loop; if all draws look alike, so do they. Relations that hold at
    # the nominal lengths by themselves are the real component's.
    good = [key for key in good if key[2] == max(other[2] for other in good)]
    if len(squares) == 1 and len(found) == 2 and len(good) == 1:
        return replace(family, signature=good[0])
    named = family.forest.edges[min(squares)].name
    raise FamilyError(
        f"The orientations of the loop closed by {named!r} have two solutions of different kinds "
        f"at every geometry; which of them is the real one is not known."
    )


def _nothing_forced_to_zero(model: Model, family: Family, point: Point) -> None:
    nominal = family.mechanism.nominal
    forced = [
        name
        for name in family.unknowns
        if point.values[name] == 0 and abs(nominal[name]) > NO_LENGTH
    ]
    at, _ = _real_poses(model)
    for k, slides in travels(point).items():
        offset = at.P2[k] - at.P1[k]
        joint = model.mechanism.joints[k]
        axes = joint_type(joint.type).directions
        real = [abs(float(spatial.dot(at.X1[k][:, axis], offset).item())) for axis in axes]
        forced += [
            joint.values[place]
            for place, (slide, seen) in enumerate(zip(slides, real, strict=True))
            if slide == 0 and seen > NO_LENGTH
        ]
    if forced:
        raise FamilyError(
            f"At random orientations the loops of {model.mechanism.name!r} close only where "
            f"{', '.join(forced)} vanish: its dimensions make it a special linkage.{OWN_SYMBOLS}"
        )


def _real_poses(model: Model) -> tuple[kinematics.Poses, kinematics.Geometry]:
    dims = kinematics.geometry(model.mechanism, {})
    return kinematics.poses(model.topology, dims, model.assembled.q[:, None]), dims


def _real_length_rank(model: Model, family: Family) -> int:
    """Rank of the closure equations in positions and lengths at the real orientations."""
    at, _ = _real_poses(model)
    wider = family.mechanism
    nominal = {n: x for n, x in wider.nominal.items() if n not in family.unknowns}
    angles = {n: (float(np.cos(x)), float(np.sin(x))) for n, x in nominal.items()}
    evaluator = Evaluator(float, nominal, angles)
    joints = joint_frames(wider, evaluator)
    R = [tuple(tuple(float(x.flat[0]) for x in row) for row in np.asarray(body)) for body in at.R]
    return numeric_rank(closure_rows(joints, R, wider.planar))  # type: ignore[arg-type]


def _is_smooth(family: Family, point: Point) -> bool:
    """Whether only one component passes here: nullity of ∂φ/∂(q, λ) equals the dimension.

    Only for families whose axes contain no symbol, where φ is linear in λ.
    """
    if family.directions or family.angles or family.roots:
        return False
    planar = family.mechanism.planar
    draw = Draw(np.random.default_rng(0), point.prime)
    motion = Motion(point, planar, draw)
    ring = Truncated(point.prime, 1)
    rows = jacobian(point, ring, motion.poses(ring, []), motion.layout)
    known = {name: point.values[name] for name in family.constants}
    numbers = Evaluator(exact_number(point.prime), known, {})
    lengths = iter(closure_rows(joint_frames(family.mechanism, numbers), point.R, planar))
    width, names = motion.layout.width, family.unknowns
    matrix = nmod_mat(len(rows), width + len(names), point.prime)
    position = 0
    for joint in point.joints:
        across, about = locks(joint.kind, planar)
        count = (2 if planar else 3) if across is None else len(across)
        for k in range(count + len(about)):
            for place, series in rows[position].items():
                matrix[position, place] = coefficients(series, 1)[0]
            if k < count:
                row = next(lengths)
                for place, name in enumerate(names):
                    if name in row:
                        matrix[position, width + place] = row[name]
            position += 1
    return width + len(names) - matrix.rank() == point.dimension
