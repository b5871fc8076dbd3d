"""A random motion of one member as a power series, its modes, and rows of the energy form.

Chord Newton gains one order a step with one fixed inverse; then the modes (a basis of the
velocities that the joints allow) and, for every pair of modes, what is linear in the inertial
parameters in the kinetic energy, and for every mode in the work of gravity. These rows have the
null space of the inverse dynamics' W and need no accelerations (decision 8).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from flint import nmod, nmod_mat, nmod_poly

from basepar_core.errors import FamilyError
from basepar_core.symbolic import slender

from .arithmetic import Draw, pivots
from .constraints import gaps, jacobian
from .energy_form import (
    Rows,
    body_velocities,
    gravity_row,
    gravity_rows,
    kinetic_row,
    kinetic_rows,
)
from .placed_rows import Layout, Poses, Row
from .random_points import Point
from .series import SeriesMatrix, SeriesVec, Truncated, coefficients
from .spanning_partners import spanning_partners


class Motion:
    """One member's motion and the rank of its energy rows, order by order.

    Parameters
    ----------
    point
        A member of the family, assembled.
    planar
        Whether the mechanism is planar.
    draw
        For the drive: random coefficients of all orders, which the stall's theorem needs.
    """

    def __init__(self, point: Point, planar: bool, draw: Draw):
        self.point, self.planar, self.draw, self.prime = point, planar, draw, point.prime
        self.layout = Layout(point, planar)
        width = self.layout.width
        ring, start = Truncated(self.prime, 1), self.poses(Truncated(self.prime, 1), [])
        if any(coefficients(gap, 1)[0] != 0 for gap in gaps(point, ring, start, planar)):
            raise FamilyError(
                "The point does not close its loops: this is a defect; please report."
            )
        rows = jacobian(point, ring, start, self.layout)
        self.equations = len(rows)
        at_start = self._matrix(rows, 0)
        self.kept = pivots(at_start.transpose()) if rows else []
        self.freedoms = width - len(self.kept)
        constraints = [
            {place: coefficients(x, 1)[0] for place, x in rows[k].items()} for k in self.kept
        ]
        self.drive = self._drive(constraints)
        #: The kept rows at the start, then the drive's.
        self.square = nmod_mat(width, width, self.prime)
        for i, row in enumerate([*constraints, *({place: 1} for place in self.drive)]):
            for place, x in row.items():
                self.square[i, place] = x
        #: Coefficients of the motion by order, and of the Jacobian's kept rows.
        self.path: list[list[nmod]] = []
        self.slopes: list[nmod_mat] = []

    # The motion.

    def _drive(self, constraints: Sequence[Mapping[int, nmod]]) -> list[int]:
        """Twist coordinates that determine the others.

        The constraints are solved for the last bodies' first, so that of a tree every mode moves
        only what hangs on one joint, and most of the energy form's rows are zeros.
        """
        width = self.layout.width
        turned = nmod_mat(len(constraints), width, self.prime)
        for i, row in enumerate(constraints):
            for place, x in row.items():
                turned[i, width - 1 - place] = x
        solved = {width - 1 - k for k in pivots(turned)} if constraints else set()
        return [k for k in range(width) if k not in solved]

    @cached_property
    def inverse(self) -> nmod_mat:
        """Of `square`."""
        return self.square.inv()

    @cached_property
    def modes(self) -> list[nmod_mat]:
        """Coefficients of the modes by order: twists (place, mode)."""
        right = nmod_mat(self.layout.width, self.freedoms, self.prime)
        for k in range(self.freedoms):
            right[len(self.kept) + k, k] = 1
        return [self.square.solve(right)]

    def poses(self, ring: Truncated, path: Sequence[Sequence[nmod]]) -> Poses:
        """Poses along the motion; `path` has its coefficients from order 1 up."""
        zero = nmod(0, self.prime)
        columns = (
            [nmod_poly([zero, *c], self.prime) for c in zip(*path, strict=True)]
            if path
            else [nmod_poly([zero], self.prime)] * self.layout.width
        )
        R: list[SeriesMatrix] = []
        p: list[SeriesVec] = []
        for body in range(self.layout.bodies):
            shift, h = self.layout.twist(columns, body)
            R.append(ring.turned_from(h, self.point.R[body]))
            start = self.point.p[body]
            x, y, z = (0 if self.planar and k == 2 else start[k] + shift[k] for k in range(3))
            p.append((x, y, z))
        ground: SeriesMatrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
        return Poses([*R, ground], [*p, (0, 0, 0)])

    def _extend_path(self, order: int) -> None:
        """One order a step: the error of x below order k moves only coefficient k."""
        half = 1 / nmod(2, self.prime)
        for k in range(len(self.path) + 1, order):
            ring = Truncated(self.prime, k + 1)
            open_ = gaps(self.point, ring, self.poses(ring, self._as_path(k)), self.planar)
            right = nmod_mat(self.layout.width, 1, self.prime)
            for i, row in enumerate(self.kept):
                right[i, 0] = -nmod(int(coefficients(open_[row], k + 1)[k]), self.prime)
            for i in range(self.freedoms):
                right[len(self.kept) + i, 0] = self.draw()
            step = self.inverse * right
            # Cayley's vector is half the angle.
            self.path.append(
                [
                    step[i, 0] * (half if self._is_angular(i) else 1)
                    for i in range(self.layout.width)
                ]
            )

    def _as_path(self, k: int) -> list[list[nmod]]:
        return self.path[: k - 1]

    def _is_angular(self, place: int) -> bool:
        return place % self.layout.size >= len(self.layout.linear)

    def _extend_modes(self, ring: Truncated, at: Poses) -> None:
        rows = jacobian(self.point, ring, at, self.layout)
        chosen = [rows[k] for k in self.kept]
        first = len(self.slopes)
        self.slopes += self._slices(chosen, first, ring.order)
        if not self.freedoms:
            return
        for k in range(len(self.modes), ring.order):
            total = nmod_mat(self.layout.width, self.freedoms, self.prime)
            for i in range(1, k + 1):
                total += self.slopes[i] * self.modes[k - i]
            self.modes.append(self.inverse * (-total))

    def _slices(self, rows: Sequence[Row], first: int, order: int) -> list[nmod_mat]:
        """Coefficients of the rows by order, as square matrices with zeros for the drive."""
        width = self.layout.width
        found = [nmod_mat(width, width, self.prime) for _ in range(first, order)]
        for i, row in enumerate(rows):
            for place, series in row.items():
                for k, x in enumerate(coefficients(series, order)[first:]):
                    if x != 0:
                        found[k][i, place] = x
        return found

    def _matrix(self, rows: Sequence[Row], order: int) -> nmod_mat:
        matrix = nmod_mat(len(rows), self.layout.width, self.prime)
        for i, row in enumerate(rows):
            for place, series in row.items():
                matrix[i, place] = coefficients(series, order + 1)[order]
        return matrix

    # Rows.

    def energy_rows(self, order: int) -> list[Rows]:
        """Rows that span the energy form's, `order` terms each."""
        self._extend_path(order)
        ring = Truncated(self.prime, order)
        at = self.poses(ring, self.path[: order - 1])
        self._extend_modes(ring, at)
        terms = self._terms(order)
        columns = [[nmod_poly(x, self.prime) if any(x) else 0 for x in one] for one in terms]
        velocities = [body_velocities(self.layout, ring, at, column) for column in columns]
        driven = [place // self.layout.size for place in self.drive]
        moved = [one.keys() for one in velocities]
        partners = spanning_partners(self.point, self.layout, moved, driven, self.modes[0])
        rows = kinetic_rows(self.layout, ring, velocities, partners)
        if terms and any(x != 0 for x in self.point.gravity):
            rows.append(gravity_rows(self.layout, ring, at, terms, self.point.gravity))
        return rows

    def mixed_rows(self) -> nmod_mat:
        """Rows at the start of the motion (parameter, row), of two random motions there.

        What is null to these is null to all pairs of modes, but for a share 2/p of the draws.
        """
        ring = Truncated(self.prime, 1)
        at = self.poses(ring, [])
        weights = [self.draw() for _ in range(2 * self.freedoms)]
        twists = self.modes[0] * nmod_mat(self.freedoms, 2, weights, self.prime)
        columns = [
            [nmod_poly([x], self.prime) if x != 0 else 0 for x in column]
            for column in twists.transpose().tolist()
        ]
        one, two = (body_velocities(self.layout, ring, at, column) for column in columns)
        kinetic = kinetic_row(self.layout, ring, one, two)
        work = gravity_row(self.layout, ring, at, columns[0], self.point.gravity)
        return self._by_parameter([Rows(1, 1, kinetic), Rows(1, 1, work)], 1)

    def _terms(self, order: int) -> list[list[list[nmod]]]:
        """Terms of the modes' twists, by mode and place."""
        tables = [mode.transpose().tolist() for mode in self.modes[:order]]
        return [list(map(list, zip(*rows, strict=True))) for rows in zip(*tables, strict=True)]

    def coefficient_matrix(self, order: int) -> nmod_mat:
        """All coefficients of orders below `order`: (parameter, order·row), order by order."""
        return self._by_parameter(self.energy_rows(order), order)

    def _by_parameter(self, rows: Sequence[Rows], order: int) -> nmod_mat:
        """Coefficients of series (row, parameter) as `coefficient_matrix` has them."""
        count, width = self.layout.bodies * self.layout.parameters, sum(it.count for it in rows)
        matrix = nmod_mat(count, order * width, self.prime)
        first = 0
        for it in rows:
            for j, series in enumerate(it.entries):
                if type(series) is int and series == 0:
                    continue
                terms = coefficients(series, it.count * it.stride)
                for k in range(order):
                    for place, x in enumerate(terms[k :: it.stride], k * width + first):
                        if x:
                            matrix[j, place] = x
            first += it.count
        self._tie(matrix)
        return matrix

    def _tie(self, matrix: nmod_mat) -> None:
        """Rows of bodies of a stated form in the place of their own."""
        zero, one, width = nmod(0, self.prime), nmod(1, self.prime), self.layout.parameters
        for body in self.point.massless:
            for k in range(body * width, (body + 1) * width):
                for column in range(matrix.ncols()):
                    matrix[k, column] = zero
        for body, (a, d) in self.point.lines.items():
            top, places = body * width, range(width)
            units = [slender([one if i == k else zero for i in places], a, d) for k in places]
            own = nmod_mat(
                width,
                matrix.ncols(),
                [matrix[top + k, c] for k in places for c in range(matrix.ncols())],
                self.prime,
            )
            flat = [units[k][p] for p in places for k in places]
            found = nmod_mat(width, width, flat, self.prime) * own
            for k in places:
                for column in range(matrix.ncols()):
                    matrix[top + k, column] = found[k, column]

    def redundant_gaps_vanish(self, order: int) -> bool:
        """Whether equations left out of the motion hold along it, to this order."""
        ring = Truncated(self.prime, order)
        at = self.poses(ring, self.path[: order - 1])
        found = gaps(self.point, ring, at, self.planar)
        return all(x == 0 for k, series in enumerate(found) for x in coefficients(series, order))


def ranks_by_order(matrix: nmod_mat, order: int) -> list[int]:
    """Rank of the coefficients of the first 1, 2, … orders."""
    rows = matrix.ncols() // order
    counts = [0] * order
    for column in pivots(matrix):
        counts[column // rows] += 1
    total, found = 0, []
    for count in counts:
        total += count
        found.append(total)
    return found
