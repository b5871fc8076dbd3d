"""From null vectors to β: sparse Gauss–Jordan over the geometry field, and the choice of φ₂.

Columns are null vectors. A pivot (parameter, column) makes that parameter eliminated: its
column becomes 1 there and nothing in the other pivots' rows, and then holds −β. Pivots are
taken greedily where they keep expressions short (Markowitz's count, weighted with the size of
expressions), so that ±1 (masses) comes before a length and a length before its square. Ties go
by the parameter's name, never by order in the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sympy.polys.rings import PolyElement

from ..algebra import GeometryField
from ..errors import EliminationError
from .null_space import Exact, NullVector

Column = dict[int, Exact]


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
        What was divided by; β is valid where none vanishes.
    sources
        Per eliminated parameter the null vectors (numbers in the input) it was pivoted from;
        the other input vectors depended on these.
    """

    eliminated: tuple[int, ...]
    beta: Mapping[int, Column]
    pivots: tuple[Exact, ...]
    sources: Mapping[int, int]


def size(fraction: Exact) -> float:
    """How much an entry costs a reader: 0 for ±1, degrees for monomials, terms for sums."""

    def cost(polynomial: PolyElement) -> float:
        degrees = sum(max(m[k] for m in polynomial.monoms()) for k in range(polynomial.ring.ngens))
        if len(polynomial) == 1:
            return degrees + (0.0 if abs(polynomial.LC) == 1 else 0.5)
        return 3.0 * len(polynomial) + degrees

    return cost(fraction.numer) + cost(fraction.denom)


def eliminate(
    field: GeometryField,
    vectors: Sequence[NullVector],
    names: Sequence[str],
    wanted: Sequence[int] | None = None,
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
        φ₂ by index; None: chosen for simple expressions.

    Raises
    ------
    EliminationError
        `wanted` is not admissible: too many, too few, or dependent. Says which parameters could
        still be eliminated.
    """
    columns = {k: dict(vector.entries) for k, vector in enumerate(vectors)}
    allowed = None if wanted is None else set(wanted)
    pivot_of: dict[int, int] = {}
    pivots: list[Exact] = []
    open_columns = set(columns)
    # Theorems first: what only was seen counts where it says more than they do.
    seen = {k for k, vector in enumerate(vectors) if vector.grade != "theorem"}
    sizes: dict[Exact, float] = {}
    while open_columns:
        open_columns = {k for k in open_columns if columns[k]}
        common = (allowed, pivot_of, names, sizes)
        choice = _best_pivot(columns, open_columns - seen, *common)
        choice = choice or _best_pivot(columns, open_columns, *common)
        if choice is None:
            break
        row, column = choice
        pivots.append(columns[column][row])
        _pivot(field, columns, row, column)
        pivot_of[row] = column
        open_columns.discard(column)
    left = [columns[k] for k in sorted(open_columns) if columns[k]]
    if allowed is not None and (left or allowed - pivot_of.keys()):
        _refuse(left, allowed, pivot_of, names)
    eliminated = tuple(sorted(pivot_of))
    beta = {
        row: {r: -value for r, value in columns[pivot_of[row]].items() if r != row}
        for row in eliminated
    }
    return Elimination(eliminated, beta, tuple(_distinct(pivots)), pivot_of)


def _best_pivot(
    columns: Mapping[int, Column],
    open_columns: set[int],
    allowed: set[int] | None,
    pivot_of: Mapping[int, int],
    names: Sequence[str],
    sizes: dict[Exact, float],
) -> tuple[int, int] | None:
    """Row and column of the cheapest pivot among the open columns."""
    in_row: dict[int, int] = {}
    for column in columns.values():
        for row in column:
            in_row[row] = in_row.get(row, 0) + 1
    best: tuple[tuple[float, str, int], tuple[int, int]] | None = None
    for k in sorted(open_columns):
        for row, value in columns[k].items():
            if row in pivot_of or (allowed is not None and row not in allowed):
                continue
            if value not in sizes:
                sizes[value] = size(value)
            fill = (in_row[row] - 1) * (len(columns[k]) - 1)
            key = (sizes[value] * 3.0 + fill, names[row], len(columns[k]))
            if best is None or key < best[0]:
                best = key, (row, k)
    return best and best[1]


def _pivot(field: GeometryField, columns: dict[int, Column], row: int, column: int) -> None:
    """Make the pivot 1 and clear its row from all other columns."""
    head = columns[column][row]
    scaled = {r: field.reduce(value / head) for r, value in columns[column].items()}
    columns[column] = scaled
    for k, other in columns.items():
        if k == column or row not in other:
            continue
        factor = other.pop(row)
        for r, value in scaled.items():
            if r == row:
                continue
            changed = field.reduce(other.get(r, field.zero) - factor * value)
            if changed == 0:
                other.pop(r, None)
            else:
                other[r] = changed


def _distinct(pivots: Sequence[Exact]) -> list[Exact]:
    """Pivots that can vanish, each once up to sign."""
    found: list[Exact] = []
    for pivot in pivots:
        constant = pivot.numer.is_ground and pivot.denom.is_ground
        if not constant and pivot not in found and -pivot not in found:
            found.append(pivot)
    return found


def _refuse(
    left: Sequence[Column], allowed: set[int], pivot_of: Mapping[int, int], names: Sequence[str]
) -> None:
    extra = sorted(allowed - pivot_of.keys())
    parts = []
    if extra:
        parts.append(
            f"{', '.join(names[k] for k in extra)} cannot be eliminated together with the other "
            f"parameters asked for: no null vector is left that contains one of them"
        )
    if left:
        others = sorted({row for column in left for row in column} - pivot_of.keys())
        parts.append(
            f"{len(left)} more parameter{'s' * (len(left) > 1)} must be eliminated; choose from "
            f"{', '.join(names[k] for k in others)}"
        )
    raise EliminationError(
        f"These parameters are not an admissible choice of φ₂: {'; '.join(parts)}. This mechanism "
        f"needs exactly {len(pivot_of) + len(left)} eliminated parameters.",
        [names[k] for k in extra],
    )
