"use strict";
// What a picture is made of, as SVG elements. Each function returns what draws it at a frame.
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, parent) {
  const e = document.createElementNS(SVG, name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  if (parent) parent.append(e);
  return e;
}

const fixed = x => x.toFixed(1);
const polyline = points => "M" + points.map(p => `${fixed(p[0])} ${fixed(p[1])}`).join("L");
const middleOf = points => times(points.reduce(plus, [0, 0, 0]), 1 / points.length);
const bearing = (a, b) => fixed(Math.atan2(b[1] - a[1], b[0] - a[0]) * 180 / Math.PI);
const bodyColour = (film, body) => body < film.bodies.length ? `var(--body-${body % 8 + 1})` : "var(--ink)";

// Corners in the order in which they lie around their middle.
function around(points) {
  const c = middleOf(points), angle = p => Math.atan2(p[1] - c[1], p[0] - c[0]);
  return points.map(p => [angle(p), p]).sort((a, b) => a[0] - b[0]).map(p => p[1]);
}

const CIRCLE = 46; // corners of a pitch circle

function linePart(stage, line) {
  const {film, seen, layers} = stage, above = line.kind === "bar" || line.kind === "tube";
  const layer = above ? layers.bars : layers.back, g = shape("g", {class: line.kind}, layer), colour = bodyColour(film, line.body);
  const area = line.kind === "bar" && line.at.length > 2;
  const path = shape("path", {stroke: colour, fill: area ? colour : "none"}, g);
  const inner = line.kind === "slot" ? shape("path", {class: "inner"}, g) : null;
  return f => {
    const points = line.at.map(v => seen(v, f)), outline = area ? around(points) : points.slice(0, CIRCLE);
    let d = polyline(outline) + (area ? "Z" : "");
    if (points.length > CIRCLE) d += polyline([points[0], points[CIRCLE]]); // a spoke shows how it turns
    for (const e of [path, inner]) if (e) e.setAttribute("d", d);
    return {g, layer, depth: middleOf(points)[2], points: line.kind === "axis" ? [] : [...outline, ...outline.slice(0, +area)]};
  };
}

const SIGNS = {
  o: "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
  s: "M-11 -7H11V7H-11Z",
  h: "M6 0L3 5.2H-3L-6 0L-3 -5.2H3Z",
  D: "M6 0L0 6L-6 0L0 -6Z",
  p: "M0 -6L5.7 -1.9L3.5 4.9H-3.5L-5.7 -1.9Z",
  X: "M-5 -5L5 5M-5 5L5 -5",
};
const FOOT = "M0 0L-9 13H9ZM-13 13H13M-10 13l-4 5M-4 13l-4 5M2 13l-4 5M8 13l-4 5";

function markPart({seen, layers, sees}, mark) {
  const word = "mark" + (mark.driven ? " driven" : "") + (mark.filled ? " filled" : "");
  // What it stands on is behind the bars: it must not hide a short one.
  const foot = mark.ground >= 0 ? shape("path", {class: "ground", d: FOOT}, shape("g", {class: "mark"}, layers.back)) : null;
  const sign = shape("path", {d: SIGNS[mark.kind]}, shape("g", {class: word}, layers.marks));
  return f => {
    const here = middleOf(mark.at.map(v => seen(v, f))), size = sees.marks().toFixed(2);
    const turn = mark.kind === "s" ? bearing(...mark.along.map(v => seen(v, f))) : 0;
    sign.setAttribute("transform", `translate(${fixed(here[0])} ${fixed(here[1])}) rotate(${turn}) scale(${size})`);
    if (foot) {
      const stands = seen(mark.ends[mark.ground], f);
      foot.setAttribute("transform", `translate(${fixed(stands[0])} ${fixed(stands[1])}) scale(${size})`);
    }
    return {here};
  };
}

// A point's path over all frames, and the point on it.
function pathPart({film, n, at, sees, seen, layers, state}, point, dot) {
  const colour = bodyColour(film, point.body), line = shape("path", {class: "trace", stroke: colour}, layers.back);
  const mark = dot ? shape("circle", {class: "point", r: 5, fill: colour}, layers.front) : null;
  return {
    draw: f => {
      const p = seen(point.at, f);
      if (mark) {
        mark.setAttribute("cx", fixed(p[0]));
        mark.setAttribute("cy", fixed(p[1]));
      }
      return {here: p};
    },
    trace: () => {
      line.toggleAttribute("hidden", !state.trace);
      if (state.trace)
        line.setAttribute("d", polyline(Array.from({length: n}, (_, k) => sees.paper(at(point.at, k)))) + (film.closed ? "Z" : ""));
    },
  };
}

// What a drive gives: a force as an arrow along its axis, a torque as an arc about it; each unit at
// a scale of its own.
function effortPart({film, placed, sees, value, layers, state}, one) {
  const FORCE = 80, ARC = 24, ROUND = 4.7, STEPS = 24;
  const most = Math.max(...film.efforts.filter(other => other.unit === one.unit).flatMap(other => other.values.map(Math.abs))) || 1;
  const arrow = shape("path", {class: "effort"}, layers.front), tip = shape("path", {class: "tip", d: "M7 0L-4 -5V5Z"}, layers.front);
  const unit = a => times(a, 1 / (Math.hypot(...a) || 1));
  return f => {
    const share = value(one, f) / most, shown = state.efforts && Math.abs(share) > 0.02;
    arrow.toggleAttribute("hidden", !shown);
    tip.toggleAttribute("hidden", !shown);
    if (!shown) return {};
    const c = placed(one.at, f), [a, b] = one.along.map(v => placed(v, f)), z = unit(less(b, a)), way = [];
    if (one.kind === "push") way.push(c, plus(c, times(z, share * FORCE / sees.scale)));
    else {
      const x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), y = cross(z, x);
      for (let k = 0; k <= STEPS; k++) {
        const angle = -Math.PI / 2 + share * ROUND * k / STEPS, arm = ARC / sees.scale;
        way.push(plus(c, plus(times(x, arm * Math.cos(angle)), times(y, arm * Math.sin(angle)))));
      }
    }
    const points = way.map(sees.paper), [from, to] = points.slice(-2);
    const length = points.slice(1).reduce((sum, p, k) => sum + Math.hypot(p[0] - points[k][0], p[1] - points[k][1]), 0);
    arrow.setAttribute("d", polyline(points));
    const place = `translate(${fixed(to[0])} ${fixed(to[1])}) rotate(${bearing(from, to)})`;
    tip.setAttribute("transform", `${place} scale(${Math.min(1, Math.max(0.4, length / 16)).toFixed(2)})`);
    return {};
  };
}
