"""From null vectors to β: sparse Gauss–Jordan over the geometry field, and the choice of φ₂.

Columns are null vectors. A pivot (parameter, column) makes that parameter eliminated: its
column becomes 1 there and nothing in the other pivots' rows, and then holds −β. Pivots are
taken greedily where they keep expressions short (Markowitz's count, weighted with the size of
expressions), so that ±1 (masses) comes before a length and a length before its square; then
parameters are exchanged as long as β gets shorter (`exchange.py`). Ties go by the parameter's
name, never by order in the file.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from basepar_core.errors import EliminationError
from basepar_core.expressions import evaluate

from .exchange import Column, cleared, exchange, never
from .field import GeometryField
from .joint_rules import Exact, NullVector
from .quotients import Quotient, Quotients, factors_of
from .validity import ROUNDING, magnitude


@dataclass(frozen=True)
class Elimination:
    """Result of eliminating parameters by null vectors.

    Attributes
    ----------
    eliminated
        φ₂, parameters by index, in file order.
    beta
        Per eliminated parameter its column of β: entries by kept parameter.
    pivots
        Irreducible polynomials that β divides by; where none vanishes β is finite, and by
        continuity valid.
    sources
        Per eliminated parameter the null vector (number in the input) that holds its column;
        the other input vectors depended on these.
    """

    eliminated: tuple[int, ...]
    beta: Mapping[int, Mapping[int, Exact]]
    pivots: tuple[Exact, ...]
    sources: Mapping[int, int]


def eliminate(
    field: GeometryField,
    vectors: Sequence[NullVector],
    names: Sequence[str],
    wanted: Sequence[int] | None = None,
    search: bool = True,
    nominal: Mapping[str, float] | None = None,
) -> Elimination:
    """Solve the null vectors for as many parameters as they allow.

    Parameters
    ----------
    field
        Where the entries live.
    vectors
        Null vectors; redundant ones are dropped on the way.
    names
        All parameters, for messages and for breaking ties.
    wanted
        φ₂ by index; what has no effect goes whether or not it is named. None: chosen for simple
        expressions.
    search
        Whether a φ₂ that is chosen here is improved by exchanges after the greedy choice.
    nominal
        Value of every symbol at a geometry where β is to have a value: a φ₂ that is chosen here
        divides by nothing that vanishes there, as far as there is another.

    Raises
    ------
    EliminationError
        `wanted` is not admissible: too many, too few, or dependent. Says which parameters could
        still be eliminated.
    """
    ring = field.quotients
    columns: dict[int, Column] = {
        k: {row: ring.of(value) for row, value in vector.entries.items()}
        for k, vector in enumerate(vectors)
    }
    allowed = None if wanted is None else set(wanted)
    # Theorems first: what only was seen counts where it says more than they do.
    seen = {k for k, vector in enumerate(vectors) if vector.grade != "theorem"}
    vanishes = _vanishing(field, nominal)
    pivot_of = _eliminated(ring, columns, names, allowed, seen, vanishes)
    done = pivot_of.values()
    left = {k: column for k, column in columns.items() if column and k not in done}
    if allowed is not None and (left or allowed - pivot_of.keys()):
        others = sorted({row for column in left.values() for row in column})
        more = _eliminated(ring, left, names, None, seen, vanishes)
        for row in [row for row, k in more.items() if len(left[k]) == 1]:  # without effect
            k = more.pop(row)
            columns.update({k: left[k]} | cleared(ring, columns | {k: left[k]}, row, k))
            pivot_of[row] = k
            others.remove(row)
        if more or allowed - pivot_of.keys():
            _refuse(others, more, allowed, pivot_of, names)
    if wanted is None and search:
        pivot_of = exchange(ring, columns, pivot_of, names, vanishes)
    eliminated = tuple(sorted(pivot_of))
    solved = {row: columns[pivot_of[row]] for row in eliminated}
    beta = {
        row: {r: -ring.back(value) for r, value in column.items() if r != row}
        for row, column in solved.items()
    }
    return Elimination(eliminated, beta, _poles(ring, solved), pivot_of)


def _eliminated(
    ring: Quotients,
    columns: dict[int, Column],
    names: Sequence[str],
    allowed: set[int] | None,
    seen: set[int],
    vanishes: Callable[[Quotient], bool],
) -> dict[int, int]:
    """Clear columns pivot by pivot, in place; the column of each eliminated parameter."""
    pivot_of: dict[int, int] = {}
    open_columns = set(columns)
    while open_columns := {k for k in open_columns if columns[k]}:
        common = (allowed, pivot_of, names)
        choice = (
            _best_pivot(columns, open_columns - seen, *common, vanishes)
            or _best_pivot(columns, open_columns, *common, vanishes)
            or _best_pivot(columns, open_columns, *common, never)
        )
        if choice is None:
            break
        row, column = choice
        columns.update(cleared(ring, columns, row, column))
        pivot_of[row] = column
        open_columns.discard(column)
    return pivot_of


def _best_pivot(
    columns: Mapping[int, Column],
    open_columns: set[int],
    allowed: set[int] | None,
    pivot_of: Mapping[int, int],
    names: Sequence[str],
    vanishes: Callable[[Quotient], bool],
) -> tuple[int, int] | None:
    """Row and column of the cheapest pivot among the open columns that does not vanish."""
    in_row: dict[int, int] = {}
    for column in columns.values():
        for row in column:
            in_row[row] = in_row.get(row, 0) + 1
    best: tuple[tuple[float, str, int], tuple[int, int]] | None = None
    for k in sorted(open_columns):
        others = len(columns[k]) - 1
        for row, value in columns[k].items():
            if row in pivot_of or (allowed is not None and row not in allowed):
                continue
            key = (value.size * 3.0 + (in_row[row] - 1) * others, names[row], others)
            if (best is None or key < best[0]) and not vanishes(value):
                best = key, (row, k)
    return best and best[1]


def _vanishing(
    field: GeometryField, nominal: Mapping[str, float] | None
) -> Callable[[Quotient], bool]:
    """Whether an entry vanishes at a geometry; never, where none is given."""
    if nominal is None:
        return never
    values = evaluate(field.generators, nominal)
    sizes = evaluate(map(magnitude, field.generators), nominal)

    def vanishes(entry: Quotient) -> bool:
        terms = entry.top.to_dict()
        sized = {powers: abs(c) for powers, c in terms.items()}
        return abs(_total(terms, values)) <= ROUNDING * _total(sized, sizes)

    return vanishes


def _total(terms: Mapping[tuple[int, ...], int], values: Sequence[float]) -> float:
    """A polynomial, coefficients by powers, at values of its generators."""
    return sum(
        float(c) * prod(x ** int(e) for x, e in zip(values, powers, strict=False) if e)
        for powers, c in terms.items()
    )


def _poles(ring: Quotients, solved: Mapping[int, Column]) -> tuple[Exact, ...]:
    """Irreducible factors of the denominators, shortest first."""
    found: dict[str, Quotient] = {}
    one = None
    for row, column in solved.items():
        one = one or column[row].top
        for value in column.values():
            if not value.bottom.is_constant():
                for factor, _ in factors_of(value.bottom)[1]:
                    found.setdefault(str(factor), Quotient(factor, one))
    return tuple(
        ring.back(found[text]) for text in sorted(found, key=lambda t: (found[t].size, t))
    )


def _refuse(
    others: Sequence[int],
    more: Collection[int],
    allowed: set[int],
    pivot_of: Mapping[int, int],
    names: Sequence[str],
) -> None:
    """Say why φ₂ is not admissible, and one that is: `more` complete it, out of `others`."""
    extra, missing = sorted(allowed - pivot_of.keys()), len(more)
    whole = ", ".join(names[k] for k in sorted({*pivot_of, *more}))
    parts = []
    if extra:
        parts.append(
            f"{', '.join(names[k] for k in extra)} cannot be eliminated together with the other "
            f"parameters asked for: no null vector is left that contains one of them"
        )
    if missing:
        parts.append(
            f"{missing} more parameter{'s' * (missing > 1)} must be eliminated; choose from "
            f"{', '.join(names[k] for k in others)}"
        )
    raise EliminationError(
        f"These parameters are not an admissible choice of φ₂: {'; '.join(parts)}. This mechanism "
        f"needs exactly {len(pivot_of) + missing} eliminated parameters, for example {whole}.",
        [names[k] for k in extra],
    )
