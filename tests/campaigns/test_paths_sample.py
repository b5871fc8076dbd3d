"""The campaign of paths: its recomputed errors against print and against the product."""

import numpy as np
import pytest
import yaml

from basepar_core.dynamics import motion
from basepar_core.dynamics.closure import prepare, trace
from basepar_core.files import loads
from basepar_core.metrics import ClosedCycle
from basepar_core.metrics.cycle import find
from basepar_core.metrics.targets import Target
from cluster.client import connect
from cluster.places import Laptop
from tests.campaigns.path_errors import compared, in_order, path, printed, squares
from tests.campaigns.paths import EVERY, mechanism, run
from tests.campaigns.printed_paths import CASES

LINE = CASES["line"]
(MANDAL,) = (one for one in LINE.printed if one.who == "Acharyya, Mandal 2009, DE")


def test_printed_designs_have_their_stated_errors():
    """To the digits that are stated: with these their numbers are what was printed."""
    count = 0
    for case in CASES.values():
        for one in case.printed:
            if one.error is None:
                continue
            own, best, _ = printed(case, one)
            digits = len(f"{one.error:.10g}".replace(".", "").lstrip("0").split("e")[0])
            # Of some the last digit is that of numbers that were printed to eight.
            found = best if own is None else own
            assert found == pytest.approx(one.error, rel=max(10.0 ** (1 - digits), 2e-5)), one.who
            count += 1
    assert count == 10


def own(one, samples, *targets):
    """Root mean square errors of a printed design by the product."""
    it = loads(yaml.safe_dump(mechanism(LINE, samples, shape=False)))
    model = prepare(it)
    moving = motion.cycle(it, model.assembled.coordinates)
    values = dict.fromkeys(EVERY, 0.0) | dict(zip(EVERY, one.design, strict=False))
    columns = {name: np.array([value]) for name, value in values.items()}
    cycle = ClosedCycle(model, columns, moving, trace(model, columns, moving.q).q)
    names = [f"path_error(P,{target.name})" for target in targets]
    return [float(find(it, name, targets).value(cycle)[0]) for name in names]


def test_a_printed_design_has_its_error_by_the_product():
    """Acharyya and Mandal (2009), differential evolution, six points of a line: 0.122738."""
    given = np.abs(path(MANDAL.design, MANDAL.crank) - LINE.points)
    # Bars are printed to 1e-5 of lengths that the point's arm enlarges.
    assert np.sqrt((given**2).sum()) == pytest.approx(0.122738, abs=5e-6)
    points = tuple((p.real, p.imag) for p in LINE.points)
    turn = tuple(float(x) for x in np.array(MANDAL.crank) % (2 * np.pi))
    found, free = own(
        MANDAL,
        1024,
        Target("timed", points, "A", turn, ()),
        Target("free", points, fit=("timing",)),
    )
    # Cubics between 1024 samples err by 3e-11 of the path's size; the errors here are 0.05.
    assert np.sqrt(6) * found == pytest.approx(np.sqrt((given**2).sum()), rel=1e-6)
    least, ordered = squares(LINE, MANDAL.design)
    assert ordered
    assert 6 * free**2 == pytest.approx(least, rel=1e-6)
    assert least < (given**2).sum()


def test_order_is_one_way_round():
    assert in_order(np.array([5.0, 6.0, 0.5, 1.0]))
    assert in_order(np.array([1.0, 0.5, 6.0, 5.0, 5.0]))
    assert not in_order(np.array([1.0, 2.0, 1.5, 3.0]))
    assert not in_order(np.array([0.0, 2.0, 4.0, 6.0, 1.0]))  # more than a turn


def test_a_tie_is_below_the_paths_size():
    assert compared(LINE, 6e-20, 0.0) == "tie"
    assert compared(LINE, 6e-16, 0.0) == "worse"
    assert compared(LINE, 1.0, 1.0 + 1e-6) == "better"


@pytest.mark.slow
def test_five_points_of_an_arc_end_below_every_printed_design():
    with connect(Laptop(workers=1)) as client:
        found = run("arc", 0, client)
    assert found["evaluations"] <= CASES["arc"].evaluations
    best = [printed(CASES["arc"], one)[1] for one in CASES["arc"].printed]
    assert all(compared(CASES["arc"], found["squares"], one) == "better" for one in best)
