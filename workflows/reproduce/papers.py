"""The papers that can be reproduced, and how one is."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from basepar_core.errors import UsageError
from basepar_core.expressions import did_you_mean

from .comparison import Reproduction

Say = Callable[[str], None]


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced: its name on the command line, its module, what it holds."""

    name: str
    module: str
    title: str
    holds: str


PAPERS = (
    Paper(
        "low-mobility",
        "low_mobility",
        "Base inertial parameters of low mobility mechanisms (SLA suspension)",
        "Tables 1–5, Eqs. 16 and 17, Figs. 4 and 5",
    ),
    Paper(
        "reduction",
        "reduction",
        "Multibody model reduction by parameter elimination",
        "the procedure's statements, by brute force (the paper has no table)",
    ),
    Paper(
        "planar-symbolic",
        "planar_symbolic",
        "Symbolic base inertial parameters of planar mechanisms (four-bar)",
        "Eqs. 22–25, Table 1, Figs. 4 and 5",
    ),
    Paper(
        "identification",
        "identification",
        "Identification of a slider-crank's inertial parameters by linear regression",
        "Tables 1 and 2, Figs. 3 and 4",
    ),
    Paper(
        "eksergian",
        "eksergian",
        "Reduced inertial parameters of systems of one degree of freedom (bicycle, dwell linkage)",
        "data and claims of §3, Figs. 4, 5, 9 and 10",
    ),
)


def paper(name: str) -> Paper:
    """A known paper by name.

    Raises
    ------
    UsageError
        There is none of this name.
    """
    names = [one.name for one in PAPERS]
    if name in names:
        return PAPERS[names.index(name)]
    hint = did_you_mean(name, names) or f"; known: {', '.join(names)}"
    raise UsageError(f"No paper is known as {name!r}{hint}", [name])


def reproduce(name: str, say: Say = lambda _: None, figures: Path | None = None) -> Reproduction:
    """Recompute a paper's numbers and hold them against the printed ones.

    Parameters
    ----------
    name
        Of `PAPERS`.
    say
        Called with a text on each step before it begins.
    figures
        Directory for the drawings; None: none are made.

    Raises
    ------
    UsageError
        The paper is not known.
    PlotError
        Drawings are asked for and matplotlib is not installed.
    """
    module = import_module(f"{__package__}.{paper(name).module}")
    found: Reproduction = module.reproduce(say, figures)
    return found
