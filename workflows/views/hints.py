"""Commands in messages as this user can type them, and paths from where he is."""

import os
import re
import shutil
import sys

from basepar_core.texts import is_address, lines, shell

#: A command that a message names; the packages know it by its plain name.
_COMMAND = re.compile(r"`basepar (?=[a-z-])")


def spoken(text: str) -> str:
    """A message for the terminal: `basepar …` as this user calls it, nothing unseen."""
    return _COMMAND.sub(lambda _: f"`{typed('basepar')} ", lines(text))


def typed(program: str) -> str:
    """How this user calls a program of this environment: by name, or by its path from here.

    Where the environment has no such program (run as `python -m workflows.cli.main`, or from
    another folder of programs), by the interpreter that runs now.
    """
    ours = os.path.join(os.path.dirname(sys.executable), program)
    if program == "basepar" and not os.access(ours, os.X_OK):
        begun = os.path.abspath(sys.argv[0])
        if os.path.basename(begun) != program or not os.access(begun, os.X_OK):
            return f"{shell(sys.executable)} -m workflows.cli.main"
        ours = begun
    found = shutil.which(program)
    # Not the same file: an environment's python is a link to one that lacks its packages.
    if found and os.path.abspath(found) == os.path.abspath(ours):
        return program
    return shell(near(ours))


def near(path: str) -> str:
    """A path as short as it can be typed from here, never with a dash in front; an address."""
    if is_address(path):
        return path
    found = os.path.relpath(path)
    if len(found) >= len(path):
        found = path
    return os.path.join(os.curdir, found) if found.startswith("-") else found
