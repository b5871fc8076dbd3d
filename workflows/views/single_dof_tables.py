"""Machines of one degree of freedom as tables: CSV with units in the titles."""

from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.single_dof import Machine, effort_unit
from basepar_core.texts import csv_cell, naming


def write_csv(made: Machine, facts: dict[str, Any], path: Path) -> Path:
    """A table: of the motion in time, of the steady turn, or of what is reduced, units in [ ].

    Beside a motion stand m, m′, V′ and the joints at the same places; and of reactions, where
    there is no steady turn that has them, what they are made of.
    """
    unit, motion = facts["unit"], facts.get("run") or facts.get("regime", {}).get("motion")
    q = np.array((motion or facts["curves"])["q"])
    columns: dict[str, Any] = {f"q [{unit}]": q}
    if motion is not None:
        columns |= {"t [s]": motion["t"], f"speed [{unit}/s]": motion["speed"]}
        if "acceleration" in motion:
            columns[f"acceleration [{unit}/s^2]"] = motion["acceleration"]
        columns |= {f"current {name} [A]": x for name, x in motion["currents"].items()}
        reactions = motion.get("reactions", {})
        columns |= {
            f"{one['name']} [{_spelled(one['unit'])}]": reactions[one["name"]]
            for one in facts["reactions"]
            if reactions
        }
    columns |= _reduced_columns(made, facts, q)
    if not (motion or {}).get("reactions"):
        columns |= _reaction_columns(made, facts, q)
    header = ",".join(f'"{name}"' if "," in name else name for name in map(csv_cell, columns))
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = np.column_stack(list(columns.values()))
    with naming(path):
        np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.12g")
    return path


def _reduced_columns(made: Machine, facts: dict[str, Any], q: np.ndarray) -> dict[str, Any]:
    """What depends on q alone."""
    survey, unit = made.survey, facts["unit"]
    curves, slopes = survey.curves(q), survey.curves(q, 1)
    inertia = "kg*m^2" if unit == "rad" else "kg"
    found = {f"m [{inertia}]": curves[0], f"m_prime [{inertia}/{unit}]": slopes[0]}
    found[f"potential_slope [{_spelled(effort_unit(unit))}]"] = curves[1]
    found["potential [J]"] = curves[2]
    own = survey.table.loads.tracked
    for place, (name, one) in enumerate(facts["joints"].items(), start=own):
        found[f"{name} [{one['unit']}]"] = curves[survey.theta_rows][place]
    return found


def _reaction_columns(made: Machine, facts: dict[str, Any], q: np.ndarray) -> dict[str, Any]:
    """Reactions per acceleration, per speed squared, and at rest."""
    curves, found = made.survey.curves(q), {}
    for k, one in enumerate(facts["reactions"]):
        rows, effort = curves[made.survey.virtual_rows(k)], _spelled(one["unit"])
        units = f"{effort}*s^2/{facts['unit']}", f"{effort}*s^2/{facts['unit']}^2", effort
        for row, (word, unit) in enumerate(zip(("m_e1", "m_e2", "at_rest"), units, strict=True)):
            found[f"{one['name']} {word} [{unit}]"] = rows[row]
    return found


def _spelled(unit: str) -> str:
    return unit.replace(" ", "*")
