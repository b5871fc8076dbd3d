"""`evaluate: {beta: true}`: β's distinct entries per variant, against compiled functions of it."""

import json

import numpy as np
import pytest
import xarray as xr

from basepar_core.base.compiled import compiled
from basepar_core.errors import FileError
from basepar_core.mechanism import parameter_unit
from sweeps.chunks.evaluator import prepare
from sweeps.run.standing import layout_of
from sweeps.run.worker import Stage, Task, Work
from sweeps.spec.filters import Filter
from sweeps.spec.reader import from_document, parse_sweep
from sweeps.store import store

SWEEP = """
mechanism: MECHANISM
space: {plan: sobol, variables: VARIABLES, candidates: 8, seed: 3}
evaluate: {rank: none, beta: true}
store: {chunk: 8}
"""
CASES = {
    "four-bar": "{lx1: [0.25, 0.35], lx2: [0.65, 0.75], ly2: [1.0, 1.2], lx3: [1.2, 1.4]}",
    "sla-suspension": "{D31: [0.12, 0.14], D12: [0.31, 0.33], L7: [0.42, 0.43]}",
}
#: Powers of metres in the units of parameters.
METRES = {"kg": 0, "kg m": 1, "kg m^2": 2}


def stored(path, text):
    """A store of all variants, and the base parameters it is of."""
    spec = parse_sweep(text).at(str(path))
    evaluator = prepare(spec)
    layout = layout_of(spec, evaluator)
    store.create(path, layout)
    stages = (Stage(evaluator, layout.parts[0]),)
    Work(str(path), "", spec.plan, Filter.of(spec.mechanism, ()), stages)(Task(0, 0, len(spec)))
    return spec, evaluator.base, xr.open_zarr(path).load()


@pytest.mark.parametrize("name", CASES)
def test_as_the_compiled_functions_have_it(tmp_path, name):
    text = SWEEP.replace("MECHANISM", name).replace("VARIABLES", CASES[name])
    spec, base, data = stored(tmp_path / "sweep.zarr", text)
    functions = compiled(base, spec.mechanism)
    expected = functions.beta({symbol: data[symbol].values for symbol in spec.plan.names})
    rows = json.loads(data.attrs["base"])["base"]
    entries = data["beta"]
    seen = set()
    for place, (row, column) in enumerate(functions.entries):
        eliminated = base.eliminated_names[column]
        label = rows[row]["terms"][eliminated]
        if functions.distinct_of_entry[place] < 0:
            assert label not in entries["beta_entry"].values  # a number, in the text already
            continue
        seen.add(label)
        found = entries.sel(beta_entry=label)
        # Two orders of some tens of operations on numbers near one; a few cancel digits.
        np.testing.assert_allclose(found, expected[:, place], rtol=1e-11, atol=1e-14)
        above, below = (METRES[parameter_unit(x)] for x in (rows[row]["parameter"], eliminated))
        unit = {0: "1", 1: "m", 2: "m^2", -1: "1/m", -2: "1/m^2"}[above - below]
        assert found.coords["beta_entry_unit"].item() == unit
    assert seen == set(entries["beta_entry"].values)
    assert len(seen) == data.sizes["beta_entry"] > 3


def test_a_pole_has_no_numbers(tmp_path):
    text = SWEEP.replace("MECHANISM", "four-bar").replace("sobol", "grid")
    text = text.replace("VARIABLES, candidates: 8, seed: 3", "{lx2: [0, 0.7]}")
    _, _, data = stored(tmp_path / "sweep.zarr", text)
    assert np.isnan(data["beta"].values[0]).all()
    assert np.isfinite(data["beta"].values[1]).all()


def test_it_is_part_of_the_specification():
    text = SWEEP.replace("MECHANISM", "four-bar").replace("VARIABLES", CASES["four-bar"])
    spec, plain = parse_sweep(text), parse_sweep(text.replace("true", "false"))
    assert from_document(spec.document()) == spec
    assert plain.hash == parse_sweep(text.replace(", beta: true", "")).hash != spec.hash
    assert "evaluate.beta: true here, nothing there" in spec.difference(plain.canonical)
    with pytest.raises(FileError, match="no answer 'maybe'"):
        parse_sweep(text.replace("beta: true", "beta: maybe"))
