"""Cognates: their curves are the given one's, point by point, over a whole turn."""

import numpy as np
import pytest

import basepar
from basepar_core.errors import UsageError
from basepar_core.files import loads
from tests.core.dynamics.test_points import four_bar

GIVEN = "workflows/examples/mechanisms/straight-line.yaml"
OTHER = {"a": 0.04, "b": 0.14, "c": 0.11, "d": 0.12, "e": 0.2, "f": -0.039}


@pytest.fixture(scope="module", params=[{}, OTHER], ids=["straight", "other"])
def given(request):
    return basepar.load(GIVEN, {name: f"{x} m" for name, x in request.param.items()})


def test_three_four_bars_guide_one_point(given):
    crank = given.assembly + np.linspace(0.0, 2 * np.pi, 73)[:, None]
    path = given.points(crank)["P"]
    assert np.isfinite(path).all()
    first, second = basepar.cognates(given, "P")

    # The second one's first bar turns as the given crank does.
    model = second.model
    turned = model.assembly + (crank - given.assembly)
    # Loops close to 1e-13 of lengths below 1 m.
    np.testing.assert_allclose(model.points(turned)["P"], path, rtol=0, atol=1e-12)

    # The first one's coupler does, and its first bar turns as the given coupler: at the pin
    # between them it goes round, the other way than the given one.
    A0, A1, C1, _ = first.pins @ [1, 1j]
    text = first.text.replace("coordinates: [A]", "coordinates: [B]")
    start = float(np.angle((C1 - A1) / (A1 - A0)))
    model = basepar.Model(loads(text.replace("assembly: {", f"assembly: {{B: {start} rad, ")))
    joints = given.close(crank)
    B = np.unwrap(joints.values[:, joints.names.index("B")])
    turned = model.assembly - (B - B[0])[:, None]
    np.testing.assert_allclose(model.points(turned)["P"], path, rtol=0, atol=1e-12)


def test_pins_on_the_ground_are_shared_and_triangles_similar(given):
    first, second = basepar.cognates(given, "P")
    A0, A1, C1, C0 = first.pins @ [1, 1j]
    other, C2, B2, B0 = second.pins @ [1, 1j]
    P = complex(*first.point)
    assert (other, 0.0) == (C0, A0)
    centres = given.instant_centres(given.assembly)
    B, C = (centres[pair] @ [1, 1j] for pair in (("crank", "coupler"), ("coupler", "rocker")))
    w = (P - B) / (C - B)
    # Rounding, of lengths of a tenth.
    assert abs(B0 - given.mechanism.nominal["d"]) < 1e-14
    assert abs((C0 - A0) / (B0 - A0) - w) < 1e-12
    assert abs((C1 - A1) / (P - A1) - w) < 1e-12
    assert abs((C2 - B2) / (P - B2) - (1 - w)) < 1e-12


def test_a_point_on_a_pin_or_off_the_coupler_has_none():
    model = basepar.load(GIVEN, {"b": "180 mm", "e": "180 mm", "f": "0 m"})
    with pytest.raises(UsageError, match="along a circle"):
        basepar.cognates(model, "P")
    mine = basepar.Model(four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}"))
    for point in ("T", "O"):
        with pytest.raises(UsageError, match="no coupler"):
            basepar.cognates(mine, point)
    with pytest.raises(UsageError, match="there are P, T, O"):
        basepar.cognates(mine, "Q")
    assert len(basepar.cognates(mine, "P")) == 2


def test_files_of_cognates_read_again(given, tmp_path):
    _, second = basepar.cognates(given, "P")
    (tmp_path / "second.yaml").write_text(second.text, encoding="utf-8")
    again = basepar.load(tmp_path / "second.yaml")
    assert again.mechanism.source == second.text
    q = again.assembly
    np.testing.assert_array_equal(again.points(q).position, second.model.points(q).position)
