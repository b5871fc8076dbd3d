"""Non-temporal writes: results that the processor's cache cannot hold go past it.

A plain store of a line first reads it from memory, and pushes out what the cache holds.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .vectors import _DOUBLES, VECTOR, WIDTH, _at


def _stream(typing, view, row, column, vector):
    """Store a vector at a place that begins a line of the cache."""

    def generate(context, builder, signature, given):
        place = builder.bitcast(_at(context, builder, view, *given[:3]), _DOUBLES.as_pointer())
        stored = builder.store(given[3], place, align=8 * WIDTH)
        one = builder.module.add_metadata([ir.IntType(32)(1)])
        stored.set_metadata("nontemporal", one)
        return context.get_dummy_value()

    return types.none(view, types.intp, types.intp, VECTOR), generate


def _fence(typing):
    """Wait until what was streamed is seen by other threads."""

    def generate(context, builder, signature, given):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.none(), generate


stream: Any = intrinsic(_stream)
fence: Any = intrinsic(_fence)
