"""What people see while a study runs: how far it is, and the best designs so far.

Reads the store like anybody else; the study knows nothing of it. Where nobody watches, nothing
is written.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rich.live import Live
from rich.table import Table
from rich.text import Text

from basepar_core.errors import StoreError
from basepar_core.texts import plural
from sweeps.run import Advance
from sweeps.store import Store
from workflows.studies import StudySpec, Verdict, best, judge

from . import designs
from .notebook import Output, in_notebook
from .terminal import err

#: Reading the store costs milliseconds; people read a few lines a second.
EVERY = 0.5
SHOWN = 5


class LiveTable:
    """A table fed by the sweep's receipts."""

    def __init__(self, spec: StudySpec, live: Live | Output):
        self.spec, self.live, self.last = spec, live, 0.0

    def __call__(self, advance: Advance) -> None:
        now = time.monotonic()
        if now - self.last < EVERY and advance.done < advance.total:
            return
        self.last = now
        try:
            verdict = judge(self.spec, Store.open(self.spec.path), 0, self.spec.trials)
        except StoreError:  # not made yet
            return
        self.live.update(picture(self.spec, verdict, advance), refresh=True)


def picture(spec: StudySpec, verdict: Verdict, advance: Advance) -> Table:
    """The table at one moment."""
    frame = Table.grid()
    frame.add_row(headline(spec, verdict, advance))
    shown = designs.facts(spec, verdict, best(spec, verdict)[:SHOWN])
    frame.add_row(designs.picture(shown, err))
    return frame


def headline(spec: StudySpec, verdict: Verdict, advance: Advance) -> Text:
    """Trials, feasible ones, speed, and how long since the best one changed."""
    done = int(verdict.settled.sum())
    feasible = np.flatnonzero(verdict.feasible)
    parts = [f"{done} of {plural(spec.trials, 'trial')}", f"{feasible.size} feasible"]
    if advance.workers:
        parts.append(plural(advance.workers, "worker"))
    parts.append(f"{advance.seconds:.0f} s")
    if len(spec.objectives) == 1 and feasible.size:
        parts.append(f"best is {plural(done - 1 - int(best(spec, verdict)[0]), 'trial')} old")
    return Text("  ".join(parts), style="dim")


@contextmanager
def live_table(spec: StudySpec, quiet: bool) -> Iterator[LiveTable | None]:
    """A live table on stderr, so that stdout stays a program's, or in a notebook's cell.

    None where nobody watches.
    """
    if not quiet and in_notebook():
        output = Output()
        output.update("starting workers")
        yield LiveTable(spec, output)
        return
    if quiet or not err.is_terminal:
        yield None
        return
    with Live(console=err, auto_refresh=False, transient=True) as live:
        live.update(Text("starting workers", style="dim"), refresh=True)
        yield LiveTable(spec, live)
