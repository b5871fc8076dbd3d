"""Equality constraints of joints and of fixed tendons as couplings.

MuJoCo ties y − y₀ to a polynomial of x − x₀, each a joint's value or a sum of such (a fixed
tendon's length), counted from the reference pose; so are the values of imported joints. A
coupling is of degree one.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .draft import Coupling
from .mjcf_tendons import is_sum
from .rationals import decimal

#: Coefficients of the polynomial in `eq_data`.
DEGREES = 5


def tied_joints(mujoco: Any, model: Any) -> frozenset[int]:
    """Joints, by number, that stand in equality constraints of joints or fixed tendons."""
    joint, tendon = int(mujoco.mjtEq.mjEQ_JOINT), int(mujoco.mjtEq.mjEQ_TENDON)
    found: set[int] = set()
    for k in range(model.neq):
        ids = {int(model.eq_obj1id[k]), int(model.eq_obj2id[k])} - {-1}
        if int(model.eq_type[k]) == joint:
            found |= ids
        for t in ids if int(model.eq_type[k]) == tendon else ():
            first = int(model.tendon_adr[t])
            found |= {int(j) for j in model.wrap_objid[first : first + int(model.tendon_num[t])]}
    return frozenset(found)


class Couplings:
    """Couplings of one compiled model.

    Parameters
    ----------
    mujoco, model
        The library and a compiled model.
    values
        Names of joint values by degree of freedom.
    reversed_values
        Degrees of freedom that are counted the other way.
    """

    def __init__(
        self, mujoco: Any, model: Any, values: Mapping[int, str], reversed_values: frozenset[int]
    ):
        self.model, self.values, self.reversed = model, values, reversed_values
        self._tendon = int(mujoco.mjtEq.mjEQ_TENDON)
        self._mujoco = mujoco

    def of(self, k: int, name: str) -> Coupling:
        """An equality constraint of joints or tendons.

        Raises
        ------
        ValueError
            It is no coupling; says why, and what to do.
        """
        model = self.model
        data = [float(x) for x in model.eq_data[k][:DEGREES]]
        degree = max((n for n, x in enumerate(data) if x), default=0)
        other = int(model.eq_obj2id[k])
        if degree > 1 and other >= 0:
            raise ValueError(
                f"its polycoef is of degree {degree}, and a coupling is linear; set the "
                f"coefficients from the third on to zero, or remove it"
            )
        kind = self._tendon if model.eq_type[k] == self._tendon else None
        terms = self._terms(int(model.eq_obj1id[k]), kind)
        for value, x in self._terms(other, kind).items() if other >= 0 else ():
            terms[value] = terms.get(value, Fraction(0)) - decimal(data[1]) * x
        terms = {value: x for value, x in terms.items() if x}
        if len(terms) < 2:
            held = ", ".join(terms) or "nothing"
            raise ValueError(
                f"it holds {held} at one value; remove it and that joint, so that the body is "
                f"fixed"
            )
        return Coupling(name, terms, decimal(data[0]))

    def _terms(self, number: int, kind: int | None) -> dict[str, Fraction]:
        """A joint, or all joints of a tendon, with coefficients."""
        model = self.model
        if kind is None:
            return self._joint(number, Fraction(1))
        if not is_sum(self._mujoco, model, number):
            raise ValueError("its tendon is no sum of joint values; remove both")
        found: dict[str, Fraction] = {}
        first = int(model.tendon_adr[number])
        for place in range(first, first + int(model.tendon_num[number])):
            factor = float(model.wrap_prm[place])
            if not np.isfinite(factor):
                raise ValueError("a coefficient of its tendon is not finite")
            for value, x in self._joint(int(model.wrap_objid[place]), decimal(factor)).items():
                found[value] = found.get(value, Fraction(0)) + x
        return found

    def _joint(self, j: int, factor: Fraction) -> dict[str, Fraction]:
        dof = int(self.model.jnt_dofadr[j])
        return {self.values[dof]: -factor if dof in self.reversed else factor}
