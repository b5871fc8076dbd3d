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
from tests.campaigns.paths import CASES, _plain, mechanism, path, squares

LINE = CASES["line"]


def own(case, samples, *targets):
    """Root mean square errors of the printed design by the product."""
    it = loads(yaml.safe_dump(_plain(mechanism(case, samples))))
    model = prepare(it)
    moving = motion.cycle(it, model.assembled.coordinates)
    values = {name: np.array([float(x)]) for name, x in case.printed.items()}
    cycle = ClosedCycle(model, values, moving, trace(model, values, moving.q).q)
    names = [f"path_error(P,{one.name})" for one in targets]
    return [float(find(it, name, targets).value(cycle)[0]) for name in names]


def test_a_printed_design_has_its_printed_error():
    """Acharyya and Mandal (2009), differential evolution, six points of a line: 0.122738."""
    given = np.abs(path(LINE.printed, LINE.crank) - LINE.points)
    # Bars are printed to 1e-6 of lengths that the point's arm enlarges.
    assert np.sqrt((given**2).sum()) == pytest.approx(LINE.error, abs=5e-6)
    points = tuple((p.real, p.imag) for p in LINE.points)
    turn = tuple(float(x) for x in LINE.crank % (2 * np.pi))
    found, free = own(
        LINE,
        1024,
        Target("timed", points, "A", turn, ()),
        Target("free", points, fit=("timing",)),
    )
    # Cubics between 1024 samples err by 3e-11 of the path's size; the errors here are 0.05.
    assert np.sqrt(6) * found == pytest.approx(np.sqrt((given**2).sum()), rel=1e-6)
    least, in_order = squares(LINE, LINE.printed)
    assert in_order
    assert 6 * free**2 == pytest.approx(least, rel=1e-6)
    assert least < (given**2).sum()
