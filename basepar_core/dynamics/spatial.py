"""Vectors and rotations with the components first: a vector is (3, …), a matrix (3, 3, …).

Components first, batch last, because NumPy then works on contiguous runs of the batch: 6 to 10
times faster than (…, 3, 3) with matmul for the batches met here, and `a[0]` reads like the page.
"""

import numpy as np

from basepar_core.arrays import Array

# Below this angle (rad) series replace quotients: their next term is below 1e-17 relative.
SMALL = 1e-4


def dot(a: Array, b: Array) -> Array:
    """Scalar product of (3, …) vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Array, b: Array) -> Array:
    """Vector product of (3, …) vectors."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        out[k] = a[i] * b[j] - a[j] * b[i]
    return out


def rotate(R: Array, v: Array) -> Array:
    """R v."""
    return np.einsum("ij...,j...->i...", R, v)


def rotate_back(R: Array, v: Array) -> Array:
    """Rᵀ v."""
    return np.einsum("ji...,j...->i...", R, v)


def compose(A: Array, B: Array) -> Array:
    """A B."""
    return np.einsum("ij...,jk...->ik...", A, B)


def contract(A: Array, b: Array) -> Array:
    """Σⱼ A[:, j] b[j], in the order of j whatever the batch; einsum's order depends on it."""
    return sum((A[:, j] * b[j] for j in range(1, len(b))), A[:, 0] * b[0])


def transpose(R: Array) -> Array:
    """Rᵀ."""
    return np.swapaxes(R, 0, 1)


def about_z(angle: Array) -> Array:
    """Rotation by `angle` (rad) about z."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((3, 3, *np.shape(angle)), np.result_type(c))
    R[0, 0], R[0, 1], R[1, 0], R[1, 1], R[2, 2] = c, -s, s, c, 1.0
    return R


def angle_of(y: Array, x: Array) -> Array:
    """Angle of the point (x, y), in (−π, π].

    Of complex numbers the first-order part besides: arctan2 is not defined for them, and the
    complex-step derivatives of `sensitivity.py` go through here.
    """
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    moved = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return np.arctan2(y.real, x.real) + 1j * moved


def frame(axis: Array, reference: Array) -> Array:
    """Rotation whose z is along `axis` and whose x is `reference` made perpendicular to it."""
    axis, reference = np.broadcast_arrays(axis, reference)  # one may be the same for all
    z = axis / np.sqrt(dot(axis, axis))
    x = reference - z * dot(reference, z)
    x = x / np.sqrt(dot(x, x))
    return np.stack([x, cross(z, x), z], axis=1)


def quaternion(rotation_vector: Array) -> Array:
    """Unit quaternion (4, …), scalar first, of a rotation vector (3, …) in rad."""
    angle = np.sqrt(dot(rotation_vector, rotation_vector))
    half = angle / 2
    scale = np.where(angle < SMALL, 0.5 - angle**2 / 48, np.sin(half) / np.maximum(angle, SMALL))
    return np.concatenate([np.cos(half)[None], scale * rotation_vector])


def quaternion_product(p: Array, q: Array) -> Array:
    """Quaternion of the rotation q followed by p, renormalised."""
    scalar = p[0] * q[0] - dot(p[1:], q[1:])
    vector = p[0] * q[1:] + q[0] * p[1:] + cross(p[1:], q[1:])
    product = np.concatenate([scalar[None], vector])
    return product / np.sqrt((product**2).sum(axis=0))


def matrix_of_quaternion(q: Array) -> Array:
    """Rotation matrix (3, 3, …) of a unit quaternion (4, …)."""
    w, x, y, z = q
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]),
        ]
    )


def matrix(rotation_vector: Array) -> Array:
    """Rotation matrix of a rotation vector (3, …), rad."""
    return matrix_of_quaternion(quaternion(rotation_vector))


def rotation_vector(R: Array) -> Array:
    """Rotation vector (3, …), angle in [0, π], of a rotation matrix.

    By the largest of the four quaternion components, so that no angle loses digits.
    """
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz])
    columns = np.stack(  # 4 q_k q: proportional to the quaternion, one for each k
        [
            np.stack([squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]),
            np.stack([R[2, 1] - R[1, 2], squares[1], R[1, 0] + R[0, 1], R[0, 2] + R[2, 0]]),
            np.stack([R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], squares[2], R[2, 1] + R[1, 2]]),
            np.stack([R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2], squares[3]]),
        ]
    )
    best = np.argmax(squares, axis=0)
    q = np.take_along_axis(columns, best[None, None], axis=0)[0]
    q = q / np.sqrt((q**2).sum(axis=0))
    q = np.where(q[0] < 0, -q, q)
    sine = np.sqrt(dot(q[1:], q[1:]))
    angle = 2 * angle_of(sine, q[0])
    scale = np.where(sine < SMALL, 2 + sine**2 / 3, angle / np.maximum(sine, SMALL))
    return scale * q[1:]


def continued(r: Array, near: Array) -> Array:
    """Rotation vectors (3, …) of the same rotations as r, whole turns away, nearest to others.

    Where r vanishes it has no axis; a whole turn is about the other's.
    """
    angle = np.sqrt(dot(r, r))
    turned = near / np.maximum(np.sqrt(dot(near, near)), SMALL)
    axis = np.where(angle > 0, r / np.where(angle > 0, angle, 1.0), turned)
    turns = np.round((dot(axis, near) - angle) / (2 * np.pi))
    return r + 2 * np.pi * turns * axis


def unwrapped(vectors: Array) -> Array:
    """Rotation vectors (3, …, sample), each the representative nearest to the one before."""
    found = vectors.copy()
    for sample in range(1, vectors.shape[-1]):
        found[..., sample] = continued(vectors[..., sample], found[..., sample - 1])
    return found


def rate_map(r: Array) -> Array:
    """J(r), (3, 3, …): angular velocity ω = J(r) ṙ of the rotation exp(r), in the fixed frame."""
    return _map(r, *_coefficients(dot(r, r))[:2])


def inverse_rate_map(r: Array) -> Array:
    """J(r)⁻¹, (3, 3, …): ṙ = J⁻¹ω."""
    J = np.moveaxis(rate_map(r), (0, 1), (-2, -1))
    return np.moveaxis(np.linalg.inv(J), (-2, -1), (0, 1))


def rate_map_derivative(r: Array, r_dot: Array) -> Array:
    """dJ/dt along ṙ, (3, 3, …)."""
    b, c, b_dash, c_dash = _coefficients(dot(r, r))
    square_dot = 2 * dot(r, r_dot)
    K, K_dot = _skew(r), _skew(r_dot)
    return (
        b * K_dot
        + c * (compose(K, K_dot) + compose(K_dot, K))
        + square_dot * (b_dash * K + c_dash * compose(K, K))
    )


def _map(r: Array, b: Array, c: Array) -> Array:
    K = _skew(r)
    eye = np.eye(3).reshape((3, 3) + (1,) * (r.ndim - 1))
    return eye + b * K + c * compose(K, K)


def _skew(v: Array) -> Array:
    zero = np.zeros_like(v[0])
    return np.stack(
        [
            np.stack([zero, -v[2], v[1]]),
            np.stack([v[2], zero, -v[0]]),
            np.stack([-v[1], v[0], zero]),
        ]
    )


def _coefficients(square: Array) -> tuple[Array, Array, Array, Array]:
    """(1−cos θ)/θ², (θ−sin θ)/θ³ and their derivatives by θ², as functions of θ²."""
    # The quotients lose about eps/θ⁴ in the derivatives; 0.2 rad with six terms keeps 1e-13.
    small = square < 0.04
    t2 = np.where(small, 1.0, square)
    t = np.sqrt(t2)
    b = (1 - np.cos(t)) / t2
    c = (t - np.sin(t)) / (t * t2)
    b_dash = (np.sin(t) / t / 2 - b) / t2
    c_dash = ((1 - np.cos(t)) / t2 / 2 - 1.5 * c) / t2
    x = square
    b_series = [1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800, -1 / 479001600]
    c_series = [1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800]
    derive = np.polynomial.polynomial.polyder
    value = np.polynomial.polynomial.polyval
    return (
        np.where(small, value(x, b_series), b),
        np.where(small, value(x, c_series), c),
        np.where(small, value(x, derive(b_series)), b_dash),
        np.where(small, value(x, derive(c_series)), c_dash),
    )
