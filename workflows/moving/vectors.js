"use strict";
// Vectors are arrays of three numbers, rotations arrays of nine by rows, quaternions of four,
// the scalar first.
const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const less = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const column = (R, k) => [R[k], R[k + 3], R[k + 6]];
const transposed = R => [R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]];
const turned = (R, v) => [
  R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
  R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
  R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
];

function composed(A, B) {
  const C = new Array(9);
  for (let i = 0; i < 9; i += 3)
    for (let j = 0; j < 3; j++) C[i + j] = A[i] * B[j] + A[i + 1] * B[j + 3] + A[i + 2] * B[j + 6];
  return C;
}

// The rotation by an angle about one of the axes 0, 1, 2.
function about(axis, angle) {
  const R = IDENTITY.slice(), c = Math.cos(angle), s = Math.sin(angle), j = (axis + 1) % 3, k = (axis + 2) % 3;
  R[4 * j] = R[4 * k] = c;
  R[3 * j + k] = -s;
  R[3 * k + j] = s;
  return R;
}

// The rotation whose z is along `axis` and whose x is `reference` made perpendicular to it.
function frame(axis, reference) {
  const z = times(axis, 1 / Math.sqrt(dot(axis, axis))), level = less(reference, times(z, dot(reference, z)));
  const x = times(level, 1 / Math.sqrt(dot(level, level))), y = cross(z, x);
  return [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
}

function quaternion(vector) {
  const angle = Math.sqrt(dot(vector, vector));
  // Below this angle the series' next term is below 1e-17.
  const scale = angle < 1e-4 ? 0.5 - angle * angle / 48 : Math.sin(angle / 2) / angle;
  return [Math.cos(angle / 2), ...times(vector, scale)];
}

// The rotation q followed by p, renormalised.
function followed(p, q) {
  const u = p.slice(1), v = q.slice(1);
  const product = [p[0] * q[0] - dot(u, v), ...plus(plus(times(v, p[0]), times(u, q[0])), cross(u, v))];
  const size = Math.sqrt(product.reduce((sum, x) => sum + x * x, 0));
  return product.map(x => x / size);
}

function ofQuaternion([w, x, y, z]) {
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
  ];
}

// The rotation vector of the step from one rotation vector to another.
function stepBetween(before, after) {
  const [w, x, y, z] = quaternion(before), step = followed(quaternion(after), [w, -x, -y, -z]);
  const [scalar, ...vector] = step[0] < 0 ? step.map(c => -c) : step;
  const sine = Math.sqrt(dot(vector, vector));
  return times(vector, sine < 1e-4 ? 2 + sine * sine / 3 : 2 * Math.atan2(sine, scalar) / sine);
}
