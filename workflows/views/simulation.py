"""A simulated record, as plain facts and in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.files import in_its_unit
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural, shell
from workflows.jobs import Simulated

from . import terminal


def document(of: Simulated) -> dict[str, Any]:
    """What was simulated: `basepar simulate --json`, without the file."""
    names, record = of.model.mechanism.coordinates, of.record
    return {
        "mechanism": of.model.mechanism.name,
        "motion": of.motion,
        "samples": int(record.t.size),
        "duration": float(record.t[-1] - record.t[0]),
        "noise": dict(zip(names, map(float, of.noise), strict=True)),
        "position_noise": dict(zip(names, map(float, of.position_noise), strict=True)),
        "columns": [column.name for column in of.columns],
        "contacts": list(of.pushed.points) if of.pushed else [],
        "push": of.pushed.push if of.pushed else 0.0,
        "contact_noise": of.pushed.noise if of.pushed else 0.0,
        "seed": of.seed,
    }


def show(facts: Mapping[str, Any]) -> None:
    """The same for reading."""
    noise = ", ".join(f"{name} {x:.3g}" for name, x in facts["noise"].items())
    shaken = ", ".join(f"{name} {x:.3g}" for name, x in facts["position_noise"].items() if x)
    terminal.out.print(
        terminal.said(
            (facts["mechanism"], "bold"),
            f": {plural(facts['samples'], 'sample')} of its {facts['motion']} over "
            f"{facts['duration']:.4g} s; torque noise (N m or N) {noise}; "
            + (f"position noise (rad or m) {shaken}" if shaken else "positions without noise"),
        )
    )
    if facts["contacts"]:
        terminal.out.print(f"with the wrenches that act at {', '.join(facts['contacts'])}")
    terminal.out.print(f"written to {facts['output']}")


def show_after_warnings(
    warned: Sequence[str],
    output: str,
    words: Sequence[str],
    given: Sequence[str],
    mechanism: Mechanism,
) -> None:
    """The command, of these `words`, that writes the record anew from a corrected file.

    Where values of symbols are `given` to the command, a warning may be of these.
    """
    symbols = (one for one in (*mechanism.geometry, *mechanism.constants) if one.name in given)
    values = {one.name: in_its_unit(one, mechanism.nominal[one.name]) for one in symbols}
    what = "the file"
    if values:
        what = "what was read as " + " ".join(f'--set {x}="{text}"' for x, text in values.items())
        starts = tuple(f"{name} = " for name in values)
        what += "" if all(one.startswith(starts) for one in warned) else ", or the file"
    told = f"{terminal.if_right(len(warned), what)}, and write {output} anew."
    terminal.out.print(f"\n{told}", soft_wrap=True)
    if values:
        return
    terminal.show_next(" ".join(map(shell, [*words, "--overwrite"])))
