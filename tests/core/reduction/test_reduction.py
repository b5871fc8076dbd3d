"""Reduction of one mechanism: what it explains, says and refuses."""

import json
from dataclasses import replace

import numpy as np
import pytest

from basepar_core.dynamics.closure import prepare
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.files.mechanism_file import loads
from basepar_core.reduction import reduce
from basepar_core.reduction.criteria import CRITERIA
from basepar_core.reduction.reduce import effective_samples, own_path, reduce_mechanism
from tests.core.cycles import MECHANISMS, Case, case


class TestOwnPath:
    @pytest.mark.parametrize("variants", [1, 2, 3, 7])
    def test_blocks_make_no_difference(self, variants, monkeypatch):
        one = case("five-bar")
        arguments = one.W, one.phi, one.base.kept, one.noise, one.error
        whole = own_path(*arguments)
        monkeypatch.setattr(reduce, "BLOCK", variants * one.W[0].size)
        path = own_path(*arguments)
        assert (path.removed == whole.removed).all()
        # Sums may run in another order: rounding times the condition of 2e3.
        np.testing.assert_allclose(path.torque_error, whole.torque_error, rtol=1e-9, atol=1e-12)
        scale = np.abs(whole.values).max()
        np.testing.assert_allclose(path.values, whole.values, rtol=1e-9, atol=1e-11 * scale)

    def test_no_variant_is_no_path(self):
        one = case("five-bar")
        path = own_path(one.W[:0], one.phi[:0], one.base.kept, one.noise)
        assert path.removed.shape == (0, 12)
        assert path.values.shape == (0, 12, 11)


class TestReduceMechanism:
    @pytest.mark.parametrize("name", MECHANISMS)
    @pytest.mark.parametrize("method", ["backward", "forward"])
    def test_models_explain_the_torque_as_promised(self, name, method):
        one = case(name)
        reduced = reduce_mechanism(one.model, one.base, method)
        document = json.loads(json.dumps(reduced.document(), allow_nan=False))
        torque = one.torque(one.phi)[0] / one.noise
        base_values = dict(
            zip(
                one.base.base_names,
                one.base.combine(one.phi[:1], nominal_entries(one))[0],
                strict=True,
            )
        )
        for criterion_name, found in document["selected"].items():
            names = [entry["parameter"] for entry in found["parameters"]]
            assert len(names) == found["size"]
            columns = one.W_b[0][..., [one.base.base_names.index(x) for x in names]]
            values = np.array([entry["value"] for entry in found["parameters"]])
            missing = torque - columns @ values / one.noise
            error = np.linalg.norm(missing) / np.linalg.norm(torque)
            # Residuals are differences of numbers the size of the torque: 1e-16 × condition.
            assert error == pytest.approx(found["torque_error"], rel=1e-6, abs=1e-12)
            assert criterion_name != "tolerance" or error < document["tolerance"]
            lengths = np.linalg.norm(
                (columns / one.noise[:, None]).reshape(-1, len(names)), axis=0
            )
            for entry, length in zip(found["parameters"], lengths, strict=True):
                carried = sum(x * base_values[d] for d, x in entry["shares"].items())
                expected = base_values[entry["parameter"]] + carried
                # Two routes to φ_k: least squares of τ, and of the dropped columns. Each errs by
                # the torque's rounding times the condition of 3e4, shared out by column length.
                allowed = 1e-11 * np.linalg.norm(torque) / length
                assert entry["value"] == pytest.approx(expected, rel=1e-9, abs=allowed)

    def test_document_tells_the_path(self):
        one = case("five-bar")
        reduced = reduce_mechanism(one.model, one.base)
        document, path = reduced.document(), reduced.path
        assert document["base"] == list(one.base.base_names)
        assert document["effective_samples"] == 256
        assert document["noise"] == {"A": 0.01, "E": 0.01}
        assert [step["size"] for step in document["steps"]] == list(range(11, -1, -1))
        assert document["steps"][0]["removed"] is None
        assert [one.base.base_names.index(step["removed"]) for step in document["steps"][1:]] == (
            path.removed[0, 1:].tolist()
        )
        assert list(document["steps"][0]["criteria"]) == list(CRITERIA[1:])

    def test_table_marks_where_criteria_stop(self):
        one = case("ur10")
        reduced = reduce_mechanism(one.model, one.base)
        header, lines = reduced.table()
        assert header == ("step", "removed", "size", "torque error", *CRITERIA[1:])
        assert all(len(line) == len(header) for line in lines)
        for place, name in enumerate(CRITERIA):
            marked = [line[2] for line in lines if line[3 + place].endswith("*")]
            assert marked == [str(reduced.selection.size[0, place])], name

    def test_effective_samples(self):
        one = case("five-bar")
        assert effective_samples(one.model.mechanism) == 256
        assert effective_samples(one.model.mechanism, 40) == 40
        source = one.model.mechanism.source
        assert source.count("  samples: 128") == 1
        text = source.replace("  samples: 128", "  samples: 128\n  effective_samples: 30")
        model = prepare(loads(text))
        few = reduce_mechanism(model, one.base).document()
        assert few["effective_samples"] == 30
        assert few["steps"] != reduce_mechanism(one.model, one.base).document()["steps"]

    def test_too_few_effective_samples_are_null_in_json(self):
        one = case("five-bar")
        found = reduce_mechanism(one.model, one.base, samples=5).document()
        assert found["steps"][0]["criteria"]["aic"] is None
        assert found["steps"][-1]["criteria"]["aic"] is not None
        assert found["selected"]["aicc"]["size"] < 4

    def test_without_noise_the_tolerance_is_offered_and_explained(self):
        one = case("four-bar")
        silent = replace(one.model, mechanism=replace(one.model.mechanism, noise=()))
        found = reduce_mechanism(silent, one.base)
        assert list(found.document()["selected"]) == ["tolerance"]
        assert "no noise in it" in found.explanation
        with pytest.raises(MissingDataError, match="State `noise"):
            reduce_mechanism(silent, one.base, criteria=["aic"])
        assert not reduce_mechanism(one.model, one.base).explanation

    def test_what_is_missing_is_named(self):
        one = case("four-bar")
        mechanism = one.model.mechanism
        still = replace(one.model, mechanism=replace(mechanism, cycle=None))
        with pytest.raises(MissingDataError, match="Add `cycle"):
            reduce_mechanism(still, one.base)
        bodies = (
            mechanism.bodies[0],
            *(replace(b, parameters=None) for b in mechanism.bodies[1:]),
        )
        bare = replace(one.model, mechanism=replace(mechanism, bodies=bodies))
        with pytest.raises(MissingDataError, match="coupler, rocker of 'four-bar' have none"):
            reduce_mechanism(bare, one.base)
        with pytest.raises(UsageError, match="Methods are backward, forward"):
            reduce_mechanism(one.model, one.base, "sideways")


def nominal_entries(one: Case) -> np.ndarray:
    return np.array([[entry.value] for entry in one.base.beta])
