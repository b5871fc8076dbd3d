"""Inertial parameters by their names, as users write them."""

import difflib
from collections.abc import Sequence

from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism


def parameter_indices(mechanism: Mechanism, wanted: Sequence[str]) -> list[int]:
    """Indices of parameters given by full or short names (`crank.mx`, `mx1`).

    Raises
    ------
    UsageError
        Names that no parameter has, all at once.
    """
    names = mechanism.parameter_names
    full = [mechanism.parameter_aliases.get(name, name) for name in wanted]
    unknown = [given for given, name in zip(wanted, full, strict=True) if name not in names]
    if unknown:
        short = list(mechanism.parameter_aliases)
        alike = [
            one for one in short if one.rstrip("0123456789") == unknown[0].rstrip("0123456789")
        ]
        known = ", ".join([*names[:8], "…"] if len(names) > 8 else names)
        also = f" or short names such as {', '.join(alike or short[1:2])}" if short else ""
        raise UsageError(
            f"No parameter of {mechanism.name!r} is named {', '.join(unknown)}"
            f"{_meant_parameters(unknown, names)} Parameters are {known}{also}.",
            unknown,
        )
    return [names.index(name) for name in full]


def _meant_parameters(unknown: Sequence[str], names: Sequence[str]) -> str:
    """Parameters that others most likely are: of the body, the planar J for Izz, or alike."""
    found = []
    for given in unknown:
        body, _, entry = given.rpartition(".")
        planar = f"{body}.J"
        if entry.lower() in ("izz", "jzz", "i", "iz", "jz", "inertia") and planar in names:
            found.append(planar)
        else:
            found += difflib.get_close_matches(given, names, n=1)
    return f"; did you mean {', '.join(found)}?" if found else "."
