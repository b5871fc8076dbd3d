"""Closing an imported mechanism: where it is assembled, what its coordinates are, and an
excitation that it can follow.

A file's joint values are where its loops may be open, singular, or out of reach. So they are
closed from there if that can be done, else from many starts about it; what is open by little is
closed by changes of dimensions on request.
"""

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from basepar_core.base import nominal_observation
from basepar_core.dynamics import independent_values, prepare, reach
from basepar_core.errors import (
    AssemblyError,
    BaseparError,
    FileError,
    MechanismError,
    Mistake,
    MotionError,
)
from basepar_core.files import loads
from basepar_core.mechanism import Mechanism, joint_type

from .draft import Draft, merge, value_names
from .repair import note, repaired
from .structure import recognised
from .text import mechanism_text

#: Amplitudes of the excitation (rad) that are tried; trees can follow any.
AMPLITUDES = (1.0, 0.5, 0.25, 0.1, 0.03, 0.01)
#: How far from their starts coordinates of closed loops begin (rad): zero is often where links lie
#: flat on each other, or out of reach.
AWAY = (Fraction(0), Fraction("0.3"), Fraction("-0.3"), Fraction("0.8"), Fraction("-0.8"))
#: Starts of joint values: how many at once, and up to how far from the file's (rad; lengths a
#: fifth as many m).
BATCHES = ((16, 1.5), (48, 3.1))
#: How many branches are tried.
BRANCHES = 3


@dataclass(frozen=True)
class Closed:
    """A draft with its text and what that reads back to; `failure`: why it is open."""

    draft: Draft
    text: str
    mechanism: Mechanism
    failure: BaseparError | None = None


def closed(draft: Draft, source: str, tolerance: float, righted: Callable[[], Draft]) -> Closed:
    """Choose coordinates and an assembly, and an excitation that can be followed from there.

    Parameters
    ----------
    tolerance
        m, of the changes of dimensions that may close loops; zero: none.
    righted
        Reads the file once more, with right angles that are such as printed.

    Raises
    ------
    FileError
        Nothing moves.
    """
    failure: BaseparError | None = None
    for trial in _candidates(draft, source, tolerance, righted):
        try:
            return _followed(_with_coordinates(trial, source), source)
        except (MotionError, AssemblyError, MechanismError) as error:
            failure = failure or error
        except FileError as error:  # nothing moves, but might with other dimensions
            if not tolerance:
                raise
            failure = failure or error
    assert failure is not None
    if isinstance(failure, FileError):
        raise failure
    trial = _copied(draft)
    trial.notes.insert(0, f"OPEN, to be fixed by hand: {failure.message}")
    text = mechanism_text(trial, AMPLITUDES[-1])
    return Closed(trial, text, loads(text, source), failure)


def _has_loops(draft: Draft) -> bool:
    return len(draft.connections) > len(merge(_copied(draft)).bodies)


def _is_tied(draft: Draft) -> bool:
    """Whether some joint values determine others."""
    return bool(
        _has_loops(draft) or draft.couplings or any(one.pitch for one in draft.connections)
    )


def _copied(draft: Draft) -> Draft:
    """The draft, with notes and coordinates of its own to add to."""
    own = {"notes": [*draft.notes], "coordinates": [*draft.coordinates]}
    return Draft(**{**vars(draft), **own})


def _candidates(
    draft: Draft, source: str, tolerance: float, righted: Callable[[], Draft]
) -> Iterator[Draft]:
    """The draft as it is, then on branches that other starts lead to, then with its structure made
    exact, then with the least change of points."""
    yield draft
    if not _is_tied(draft):
        return
    nearest = yield from _branches(draft, source, BATCHES[: 1 if tolerance else None])
    if not tolerance:
        return
    if draft.nearly_right:
        draft = righted()
        yield draft
        nearest = yield from _branches(draft, source, BATCHES[:1])
    exact, moves = recognised(draft, tolerance)
    if moves:
        yield _noted(exact, note(moves, False))
        nearest = yield from _branches(exact, source, BATCHES[:1], note(moves, False))
    for values in ({}, nearest):
        trial = _begun(exact, source, values) if values else exact
        mechanism = loads(mechanism_text(_copied(trial), AMPLITUDES[0]), source)
        if (found := repaired(trial, mechanism, tolerance)) is not None:
            made = _noted(found[0], note([*moves, *found[1]], True))
            made.preferred = [*made.coordinates, *made.preferred]
            made.coordinates = []
            yield made


def _branches(
    draft: Draft, source: str, batches: Sequence[tuple[int, float]], said: str = ""
) -> Generator[Draft, None, Mapping[str, float]]:
    """The draft assembled where other starts lead to; returns the joint values with the least
    gap."""
    mechanism = loads(mechanism_text(_copied(draft), AMPLITUDES[0]), source)
    count, nearest, least = 0, dict[str, float](), math.inf
    for lanes, most in batches:
        found = reach(mechanism, list(_starts(draft, mechanism, lanes, most)))
        count += lanes
        if found.gap < least:
            nearest, least = dict(found.nearest), found.gap
        for values in found.closed[:BRANCHES]:
            how = f"{len(found.closed)} of {count} starts close"
            yield _noted(_begun(draft, source, values, how), said)
        if found.closed:
            break
    return nearest


def _noted(draft: Draft, said: str) -> Draft:
    made = _copied(draft)
    made.notes += [said] * bool(said)
    return made


def _with_coordinates(draft: Draft, source: str) -> Draft:
    """With joint values that determine the others, where the file does not say which.

    Raises
    ------
    FileError
        Nothing moves.
    AssemblyError
        A loop stays open.
    """
    if draft.coordinates or not _is_tied(draft):
        return draft
    mechanism = loads(mechanism_text(_copied(draft), AMPLITUDES[0]), source)
    called = _called(draft, mechanism)
    preferred, avoided = (
        [called[name] for name in names if name in called]
        for names in (draft.preferred, draft.avoided)
    )
    found = independent_values(mechanism, preferred, avoided)
    if not found.count:
        hint = "; --right-angles may let it, see import --help" if draft.nearly_right else ""
        what = f"nothing moves: its loops leave no degree of freedom{hint}"
        raise FileError(source, [Mistake("", what)])
    made = _copied(draft)
    made.coordinates = [theirs for theirs, ours in called.items() if ours in found.values]
    made.closed_at = {theirs: _thousandth(found.at[ours]) for theirs, ours in called.items()}
    return made


def _followed(draft: Draft, source: str) -> Closed:
    """With the largest of some excitations that the mechanism can follow.

    Raises
    ------
    MotionError, AssemblyError, MechanismError
        Of the first try, where there is none.
    """
    failure: BaseparError | None = None
    for away, about in _poses(draft):
        fresh = _copied(draft)
        fresh.begin_at(about)
        if away:
            fresh.notes.append(
                f"assembled with its coordinates {float(away):+g} rad (a fifth as many m) from "
                f"where the file has them"
            )
        model = None
        for amplitude in AMPLITUDES:
            tried = _copied(fresh)  # notes are added on the way
            text = mechanism_text(tried, amplitude, away)
            mechanism = loads(text, source)
            try:
                model = replace(model, mechanism=mechanism) if model else prepare(mechanism)
                if model.topology.cuts or model.topology.couplings:
                    nominal_observation(model)
            except (MotionError, AssemblyError, MechanismError) as error:
                failure = failure or error
                if model is None:  # a smaller motion does not help
                    break
                continue
            return Closed(tried, text, mechanism)
    assert failure is not None
    raise failure


def _poses(draft: Draft) -> Iterator[tuple[Fraction, Mapping[str, Fraction]]]:
    """Where an assembly may begin: how far from their starts the coordinates do, and joint values
    that are stated besides; where the loops closed comes second."""
    if not draft.coordinates:
        yield AWAY[0], {}
        return
    yield AWAY[0], {}
    if draft.closed_at:
        yield AWAY[0], draft.closed_at
    for away in AWAY[1:]:
        yield away, {}


def _called(draft: Draft, mechanism: Mechanism) -> dict[str, str]:
    """Our joint values by the importer's names for them."""
    return {
        theirs: ours
        for one, joint in zip(draft.connections, mechanism.joints, strict=True)
        for theirs, ours in zip(value_names(one.name, one.kind), joint.values, strict=True)
    }


def _starts(
    draft: Draft, mechanism: Mechanism, lanes: int, most: float
) -> Iterator[dict[str, float]]:
    """Joint values of the mechanism to begin from: the file's, then random ones, within limits
    where there are some."""
    random = Random(lanes)
    for lane in range(lanes):
        values: dict[str, float] = {}
        for one, joint in zip(draft.connections, mechanism.joints, strict=True):
            lengths = joint_type(one.kind).lengths
            named = zip(value_names(one.name, one.kind), joint.values, strict=True)
            for place, (theirs, ours) in enumerate(named):
                far = most * lane / lanes * (0.2 if place in lengths else 1.0)
                start = float(one.start.get(theirs, 0))
                low, high = one.limits.get(theirs, (-far, far))
                span = max(low, start - far), min(high, start + far)
                values[ours] = random.uniform(*span) if lane and span[0] < span[1] else start
        yield values


def _begun(draft: Draft, source: str, values: Mapping[str, float], how: str = "") -> Draft:
    """Assembled at these values, stated to a thousandth: Newton's method finds the rest."""
    made = _copied(draft)
    mechanism = loads(mechanism_text(_copied(draft), AMPLITUDES[0]), source)
    called = {ours: theirs for theirs, ours in _called(draft, mechanism).items()}
    made.begin_at({called[name]: _thousandth(x) for name, x in values.items()})
    starts = {name: x for one in draft.connections for name, x in one.start.items()}
    moved = {called[n]: abs(x - float(starts.get(called[n], 0))) for n, x in values.items()}
    farthest = max(moved, key=lambda name: moved[name])
    if how:
        made.notes.append(
            f"its loops are open where the file has its joints, and {how}: assembled on a branch "
            f"near it, {farthest} farthest off, by {moved[farthest]:.3g} rad or m; check that it "
            f"is the one that is meant"
        )
    return made


def _thousandth(x: float) -> Fraction:
    return Fraction(round(1000 * x), 1000)
