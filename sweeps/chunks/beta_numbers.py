"""β as numbers per variant, on request: its distinct entries that follow the geometry.

Entries that are the same expression are stored once, under that expression; where each stands is
in the store's attribute `base`, whose terms are the same texts. Constant entries stand there only.
"""

from basepar_core.base import BaseParameters
from basepar_core.expressions import Dimension, names, parse_unit
from basepar_core.mechanism import parameter_unit
from sweeps.store import Output


def distinct(base: BaseParameters) -> dict[str, int]:
    """Expressions, and where each stands first among β's entries."""
    found: dict[str, int] = {}
    for place, entry in enumerate(base.beta):
        if entry.text is not None and entry.expression is not None and names(entry.expression):
            found.setdefault(entry.text, place)
    return found


def output(base: BaseParameters) -> Output:
    """The array `beta`."""
    return Output(
        "beta",
        ("variant", "beta_entry"),
        unit="",
        units=tuple(_unit(base, text) for text in distinct(base)),
        long_name="distinct entries of beta, by their expressions (attribute base has the places)",
    )


def _unit(base: BaseParameters, text: str) -> str:
    """Unit of an entry, "" where the same expression stands for several."""
    found = {
        str(
            _dimension(base.base_names[entry.base])
            / _dimension(base.eliminated_names[entry.eliminated])
        )
        for entry in base.beta
        if entry.text == text
    }
    unit = found.pop() if len(found) == 1 else ""
    return "1" if unit == "no unit" else unit


def _dimension(parameter: str) -> Dimension:
    return parse_unit(parameter_unit(parameter).replace(" ", "*")).dimension
