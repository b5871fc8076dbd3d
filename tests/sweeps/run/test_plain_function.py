"""A sweep of no mechanism: a function of columns, by the same driver, store and workers."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import xarray as xr

from basepar_core.errors import StoreError, UsageError
from sweeps.run.driver import sweep
from sweeps.spec.plans import Plan, Sobol
from sweeps.store import Output, Status

#: A reason of the function's own.
COMPLEX = 100
PLAN = Sobol((("b", -3.0, 3.0), ("c", -1.0, 1.0)), 100, 7)


@dataclass(frozen=True)
class LargerRoot:
    """Of x² + b x + c; a row whose roots are complex is special."""

    outputs = (Output("root", unit="m", long_name="larger root"),)
    coords: ClassVar = {}
    attrs: ClassVar = {"reasons": {COMPLEX: "discriminant below zero"}}

    def __call__(self, columns, passed):
        b, c = columns["b"], columns["c"]
        inner = b**2 - 4 * c
        real = inner >= 0
        return {
            "root": np.where(real, (np.sqrt(np.maximum(inner, 0)) - b) / 2, np.nan),
            "status": np.where(real, Status.SOLVED, Status.SPECIAL).astype(np.int8),
            "reason": np.where(real, 0, COMPLEX).astype(np.int16),
            "reason_value": np.where(real, np.nan, inner),
        }


@dataclass(frozen=True)
class Most:
    """Rows whose b is not above a limit."""

    b: float

    def first_failed(self, columns):
        return (columns["b"] > self.b).astype(np.int64)


@dataclass(frozen=True)
class Quadratics:
    """What the driver asks of a sweep (`sweeps.run.Job`), and no more."""

    store: str
    chunk: int = 16
    plan: Plan = PLAN
    filter: Most = Most(2.0)
    swept: tuple[Output, ...] = (Output("b", unit="m"), Output("c", unit="m^2"))
    variant_seconds: float = 60.0
    title: str = "sweep of quadratics"
    notes: tuple[str, ...] = ()

    def __len__(self):
        return len(self.plan)

    @property
    def hash(self):
        return hashlib.sha256(self.document().encode()).hexdigest()

    def document(self):
        space = {**self.plan.describe(), "where": [f"b <= {self.filter.b}"]}
        return json.dumps({"space": space, "store": {"chunk": self.chunk}})

    def difference(self, other):
        ours = json.loads(self.document())
        return [f"{key}: {ours[key]} here, {other[key]} there" for key in ours]

    def recalled(self, space):
        return self

    def chunked(self, chunk):
        return replace(self, chunk=chunk)


@pytest.mark.slow  # workers
def test_a_function_is_swept_without_a_mechanism(client, tmp_path):
    job = Quadratics(str(tmp_path / "roots.zarr"))
    found = sweep(job, client, evaluator=LargerRoot())
    assert (found.done, found.total, found.evaluated) == (True, 100, 100)
    assert sweep(job, client, evaluator=LargerRoot()).evaluated == 0
    stored = xr.open_zarr(job.store)
    columns = job.plan.rows(0, 100)
    np.testing.assert_array_equal(stored.b, columns["b"])
    roots = np.array([np.roots([1, b, c]) for b, c in zip(*columns.values(), strict=True)])
    kept = columns["b"] <= 2
    real = kept & (roots.imag == 0).all(axis=1)
    assert real.any()
    assert (kept & ~real).any()
    status = np.where(real, Status.SOLVED, np.where(kept, Status.SPECIAL, Status.FILTERED))
    np.testing.assert_array_equal(stored.status, status)
    # Eigenvalues of the companion matrix: rounding of numbers of size one, of its square root
    # where both roots are nearly the same.
    np.testing.assert_allclose(stored.root[real], roots[real].real.max(axis=1), atol=1e-7)
    assert np.isnan(stored.root[~real]).all()
    assert stored.root.attrs["units"] == "m"
    with pytest.raises(StoreError, match="'chunk': 8} here"):
        sweep(job.chunked(8), client, evaluator=LargerRoot())


def test_a_function_must_be_given(tmp_path):
    with pytest.raises(UsageError, match="needs its `evaluator`"):
        sweep(Quadratics(str(tmp_path / "roots.zarr")), None)
