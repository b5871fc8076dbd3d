"""Imported where workers are copied from: Numba's registries, 0.25 s of a first kernel.

Not where Numba has extensions: what they load or start would be in all copies.
"""

import warnings
from contextlib import suppress
from importlib.metadata import entry_points

from numba.core.registry import cpu_target

if not entry_points(group="numba_extensions"):
    # With another Numba, or a warning that is made an error, the first kernel loads them.
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
