"""Progress in a notebook: one output of the cell, written anew; no widgets are needed."""

import sys
import time
from importlib import import_module
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType

#: Seconds between two pictures: each is a message to the browser.
EVERY = 0.5
#: Characters in a line.
WIDTH = 100


def in_notebook() -> bool:
    """Whether a kernel of Jupyter's runs this program."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class Output:
    """An output of the running cell that shows what `update` was given last."""

    def __init__(self) -> None:
        module: Any = import_module("IPython.display")  # a notebook's, not installed by us
        self._handle = module.display({"text/plain": ""}, raw=True, display_id=True)
        self._last = -EVERY

    def update(self, shown: RenderableType, refresh: bool = True) -> None:
        """Show something else; unless to `refresh`, not more often than `EVERY` seconds."""
        now = time.monotonic()
        if refresh or now - self._last >= EVERY:
            self._last = now
            self._handle.update({"text/plain": as_text(shown)}, raw=True)


def as_text(shown: RenderableType) -> str:
    """What a terminal would show, without colours."""
    file = StringIO()
    options: dict[str, Any] = {"force_terminal": False, "force_jupyter": False, "markup": False}
    Console(file=file, width=WIDTH, color_system=None, **options).print(shown)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())
