"""Imported where workers are copied from: Numba's registries, 0.25 s of a first kernel."""

from contextlib import suppress

from numba.core.registry import cpu_target

with suppress(AttributeError):  # another Numba's: the first kernel loads them
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
