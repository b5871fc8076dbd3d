"""Every value of the library prints short, whatever names a file has, and shows in notebooks."""

import inspect
import re
from importlib import resources

import numpy as np
import pytest

import basepar
from tests.door.test_names import MADE

#: Classes of values, which every test here is held against.
CLASSES = {one.__name__ for one in MADE if inspect.isclass(one)}
#: What a value's text may have.
LONGEST = 1000
#: Files may give a name a hundred characters.
LONG = 100


def long(name):
    return name + "x" * (LONG - len(name))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The four-bar with names as long as names may be."""
    text = resources.files("basepar_core.library").joinpath("four-bar.yaml").read_text()
    text = text.replace("name: four-bar", f"name: {long('four-bar')}")
    for name in ("crank", "coupler", "rocker"):
        text = re.sub(rf"\b{name}\b(?=[:,\]])", long(name), text)
    text = re.sub(r"\b([ABCD])(?=[:\]])", lambda found: long(found[1]), text)
    file = tmp_path_factory.mktemp("long") / "long.yaml"
    file.write_text(text)
    return basepar.load(file)


@pytest.fixture(scope="module")
def values(model, tmp_path_factory):
    """One value of each class, by the class's name."""
    name = model.coordinates[0]
    t = np.linspace(0, 5, 501)
    q, qd, qdd = 0.5 * np.sin([3 * t, 3 * t + np.pi / 2, 3 * t + np.pi]) * [[1], [3], [9]]
    tau = model.torque(q[:, None], qd[:, None], qdd[:, None])[:, 0]
    record = {"t": t, name: q, f"{name}'": qd, f"{name}''": qdd, f"tau.{name}": tau}
    base = model.base()
    document = {
        "mechanism": model.name,
        "objectives": {long("metric"): "minimize"} | {long(f"m{k}"): "minimize" for k in range(9)},
        "trials": 3,
        "feasible": 1,
        "shown_in": {name: {"unit": "mm", "per_si": 1e3} for name in ("m1", "m2", "lx1")},
        "best": [
            {
                "variant": 2,
                "values": {"m1": 1.0, "m2": None},
                "parameters": {"lx1": 0.3},
                "results": {},
                "violations": {},
            }
        ],
    }
    identified = basepar.identify(model, record)
    found = [
        model,
        base,
        model.close([[0.6]]),
        model.animate(),
        basepar.motion(model, "cycle"),
        basepar.reduce(model, criteria=["tolerance", "aic", "aicc", "bic", "mdl", "fpe"]),
        identified,
        identified.payload(record, body=long("rocker")),
        basepar.Cognate(long("cognate"), np.zeros((4, 2)), np.zeros(2), model.mechanism),
        model.instant_centres([[0.6]]),
        basepar.excite(model, random=2, starts=1, harmonics=2),
        basepar.one_dof(model),
        basepar.Study(document, None),
        basepar.Points((long("P"),) * 300, *np.zeros((3, 5, 300, 2))),
        basepar.FunctionSweep(
            dict,
            {"plan": "zip", "variables": {long(f"v{k}"): [1.0, 2.0] for k in range(30)}},
            {"found": "m"},
            name=long("function"),
            version="1",
        ),
        basepar.Contact(long("crank"), np.ones((300, 3)), [0.1, 0.2]),
    ]
    return {type(one).__name__: one for one in found}


def test_there_is_a_value_of_each_class(values):
    assert values.keys() == CLASSES


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_values_print_short(values, name):
    text = repr(values[name])
    assert text.startswith(f"<basepar.{name} ")
    assert len(text) <= LONGEST


def test_what_verify_confirms_prints_short(model):
    assert len(repr(basepar.verify(model.base().certificate()))) <= LONGEST


@pytest.mark.parametrize("name", ["Model", "Base", "Reduction", "Identification", "Study"])
def test_notebooks_show_a_table(values, name):
    shown = values[name]._repr_html_()
    assert "<table>" in shown


def test_designs_are_shown_in_the_units_of_their_files(values):
    shown = values["Study"]._repr_html_()
    assert "<th>lx1 [mm]</th>" in shown
    assert "<td>300</td>" in shown


def test_identified_parameters_are_shown_with_units(values):
    shown = values["Identification"]._repr_html_()
    assert "<th>unit</th>" in shown
    assert "<td>kg m²</td>" in shown


def test_arrays_of_many_coordinates_print_short():
    """Names of 24 legs and joints: the first are listed."""
    model = basepar.load("stewart-gough")
    assert len(repr(model.close(model.assembly))) <= LONGEST
