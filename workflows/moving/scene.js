"use strict";
// A film (film.py, filmed.js) as places in the world: frame f is a number, between two frames too.
function scene(film) {
  const POINT = 1e-3; // a bar shorter than this share of the longest is a point
  const n = film.frames, bodies = film.bodies.length + 1, per = film.flat ? 4 : 12;
  const P = film.poses instanceof Float32Array ? film.poses : new Float32Array(bytes(film.poses).buffer);

  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) out[k] = raw.charCodeAt(k);
    return out;
  }

  // A vertex [body, x, y, z] in a whole frame.
  function at([body, x, y, z], frame) {
    const o = (frame * bodies + body) * per;
    if (film.flat) return [P[o] * x - P[o + 1] * y + P[o + 2], P[o + 1] * x + P[o] * y + P[o + 3], z];
    const row = i => P[o + 3 * i] * x + P[o + 3 * i + 1] * y + P[o + 3 * i + 2] * z + P[o + 9 + i];
    return [row(0), row(1), row(2)];
  }

  // Between two frames everything goes in straight lines.
  function placed(vertex, f) {
    const a = Math.floor(f) % n, w = f - Math.floor(f), here = at(vertex, a);
    return w ? plus(times(here, 1 - w), times(at(vertex, (a + 1) % n), w)) : here;
  }

  function value({values}, f) {
    const a = Math.floor(f) % n, w = f - Math.floor(f);
    return w ? values[a] + w * (values[(a + 1) % n] - values[a]) : values[a];
  }

  function moment(f) {
    const a = Math.min(Math.floor(f), n - 1), next = a + 1 < n ? film.t[a + 1] : film.duration;
    return film.t[a] + (f - a) * (next - film.t[a]);
  }

  // Of a body's outline the longest side, which it keeps in any pose; without those of points.
  const sides = film.lines.filter(line => line.kind === "bar").map(({at: corners}) =>
    Math.max(...corners.flatMap(a => corners.map(b => Math.hypot(a[1] - b[1], a[2] - b[2], a[3] - b[3])))));
  const shortest = Math.min(...sides.filter(side => side > POINT * Math.max(...sides)), Infinity);
  // All that is ever drawn, in some of the frames, so that nothing leaves the picture.
  const everything = [];
  for (let k = 0; k < n; k += Math.max(1, Math.floor(n / 40)))
    for (const line of film.lines) if (line.kind !== "axis") for (const v of line.at) everything.push(at(v, k));
  const step = film.duration / Math.max(1, film.closed ? n : n - 1);
  return {film, n, step, at, placed, value, moment, everything, shortest};
}

// From where a scene is seen: the world on paper, in points, y down; and how near to the eye.
function camera({film, everything, shortest}) {
  // As paper.py has them, with their reasons.
  const WIDTH = 720, LEAST = 300, MOST = 540, AIR = 46, FULL = 30, SMALLEST = 0.5;
  const axes = film.view.slice(), width = WIDTH;
  const range = axis => {
    const along = everything.map(p => dot(axis, p));
    return [Math.min(...along), Math.max(...along)];
  };
  const rows = () => [0, 3, 6].map(k => axes.slice(k, k + 3)), [right, up, eye] = rows();
  const box = [right, up, eye].map(range), [across, tall] = box.map(([low, high]) => high - low || 1e-9);
  const middle = [right, up, eye].reduce((sum, axis, k) => plus(sum, times(axis, (box[k][0] + box[k][1]) / 2)), [0, 0, 0]);
  const height = Math.min(MOST, Math.max(LEAST, (WIDTH - 2 * AIR) * tall / across + 2 * AIR));
  const fit = Math.min((WIDTH - 2 * AIR) / across, (height - 2 * AIR) / tall);
  // Turned about, a spatial mechanism may need more room than it does now.
  const reach = Math.max(...everything.map(p => Math.hypot(...less(p, middle)))) || 1;
  const zoom = film.flat ? fit : Math.min(fit, 1.7 * (height / 2 - AIR / 2) / reach), sees = {axes, width, height, scale: zoom};

  sees.paper = p => {
    const d = less(p, middle), s = sees.scale;
    return [
      width / 2 + s * (axes[0] * d[0] + axes[1] * d[1] + axes[2] * d[2]),
      height / 2 - s * (axes[3] * d[0] + axes[4] * d[1] + axes[5] * d[2]),
      axes[6] * d[0] + axes[7] * d[1] + axes[8] * d[2],
    ];
  };
  // How large marks are, so that the shortest bar is seen between them.
  sees.marks = () => Math.min(1, Math.max(SMALLEST, shortest * sees.scale / FULL));
  // About the paper's upright, then about its level axis.
  sees.turn = (dx, dy) => {
    const c = Math.cos(dx), s = Math.sin(dx), k = Math.cos(dy), m = Math.sin(dy);
    for (let i = 0; i < 3; i++) {
      const level = axes[i] * c - axes[6 + i] * s, near = axes[i] * s + axes[6 + i] * c, above = axes[3 + i];
      axes[i] = level;
      axes[3 + i] = above * k - near * m;
      axes[6 + i] = above * m + near * k;
    }
  };
  sees.come = factor => { sees.scale = Math.min(8 * zoom, Math.max(zoom / 4, sees.scale * factor)); };
  sees.back = () => {
    film.view.forEach((x, i) => { axes[i] = x; });
    sees.scale = zoom;
  };
  return sees;
}
