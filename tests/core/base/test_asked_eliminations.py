"""A φ₂ that is asked for: what has no effect goes by itself; a choice of ours is no request.

Which parameters of a slider-crank have no effect is plain mechanics: the slider does not turn, so
that only its mass matters, and the crank's mass sits on its hinge.
"""

import pytest

from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.precise_route import precise
from basepar_core.base.product_route import product
from basepar_core.base.symbolic_route import black_box, numeric, symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.errors import EliminationError
from basepar_core.files import mechanism_file
from basepar_core.finite_field.interpolated_beta import black_box_beta

SILENT = {"crank.m", "slider.mx", "slider.my", "slider.J"}
ROUTES = {
    "symbolic": symbolic,
    "numeric": numeric,
    "precise": precise,
    "black-box": black_box,
    "product": product,
}


@pytest.fixture(scope="module")
def slider():
    return prepare(mechanism_file.load("slider-crank"))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("named", [set(), {"crank.m"}, SILENT], ids=["none", "one", "all"])
def test_columns_without_effect_need_no_name(slider, route, named):
    wanted = parameter_indices(slider.mechanism, ["slider.m", "crank.mx", *sorted(named)])
    found = ROUTES[route](slider, wanted)
    assert set(found.eliminated_names) == {"slider.m", "crank.mx"} | SILENT
    assert {found.parameters[k] for k in found.no_effect} == SILENT


@pytest.mark.parametrize("route", ROUTES)
def test_others_are_still_demanded(slider, route):
    wanted = parameter_indices(slider.mechanism, ["slider.m"])
    with pytest.raises(EliminationError):
        ROUTES[route](slider, wanted)


@pytest.mark.parametrize(
    "suggested",
    [["slider.m"], ["slider.m", "crank.mx", "rod.m", "rod.J"]],
    ids=["too few", "too many"],
)
def test_black_box_completes_a_choice_that_nobody_asked_for(slider, suggested):
    """Where the symbolic route misses vectors, or counts a special geometry's."""
    found = black_box_beta(slider, parameter_indices(slider.mechanism, suggested), suggested=True)
    names = {slider.mechanism.parameter_names[k] for k in found.eliminated}
    assert len(names) == 12 - 6
    assert names > SILENT
    assert "slider.m" in names
