"""Lane vectors, views and bundles: what kernels hold instead of arrays.

A `Vector` is WIDTH lanes in registers; a view is an array's address and shape without its
reference count; a bundle is a named tuple of arrays as one address. numba's own arrays are nine
words each, counted at every use, and a loop over lanes must first prove that they do not
overlap: with sixty of them that cost more than the arithmetic, in time and in compiling.
A bundle is made by `bundle` at a door and is good until the door returns.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import intrinsic, lower_builtin, models, register_model

#: Lanes of a vector: one register of 512 bits, or what else a processor makes of it.
WIDTH = 8
_DOUBLES = ir.VectorType(ir.DoubleType(), WIDTH)
_WORD = ir.IntType(64)


class Vector(types.Type):
    """WIDTH float64 lanes."""

    def __init__(self) -> None:
        super().__init__(f"Vector({WIDTH})")


class Mask(types.Type):
    """WIDTH truths, of comparing vectors."""

    def __init__(self) -> None:
        super().__init__(f"Mask({WIDTH})")


class View(types.Type):
    """An array's first number, length and numbers per row; items are numbers, or vectors."""

    def __init__(self, dtype: types.Type, lanes: bool) -> None:
        self.dtype, self.item = dtype, VECTOR if lanes else dtype
        super().__init__(f"View({dtype}, {lanes})")


class Bundle(types.Type):
    """Address of a struct of views; `cls` is the named tuple's class."""

    def __init__(self, cls: type, fields: tuple[str, ...], kinds: tuple[types.Type, ...]) -> None:
        self.cls, self.fields, self.kinds = cls, fields, kinds
        super().__init__(f"Bundle({cls.__name__}, {kinds})")


VECTOR, MASK = Vector(), Mask()


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _DOUBLES)


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), WIDTH))


@register_model(View)
class _ViewModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        data = types.CPointer(kind.dtype)
        super().__init__(
            manager, kind, [("data", data), ("size", types.intp), ("stride", types.intp)]
        )


def _struct(context: Any, kind: Bundle) -> ir.LiteralStructType:
    return ir.LiteralStructType([context.get_value_type(one) for one in kind.kinds])


@register_model(Bundle)
class _BundleModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        members = [manager[one].get_value_type() for one in kind.kinds]
        super().__init__(manager, kind, ir.LiteralStructType(members).as_pointer())


# Bundles.


def _viewed(kind: types.Type) -> types.Type:
    """The view of an array type: float64 matrices whose last axis is lanes hold vectors."""
    if not isinstance(kind, types.Array):
        return kind
    return View(kind.dtype, kind.ndim == 2 and kind.dtype == types.float64)


def _bundle(typing, arrays):
    kinds = tuple(_viewed(one) for one in arrays.types)
    made = Bundle(arrays.instance_class, tuple(arrays.fields), kinds)

    def generate(context, builder, signature, given):
        struct = cgutils.alloca_once(builder, _struct(context, made))
        for k, (old, new) in enumerate(zip(arrays.types, kinds, strict=True)):
            value = builder.extract_value(given[0], k)
            if isinstance(new, View):
                value = _view_of(context, builder, old, new, value)
            builder.store(value, cgutils.gep_inbounds(builder, struct, 0, k))
        return struct

    return made(arrays), generate


def _view_of(context, builder, old, new, value):
    array = context.make_array(old)(context, builder, value)
    view = cgutils.create_struct_proxy(new)(context, builder)
    view.data = array.data
    shape = cgutils.unpack_tuple(builder, array.shape, old.ndim)
    view.size = shape[0]
    # Rows of contiguous arrays: all that follows the first axis is one row.
    stride = context.get_constant(types.intp, 1)
    for length in shape[1:]:
        stride = builder.mul(stride, length)
    view.stride = stride
    return view._getvalue()


def _lanes(typing, array):
    """View of a C-contiguous float64 array as vectors; does not keep it alive.

    numba frees an array of a kernel's own after the last line that names it: name it after the
    view's last use, or in the same loop.
    """
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError(f"lanes of {array}, which is no C-contiguous array")
    made = View(types.float64, True)

    def generate(context, builder, signature, given):
        return _view_of(context, builder, array, made, given[0])

    return made(array), generate


def _below(typing, view, row):
    """The rows of a view from `row` on."""

    def generate(context, builder, signature, given):
        old = cgutils.create_struct_proxy(view)(context, builder, value=given[0])
        new = cgutils.create_struct_proxy(view)(context, builder)
        new.data = builder.gep(old.data, [builder.mul(given[1], old.stride)])
        new.size = builder.sub(old.size, given[1])
        new.stride = old.stride
        return new._getvalue()

    return view(view, types.intp), generate


#: Typed as `Any`: the checker knows the arguments of the definition, not of the call.
bundle: Any = intrinsic(_bundle)
lanes: Any = intrinsic(_lanes)
below: Any = intrinsic(_below)


@infer_getattr
class _BundleFields(AttributeTemplate):
    key = Bundle

    def generic_resolve(self, kind, name):  # type: ignore[override]
        return kind.kinds[kind.fields.index(name)] if name in kind.fields else None


@lower_getattr_generic(Bundle)
def _field(context, builder, kind, value, name):
    place = cgutils.gep_inbounds(builder, value, 0, kind.fields.index(name))
    return builder.load(place)


# Items of views.


def _index(index: types.Type) -> types.Type | None:
    if isinstance(index, types.Integer):
        return types.intp
    if isinstance(index, types.BaseTuple) and len(index) == 2:
        return types.UniTuple(types.intp, 2)
    return None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        view, index = args
        if isinstance(view, View) and (place := _index(index)) is not None:
            return signature(view.item, view, place)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args, kws):
        view, index, value = args
        if not isinstance(view, View) or (place := _index(index)) is None:
            return None
        return signature(types.none, view, place, value if value == VECTOR else view.dtype)


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args, kws):
        return signature(types.intp, *args) if isinstance(args[0], View) else None


def _at(context, builder, kind, value, row, column):
    """Address of a number: of row and column, or of a column alone."""
    view = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    if row is not None:
        column = builder.add(builder.mul(row, view.stride, flags=["nsw"]), column, flags=["nsw"])
    return builder.gep(view.data, [column], inbounds=True)


def _place(context, builder, kinds, given):
    """Address of an item."""
    pair = isinstance(kinds[1], types.BaseTuple)
    index = cgutils.unpack_tuple(builder, given[1], 2) if pair else (None, given[1])
    place = _at(context, builder, kinds[0], given[0], *index)
    return builder.bitcast(place, _DOUBLES.as_pointer()) if kinds[0].item == VECTOR else place


@lower_builtin(operator.getitem, View, types.Integer)
@lower_builtin(operator.getitem, View, types.BaseTuple)
def _get(context, builder, sig, given):
    return builder.load(_place(context, builder, sig.args, given), align=8)


@lower_builtin(operator.setitem, View, types.Integer, types.Any)
@lower_builtin(operator.setitem, View, types.BaseTuple, types.Any)
def _set(context, builder, sig, given):
    value = given[2]
    if sig.args[0].item == VECTOR and sig.args[2] != VECTOR:
        value = _spread(builder, value)
    builder.store(value, _place(context, builder, sig.args, given), align=8)
    return context.get_dummy_value()


@lower_builtin(len, View)
def _len(context, builder, sig, given):
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=given[0]).size


# Arithmetic. Flags of fast mathematics are set by numba, as on all of a kernel's instructions.


def _spread(builder, number):
    first = builder.insert_element(ir.Constant(_DOUBLES, ir.Undefined), number, _WORD(0))
    return builder.shuffle_vector(
        first,
        ir.Constant(_DOUBLES, ir.Undefined),
        ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None),
    )


def _vectors(builder, sig, given):
    return [
        value if kind == VECTOR else _spread(builder, value)
        for kind, value in zip(sig.args, given, strict=True)
    ]


def _pair(args) -> tuple | None:
    """Types of two operands of which one is a vector and the other may be a number."""
    if VECTOR not in args or not all(a == VECTOR or isinstance(a, types.Number) for a in args):
        return None
    return tuple(VECTOR if a == VECTOR else types.float64 for a in args)


def _operator(symbol, result, emit) -> None:
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            kinds = _pair(args) if len(args) == 2 else None
            return signature(result, *kinds) if kinds else None

    infer_global(symbol)(Template)

    def lower(context, builder, sig, given):
        return emit(builder, *_vectors(builder, sig, given))

    for kinds in ((Vector, Vector), (Vector, types.Float), (types.Float, Vector)):
        lower_builtin(symbol, *kinds)(lower)


def _compared(relation):
    # Unordered for ≠ alone: no number differs from itself.
    if relation == "!=":
        return lambda builder, a, b: builder.fcmp_unordered(relation, a, b)
    return lambda builder, a, b: builder.fcmp_ordered(relation, a, b)


for _symbol in (operator.add, operator.iadd):
    _operator(_symbol, VECTOR, lambda builder, a, b: builder.fadd(a, b))
for _symbol in (operator.sub, operator.isub):
    _operator(_symbol, VECTOR, lambda builder, a, b: builder.fsub(a, b))
for _symbol in (operator.mul, operator.imul):
    _operator(_symbol, VECTOR, lambda builder, a, b: builder.fmul(a, b))
_operator(operator.truediv, VECTOR, lambda builder, a, b: builder.fdiv(a, b))
_operator(operator.lt, MASK, _compared("<"))
_operator(operator.le, MASK, _compared("<="))
_operator(operator.gt, MASK, _compared(">"))
_operator(operator.ge, MASK, _compared(">="))
_operator(operator.eq, MASK, _compared("=="))
_operator(operator.ne, MASK, _compared("!="))


def _joined_masks(symbol, emit) -> None:
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(MASK, *args) if tuple(args) == (MASK, MASK) else None

    infer_global(symbol)(Template)
    lower_builtin(symbol, Mask, Mask)(lambda context, builder, sig, given: emit(builder, *given))


_joined_masks(operator.and_, lambda builder, a, b: builder.and_(a, b))
_joined_masks(operator.or_, lambda builder, a, b: builder.or_(a, b))


@infer_global(operator.neg)
class _Negated(AbstractTemplate):
    def generic(self, args, kws):
        return signature(VECTOR, VECTOR) if tuple(args) == (VECTOR,) else None


@lower_builtin(operator.neg, Vector)
def _neg(context, builder, sig, given):
    return builder.fneg(given[0])


# Functions. Operands may be numbers.


def _function(name, count, result=VECTOR):
    """An intrinsic of so many vectors; the decorated function writes its instructions."""

    def decorate(emit):
        def typed(args):
            kinds = [VECTOR if a == VECTOR else types.float64 for a in args]
            return result(*kinds)

        def generate(context, builder, signature, given):
            return emit(builder, *_vectors(builder, signature, given))

        def one(typing, a):
            return typed([a]), generate

        def two(typing, a, b):
            return typed([a, b]), generate

        made: Any = one if count == 1 else two
        made.__name__ = name
        found: Any = intrinsic(made)
        return found

    return decorate


def _called(name):
    def emit(builder, *vectors):
        kind = ir.FunctionType(_DOUBLES, [_DOUBLES] * len(vectors))
        whole = f"llvm.{name}.v{WIDTH}f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, whole), vectors)

    return emit


def _picked(relation):
    return lambda builder, a, b: builder.select(builder.fcmp_ordered(relation, a, b), a, b)


sqrt = _function("sqrt", 1)(_called("sqrt"))
size_of = _function("size_of", 1)(_called("fabs"))
floor = _function("floor", 1)(_called("floor"))
#: The second where either is no number.
larger = _function("larger", 2)(_picked(">"))
smaller = _function("smaller", 2)(_picked("<"))
spread = _function("spread", 1)(lambda builder, a: a)


def _where(typing, mask, a, b):
    kinds = [VECTOR if one == VECTOR else types.float64 for one in (a, b)]

    def generate(context, builder, signature, given):
        values = [
            value if kind == VECTOR else _spread(builder, value)
            for kind, value in zip(kinds, given[1:], strict=True)
        ]
        return builder.select(given[0], *values)

    return VECTOR(MASK, *kinds), generate


def _some(typing, mask):
    """Whether any lane is true."""

    def generate(context, builder, signature, given):
        whole = ir.IntType(WIDTH)
        return builder.icmp_unsigned("!=", builder.bitcast(given[0], whole), whole(0))

    return types.boolean(MASK), generate


def _number(typing, view, row, column):
    """One number of a view of vectors."""

    def generate(context, builder, signature, given):
        return builder.load(_at(context, builder, view, *given))

    return types.float64(view, types.intp, types.intp), generate


def _set_number(typing, view, row, column, number):
    """Set one number of a view of vectors."""

    def generate(context, builder, signature, given):
        builder.store(given[3], _at(context, builder, view, *given[:3]))
        return context.get_dummy_value()

    return types.none(view, types.intp, types.intp, types.float64), generate


def _by_halves(name, emit):
    """An intrinsic of one number of a vector's lanes, by halves."""

    def generate(context, builder, signature, given):
        value, width = given[0], WIDTH
        while width > 1:
            width //= 2
            kind = ir.VectorType(ir.IntType(32), width)
            none = ir.Constant(value.type, ir.Undefined)
            low, high = (
                builder.shuffle_vector(value, none, ir.Constant(kind, [*range(k, k + width)]))
                for k in (0, width)
            )
            value = emit(builder, low, high)
        return builder.extract_element(value, ir.IntType(32)(0))

    def typed(typing, vector):
        return types.float64(VECTOR), generate

    typed.__name__ = name
    return intrinsic(typed)


where: Any = intrinsic(_where)
total: Any = _by_halves("total", lambda builder, a, b: builder.fadd(a, b))
least: Any = _by_halves("least", _picked("<"))
greatest: Any = _by_halves("greatest", _picked(">"))
some: Any = intrinsic(_some)
number: Any = intrinsic(_number)
set_number: Any = intrinsic(_set_number)
