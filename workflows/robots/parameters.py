"""Parameters that an identification has found, from what `basepar identify --json` prints."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

from basepar_core.dynamics import columns
from basepar_core.errors import FileError, Mistake, UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.mechanism import Mechanism
from basepar_core.texts import text_of

from .numbers import more_laws


def identified_parameters(
    mechanism: Mechanism, path: str | Path, without: Sequence[str] = ()
) -> dict[str, float]:
    """Parameters that bodies can have, and friction, by name, SI.

    Parameters
    ----------
    path
        A document of `identify --consistent --json`. Least squares alone determines base
        parameters, which are no body's, so that without `consistent` there is nothing to write.
    without
        Friction that is left out, by kind (`offset`) or name (`A.offset`). Smooth Coulomb
        friction is written as Coulomb's.

    Raises
    ------
    FileError
        No such document.
    UsageError
        Parameters of another mechanism.
    """
    try:
        document = json.loads(text_of(path))
    except ValueError:
        document = None
    found = document.get("consistent") if isinstance(document, dict) else None
    parameters = found.get("parameters") if isinstance(found, dict) else None
    if not isinstance(parameters, dict) or not all(map(_is_number, parameters.values())):
        what = (
            "has no parameters under `consistent`; make it by "
            "`basepar identify MECH DATA.csv --consistent --json > FILE`"
        )
        raise FileError(str(path), [Mistake("consistent", what)])
    parameters = {
        name: x
        for name, x in parameters.items()
        if name in mechanism.parameter_names or not {name, name.rpartition(".")[2]} & set(without)
    }
    # Simulators smooth Coulomb's friction by themselves, and files have its size alone.
    coulomb = {name: name.replace(".smooth_coulomb", ".coulomb") for name in parameters}
    parameters = {
        name if new in parameters else new: parameters[name] for name, new in coulomb.items()
    }
    known = [*mechanism.parameter_names, *(one.name for one in columns(mechanism))]
    known += [".".join(one) for one in more_laws(mechanism)]
    unknown = [name for name in parameters if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], known)
        raise UsageError(
            f"{path} has {', '.join(unknown)}, which {mechanism.name!r} has not{hint}. Name the "
            f"mechanism that was identified; what no file has can be left out (--without).",
            [str(path)],
        )
    return {name: float(x) for name, x in parameters.items()}


def _is_number(x: object) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
