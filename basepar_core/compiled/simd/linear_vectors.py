"""Two loops that the linear algebra of many variants spends its time in, as vector instructions.

Rows are (row, lane), with `LANES` lanes. Written as plain loops, LLVM cannot know that the sums do
not overlap the data, and stores them in every row, or unrolls the lanes into scalars: three to
five times slower (docs/decisions/0021). Here a sum over rows stays in registers. Products and sums
are fused (one rounding), in all lanes and on all processors alike.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .lane_types import LANES

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


def _dots(typing, total, a, b, start, stop):
    """total (lane) = Σ a·b over rows start … stop − 1; a and b (row, lane), contiguous."""

    def generate(context, builder, signature, given):
        first, second = (_rows(context, builder, signature, given, k) for k in (1, 2))
        fuse = _fused(builder)
        zero = ir.Constant(_VECTOR, [0.0] * LANES)

        def body(row, found):
            return builder.call(
                fuse, [_load(builder, first, row), _load(builder, second, row), found]
            )

        found = _loop(builder, given[3], given[4], body, zero)
        _store(builder, _rows(context, builder, signature, given, 0), None, found)
        return context.get_dummy_value()

    return types.void(total, a, b, types.intp, types.intp), generate


def _subtract(typing, share, a, b, start, stop):
    """b −= share (lane)·a in rows start … stop − 1; a and b (row, lane), contiguous."""

    def generate(context, builder, signature, given):
        first, second = (_rows(context, builder, signature, given, k) for k in (1, 2))
        fuse = _fused(builder)
        share = _load(builder, _rows(context, builder, signature, given, 0), None)
        share = builder.fneg(share)

        def body(row, carried):
            here = _load(builder, second, row)
            here = builder.call(fuse, [share, _load(builder, first, row), here])
            _store(builder, second, row, here)
            return carried

        _loop(builder, given[3], given[4], body, share)
        return context.get_dummy_value()

    return types.void(share, a, b, types.intp, types.intp), generate


#: Typed as `Any`: the checker knows the arguments of the definition, not of the call.
dots: Any = intrinsic(_dots)
subtract: Any = intrinsic(_subtract)


def _rows(context, builder, signature, given, place):
    """The data of an array argument, as rows of lanes."""
    array = context.make_array(signature.args[place])(context, builder, given[place])
    return builder.bitcast(array.data, _VECTOR.as_pointer())


def _fused(builder):
    kind = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR, _VECTOR])
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")


def _load(builder, rows, row):
    place = rows if row is None else builder.gep(rows, [row])
    return builder.load(place, align=8)


def _store(builder, rows, row, value):
    builder.store(value, rows if row is None else builder.gep(rows, [row]), align=8)


def _loop(builder, start, stop, body, initial):
    """`carried = body(row, carried)` for rows start … stop − 1; the last one."""
    before = builder.basic_block
    head, inside, after = (
        builder.append_basic_block(name) for name in ("head", "inside", "after")
    )
    builder.branch(head)
    builder.position_at_end(head)
    row, carried = builder.phi(start.type), builder.phi(initial.type)
    row.add_incoming(start, before)
    carried.add_incoming(initial, before)
    builder.cbranch(builder.icmp_signed("<", row, stop), inside, after)
    builder.position_at_end(inside)
    following = body(row, carried)
    row.add_incoming(builder.add(row, ir.Constant(start.type, 1)), builder.basic_block)
    carried.add_incoming(following, builder.basic_block)
    builder.branch(head)
    builder.position_at_end(after)
    return carried
