"""What jobs used against what they asked, in the terminal."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from basepar_core.texts import plural

from . import terminal

_ROLES = {
    "part": "parts",
    "whole": "whole sweep",
    "driver": "driver",
    "worker": "workers",
}


def show_resources(found: Mapping[str, Any]) -> None:
    """A line for time, memory and cores of each kind of job; nothing where none was a job."""
    if not found["batch"]:
        return
    heads = ("jobs", "of each", "#median", "#max", "#asked", "#ask next time")
    rows = terminal.table(*heads)
    for one in found["jobs"]:
        label = f"{_ROLES.get(one['role'], one['role'])} ({one['jobs']:,})"
        for name, said in (("seconds", _time), ("memory", _memory), ("cores", _cores)):
            used, asked = one["used"][name], one["asked"].get(name)
            what = "time" if name == "seconds" else name
            wanted = said(asked) if asked is not None else "–"
            next_time = said(one["next"][name])
            rows.add_row(label, what, said(used["median"]), said(used["max"]), wanted, next_time)
            label = ""
    if found["jobs"]:
        terminal.out.print()
        terminal.out.print(rows)
    stopped, short = (
        sum(one[key] for one in found["jobs"]) for key in ("stopped", "out_of_memory")
    )
    if stopped:
        terminal.out.print(f"{plural(stopped, 'job')} stopped before all was done.")
    if short:
        terminal.out.print(f"{plural(short, 'job')} had too little memory.")
    if count := found["unrecorded"]:
        terminal.out.print(f"{plural(count, 'job')} left no record: killed, or still running.")


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _memory(size: float) -> str:
    """As profiles have it: decimal units."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def _cores(count: float) -> str:
    return f"{count:.2g}"
