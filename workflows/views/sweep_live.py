"""What people see while a sweep runs: a bar on stderr, or in the output of a notebook's cell."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from basepar_core.texts import plural
from sweeps.run import Advance
from sweeps.store import Status

from .notebook import Output, in_notebook
from .terminal import err


class SweepBar:
    """A progress bar fed by the sweep's receipts; `output`: where a notebook shows it."""

    def __init__(self, progress: Progress, task: TaskID, output: Output | None = None):
        self.progress, self.task, self.output = progress, task, output

    def __call__(self, advance: Advance) -> None:
        waiting = advance.counts.get(Status.AWAITING_PRECISE, 0) - sum(advance.precise.values())
        note = f"{waiting} awaiting precise" if waiting else ""
        self.progress.update(
            self.task,
            completed=advance.done,
            total=advance.total,
            note=note,
            description=plural(advance.workers, "worker"),
        )
        if self.output is not None:
            ended = advance.done == advance.total
            self.output.update(self.progress.get_renderable(), refresh=ended)


@contextmanager
def sweep_bar(quiet: bool) -> Iterator[SweepBar | None]:
    """A bar on stderr, so that stdout stays a program's."""
    if quiet:
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("so far, left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", style="yellow", markup=False),
    )
    output = Output() if in_notebook() else None
    with Progress(*columns, console=err, disable=output is not None) as progress:
        task = progress.add_task("starting workers", total=None, note="")
        if output is not None:
            output.update(progress.get_renderable())
        yield SweepBar(progress, task, output)
