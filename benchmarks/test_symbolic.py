"""Symbolic base parameters: CPU time of their derivation, and variants per second of β.

    pytest benchmarks/test_symbolic.py --benchmark-only

A derivation is null vectors from the joints and their elimination, as SYMORO's is, from a
mechanism in memory to β as exact fractions. Beside it stands the whole `symbolic()` with its
certificate: generic rank and identities over finite fields, W along the excitation, float64's
check; cold (the first call of the process, after import and assembly) and warm. The
suspension's figure for φ₂ given is held by the derivation. The chain is an arm of 40 revolute
joints, whose axes are z and y in turn, with a symbol for the length of every link, and the
excitation that a file without one is advised to state (640 samples, 25,600 rows of W).
"""

import json
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

from basepar_core.base.compiled import compiled
from basepar_core.base.named_parameters import parameter_indices
from basepar_core.base.symbolic_route import (
    nominal_observation,
    numeric,
    symbolic,
)
from basepar_core.dynamics import closure
from basepar_core.files import mechanism_file
from basepar_core.mechanism.sample_lines import excitation_line
from basepar_core.symbolic.algebraic_roots import symbol_values
from basepar_core.symbolic.elimination import eliminate
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.joint_rules import Transfers, joint_vectors
from benchmarks.conftest import seconds
from workflows import reproduce

ARMS = Path(__file__).parents[1] / "tests" / "fixtures"
PAPER = Path(reproduce.__file__).parent / "low-mobility.yaml"
#: Mechanism, how φ₂ is chosen, and the figures to reach in CPU seconds, by the derivation
#: (SYMORO's arms: 0.04, 0.10) and by the whole.
FIGURES = [
    ("sla-suspension", "given", 0.5, 0.4),
    ("sla-suspension", "searched", 2.0, 0.4),
    ("delta", "searched", None, 0.6),
    ("chain", "searched", None, 2.0),
    ("arm-6r", "greedy", 0.05, None),
    ("arm-7r", "greedy", 0.10, None),
    ("arm-6r", "searched", None, None),
    ("arm-7r", "searched", None, None),
]
VARIANTS = 1_000_000


#: Bodies of the chain; CPU seconds of the numeric route.
CHAIN, NUMERIC = 40, 1.0


def chain():
    """An arm of many bodies."""
    count, at, turns = range(1, CHAIN + 1), [0, 0, 0], ([0, 0, 1], [0, 1, 0])
    document = {
        "name": f"chain of {CHAIN}",
        "space": "spatial",
        "gravity": [0, 0, "-9.81"],
        "geometry": {f"l{k}": {"value": f"{100 + k}/1000", "unit": "m"} for k in count[1:]},
        "bodies": {f"b{k}": {"number": k} for k in count},
        "joints": {
            f"q{k}": {
                "type": "revolute",
                "connects": [f"b{k - 1}" if k > 1 else "ground", f"b{k}"],
                "at": [[f"l{k}", 0, 0] if k > 1 else at, at],
                "axis": [turns[k % 2]] * 2,
                "reference": [[1, 0, 0]] * 2,
            }
            for k in count
        },
        "coordinates": [f"q{k}" for k in count],
    }
    bare = mechanism_file.loads(json.dumps(document))
    stated = yaml.safe_load(excitation_line(bare))
    return mechanism_file.loads(json.dumps(document | stated))


def load(name):
    if name == "chain":
        return chain()
    return mechanism_file.load(ARMS / f"{name}.yaml" if name.startswith("arm") else name)


def choice(mechanism, how):
    """φ₂ of the paper where it is given."""
    if how != "given":
        return None
    paper = yaml.safe_load(PAPER.read_text())
    return parameter_indices(mechanism, paper["no_effect"] + paper["transferred"])


@pytest.mark.benchmark(group="symbolic base parameters, derivation")
@pytest.mark.parametrize(("name", "how", "of_derivation", "of_whole"), FIGURES)
def test_derivation(benchmark, capsys, figure, name, how, of_derivation, of_whole):
    mechanism = load(name)
    model, wanted = closure.prepare(mechanism), choice(mechanism, how)
    begun = time.process_time()
    symbolic(model, wanted)
    cold = time.process_time() - begun

    def derive():
        field = GeometryField.of(mechanism)
        vectors = joint_vectors(Transfers(mechanism, field))
        return eliminate(field, vectors, mechanism.parameter_names, wanted, how == "searched")

    found = benchmark.pedantic(derive, rounds=5, warmup_rounds=1)
    _, cpu = seconds(derive)
    _, whole = seconds(lambda: symbolic(model, wanted), 1)
    entries = sum(map(len, found.beta.values()))
    _, seen = seconds(lambda: nominal_observation(model), 1)
    benchmark.extra_info |= {"whole warm": whole, "of it W": seen, "entries": entries}
    with capsys.disabled():
        print(f"\n  {name}, φ₂ {how}: {entries} entries; whole warm {whole:.2f} s, W {seen:.2f} s")
    figure("derivation, CPU s", cpu, of_derivation)
    figure("whole symbolic(), CPU s", max(cold, whole), of_whole)


@pytest.mark.benchmark(group="numeric route of a chain")
def test_numeric_route_of_the_chain(benchmark, figure):
    model = closure.prepare(chain())
    begun = time.process_time()
    numeric(model)
    cold = time.process_time() - begun
    found = benchmark.pedantic(lambda: numeric(model), rounds=3)
    assert found.rank == symbolic(model, exact=False).rank
    figure("numeric route, CPU s", max(cold, seconds(lambda: numeric(model), 3)[1]), NUMERIC)


@pytest.fixture(scope="module")
def suspension():
    mechanism = mechanism_file.load("sla-suspension")
    base = symbolic(closure.prepare(mechanism), exact=False)
    functions = compiled(base, mechanism, jit=True)
    rng = np.random.default_rng(5)
    values = {
        name: mechanism.nominal[name] * rng.uniform(0.8, 1.2, VARIANTS)
        for name in functions.beta_symbols
    }
    return mechanism, base, functions, values


@pytest.mark.benchmark(group="β of the suspension at a million geometries")
@pytest.mark.parametrize("what", ["beta", "distinct_beta"])
def test_beta_against_plain_numpy(suspension, against, figure, benchmark, what):
    mechanism, base, functions, values = suspension
    function = getattr(functions, what)
    out = function(values)

    def ours():
        return function(values, out)

    def theirs():
        return base.beta_entries(symbol_values(mechanism, values))

    plain = theirs().T
    places = np.array(functions.distinct_of_entry)
    found = out if what == "beta" else out[:, places[places >= 0]]
    expected = plain if what == "beta" else plain[:, places >= 0]
    # The same rational functions in another order of operations.
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    against(ours, theirs, VARIANTS, "variant")
    rate = 1e6 / benchmark.extra_info["ours cpu us/variant"]
    figure("variants per CPU second", rate, 1e7, least=True)


@pytest.mark.benchmark(group="derivatives of the suspension, chunks of 10,000 geometries")
@pytest.mark.parametrize("what", ["beta_derivative", "base_parameters_derivative"])
def test_derivatives_compiled_against_numpy(suspension, against, what):
    mechanism, base, functions, values = suspension
    part = {name: column[:10_000] for name, column in values.items()}
    fast, plain = getattr(functions, what), getattr(compiled(base, mechanism), what)
    out = plain(part)
    np.testing.assert_allclose(fast(part), out, rtol=1e-12, atol=1e-13)
    against(lambda: fast(part, out), lambda: plain(part, out), 10_000, "variant")
