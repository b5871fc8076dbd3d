"""A sample of the campaign: every route at the smallest sizes, and what the table makes of it."""

import multiprocessing
import signal
import subprocess

import pytest

from basepar_core.errors import UsageError
from tests.campaigns import growth
from tests.campaigns.growth_routes import FAMILIES, ROUTES, Subject


def counted(family, size):
    """Base parameters, by hand."""
    if family == "ladders":  # of 12 a cell: a point mass on each of its four pins is on two bodies
        return 8 * size
    return 7 * size - 4  # Mayeda, Yoshida & Osuka 1990, first joint neither along gravity


@pytest.mark.parametrize("family", FAMILIES)
def test_routes(family):
    make, sizes = FAMILIES[family]
    it = Subject(make(sizes[0]))
    wanted, ranks = counted(family, sizes[0]), {}
    for name, route in ROUTES.items():
        if name == "product" and family == "arms":
            with pytest.raises(UsageError, match="is spatial"):
                route(it, 1)()
            continue
        found = route(it, 2)()
        if isinstance(rank := getattr(found, "rank", None), int):
            ranks[name] = rank
        elif name == "kernels: spectra":
            assert found.spectrum.rank.tolist() == [wanted, wanted]
        elif name == "kernels: reduction path":
            assert found[0].removed.shape == (2, wanted + 1)
    assert len(ranks) >= 7
    assert set(ranks.values()) == {wanted}


def test_sizes_grow_as_stated():
    """Their W has more rows than columns, and rank and size are those of the next in the row."""
    for family, (make, sizes) in FAMILIES.items():
        it = Subject(make(sizes[1]))
        base = ROUTES["numeric"](it, 1)()
        assert base.rank == counted(family, sizes[1])
        assert it.motion.q.size > 2 * len(base.parameters)


def test_a_point_in_a_process_of_its_own():
    found = growth.run("ladders", 1, "numeric")
    assert found["rank"] == 8
    assert found["parameters"] == 12
    assert 0 < found["seconds"] < growth.LONG


def _endless():
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # another campaign's test may have left its own
    growth.LIMIT = 0.05
    growth.timed(lambda: sum(iter(int, 1)))


def test_what_takes_too_long_is_ended_and_recorded(monkeypatch):
    child = multiprocessing.get_context("fork").Process(target=_endless)
    child.start()
    child.join(60)  # it needs 0.05 s of CPU
    child.kill()
    assert child.exitcode == -signal.SIGPROF
    ended = subprocess.CompletedProcess([], child.exitcode, "prepared\n", "")
    monkeypatch.setattr(growth.subprocess, "run", lambda *given, **options: ended)
    found = growth.run("arms", 40, "precise")
    assert (found["beyond"], found["at"]) == (growth.LIMIT, "run")
    lines = list(growth.table([found, record("precise", 3), record("precise", 5)]))
    assert "| precise | 27 ms | 125 ms |  |  | > 300 s | – | 12 | – |" in lines


def record(route, size):
    """Of a route whose time goes by the third power, and memory by the second."""
    made = {"family": "arms", "size": size, "route": route, "rank": None}
    return made | {"seconds": 1e-3 * size**3, "peak_MB": size**2 / 2}


def test_exponents():
    assert growth.exponent([(n, 3.0 * n**2.5) for n in (3, 5, 40)]) == pytest.approx(2.5)
    sizes = FAMILIES["arms"][1]
    slow = [record("numeric", 10) | {"seconds": x} for x in (0.5, 90.0)]  # 1 s is the median
    lines = list(growth.table([*slow, *(record("numeric", n) for n in sizes)]))
    own = next(line for line in lines if line.startswith("| numeric"))
    assert own.endswith("| 64 s | 3.00 (3.00) | 800 | 2.00 |")
    steep = [record("numeric", n) | {"seconds": n**3.5} for n in sizes]
    assert any("**3.50 (3.50)**" in line for line in growth.table(steep))
