"use strict";
// Shows a film (film.py) in an element: everything is drawn anew from the bodies' poses. Returns
// what else may be done with it; names enter the page as text only.
function player(root, film) {
  const NS = "http://www.w3.org/2000/svg", n = film.frames, bodies = film.bodies.length + 1;
  const width = 720, still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const poses = film.poses instanceof Float32Array ? film.poses : numbers(film.poses);
  const per = film.flat ? 4 : 12, V = film.view.slice();
  const state = {frame: 0, playing: !still && n > 1, speed: 1, trace: true, efforts: true, names: true};

  function numbers(text) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
    return new Float32Array(bytes.buffer);
  }
  function make(name, attributes, parent) {
    const e = document.createElementNS(NS, name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (parent) parent.append(e);
    return e;
  }
  function element(name, text, parent) {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    if (parent) parent.append(e);
    return e;
  }

  // Where a vertex is in the world at frame f (a fraction is between two frames).
  function placed(v, f) {
    const a = Math.floor(f) % n, b = (a + 1) % n, w = f - Math.floor(f);
    const x = at(v, a);
    if (!w) return x;
    const y = at(v, b);
    return [x[0] + w * (y[0] - x[0]), x[1] + w * (y[1] - x[1]), x[2] + w * (y[2] - x[2])];
  }
  function at(v, k) {
    const o = (k * bodies + v[0]) * per, x = v[1], y = v[2], z = v[3], P = poses;
    if (film.flat)
      return [P[o] * x - P[o + 1] * y + P[o + 2], P[o + 1] * x + P[o] * y + P[o + 3], z];
    return [0, 1, 2].map(i => P[o + 3 * i] * x + P[o + 3 * i + 1] * y + P[o + 3 * i + 2] * z + P[o + 9 + i]);
  }
  // Of all that is ever drawn: the middle and the reach, so that nothing leaves the picture.
  const everything = [];
  for (let k = 0; k < n; k += Math.max(1, Math.floor(n / 40)))
    for (const line of film.lines) if (line.kind !== "axis") for (const v of line.at) everything.push(at(v, k));
  const low = [0, 1, 2].map(i => Math.min(...everything.map(p => p[i])));
  const high = [0, 1, 2].map(i => Math.max(...everything.map(p => p[i])));
  const middle = low.map((x, i) => (x + high[i]) / 2);
  const reach = Math.max(...everything.map(p => Math.hypot(...p.map((x, i) => x - middle[i])))) || 1;
  const air = 46, across = high[0] - low[0] || 1e-9, up = high[1] - low[1] || 1e-9;
  const height = film.flat ? Math.min(540, Math.max(280, (width - 2 * air) * up / across + 2 * air)) : 540;
  const zoom = film.flat ? Math.min((width - 2 * air) / across, (height - 2 * air) / up)
    : (height - 2 * air) / 2 / reach;
  let scale = zoom;
  function paper(p) {
    const d = [p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]];
    return [width / 2 + scale * (V[0] * d[0] + V[1] * d[1] + V[2] * d[2]),
      height / 2 - scale * (V[3] * d[0] + V[4] * d[1] + V[5] * d[2]),
      V[6] * d[0] + V[7] * d[1] + V[8] * d[2]];
  }
  const mean = points => points[0].map((_, i) => points.reduce((s, p) => s + p[i], 0) / points.length);
  const text = points => points.map(p => p[0].toFixed(1) + " " + p[1].toFixed(1)).join("L");

  const svg = make("svg", {viewBox: `0 0 ${width} ${height}`, class: film.flat ? "moving" : "moving turns", role: "img", tabindex: "0",
    "aria-label": `${film.mechanism}, moving over its ${film.motion}`}, root);
  const layers = {}, colour = b => b < bodies - 1 ? `var(--body-${b % 8 + 1})` : "var(--ink)";
  for (const name of ["back", "bars", "marks", "front", "names"]) layers[name] = make("g", {}, svg);
  const drawn = [];

  for (const line of film.lines) {
    const layer = line.kind === "bar" || line.kind === "tube" ? layers.bars : layers.back;
    const g = make("g", {class: line.kind}, layer);
    const shape = make("path", {stroke: colour(line.body), fill: line.kind === "bar" && line.at.length > 2 ? colour(line.body) : "none"}, g);
    const inner = line.kind === "slot" ? make("path", {class: "inner"}, g) : null;
    drawn.push(f => {
      let points = line.at.map(v => paper(placed(v, f)));
      if (line.kind === "bar" && points.length > 2) points = around(points);
      const closed = line.kind === "bar" && points.length > 2;
      let d = "M" + text(points) + (closed ? "Z" : "");
      if (line.kind === "pitch") d = "M" + text(points.slice(0, 46)) + (points.length > 46 ? "M" + text([points[0], points[46]]) : "");
      shape.setAttribute("d", d);
      if (inner) inner.setAttribute("d", d);
      return [g, points.reduce((s, p) => s + p[2], 0) / points.length, layer];
    });
  }
  function around(points) {
    const c = mean(points);
    return points.map(p => [Math.atan2(p[1] - c[1], p[0] - c[0]), p]).sort((a, b) => a[0] - b[0]).map(p => p[1]);
  }
  for (const mark of film.marks) {
    const g = make("g", {class: "mark" + (mark.driven ? " driven" : "") + (mark.filled ? " filled" : "")}, layers.marks);
    const stand = mark.ground >= 0 ? make("path", {class: "ground", d: "M0 0L-9 13H9ZM-13 13H13M-10 13l-4 5M-4 13l-4 5M2 13l-4 5M8 13l-4 5"}, g) : null;
    const sign = make("path", {d: {o: "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z", s: "M-11 -7H11V7H-11Z", h: "M6 0L3 5.2H-3L-6 0L-3 -5.2H3Z",
      D: "M6 0L0 6L-6 0L0 -6Z", p: "M0 -6L5.7 -1.9L3.5 4.9H-3.5L-5.7 -1.9Z", X: "M-5 -5L5 5M-5 5L5 -5"}[mark.kind]}, g);
    drawn.push(f => {
      const here = mean(mark.at.map(v => paper(placed(v, f))));
      let turn = 0;
      if (mark.kind === "s") {
        const [a, b] = mark.along.map(v => paper(placed(v, f)));
        turn = Math.atan2(b[1] - a[1], b[0] - a[0]) * 180 / Math.PI;
      }
      sign.setAttribute("transform", `translate(${here[0].toFixed(1)} ${here[1].toFixed(1)}) rotate(${turn.toFixed(1)})`);
      if (stand) {
        const foot = paper(placed(mark.ends[mark.ground], f));
        stand.setAttribute("transform", `translate(${foot[0].toFixed(1)} ${foot[1].toFixed(1)})`);
      }
      return null;
    });
  }
  const paths = film.points.map(point => {
    const line = make("path", {class: "trace", stroke: colour(point.body)}, layers.back);
    const dot = make("circle", {class: "point", r: 5, fill: colour(point.body)}, layers.front);
    drawn.push(f => {
      const p = paper(placed(point.at, f));
      dot.setAttribute("cx", p[0].toFixed(1));
      dot.setAttribute("cy", p[1].toFixed(1));
      return null;
    });
    return () => {
      const way = Array.from({length: n}, (_, k) => paper(at(point.at, k)));
      line.setAttribute("d", "M" + text(way) + (film.closed ? "Z" : ""));
      line.toggleAttribute("hidden", !state.trace);
    };
  });
  const most = {};
  for (const one of film.efforts) most[one.unit] = Math.max(most[one.unit] || 0, ...one.values.map(Math.abs));
  for (const one of film.efforts) {
    const arrow = make("path", {class: "effort"}, layers.front), tip = make("path", {class: "tip", d: "M7 0L-4 -5V5Z"}, layers.front);
    drawn.push(f => {
      const share = value(one, f) / (most[one.unit] || 1), show = state.efforts && Math.abs(share) > 0.02;
      arrow.toggleAttribute("hidden", !show);
      tip.toggleAttribute("hidden", !show);
      if (!show) return null;
      const c = placed(one.at, f), [a, b] = one.along.map(v => placed(v, f));
      const z = unit(b.map((x, i) => x - a[i])), way = [];
      if (one.kind === "push")
        for (const s of [0, 1]) way.push(paper(c.map((x, i) => x + s * share * z[i] * 80 / scale)));
      else {
        const x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), y = cross(z, x), steps = 24;
        for (let k = 0; k <= steps; k++) {
          const angle = -Math.PI / 2 + share * 4.7 * k / steps;
          way.push(paper(c.map((w, i) => w + (x[i] * Math.cos(angle) + y[i] * Math.sin(angle)) * 24 / scale)));
        }
      }
      const [from, to] = way.slice(-2);
      arrow.setAttribute("d", "M" + text(way));
      tip.setAttribute("transform", `translate(${to[0].toFixed(1)} ${to[1].toFixed(1)}) rotate(${(Math.atan2(to[1] - from[1], to[0] - from[0]) * 180 / Math.PI).toFixed(1)})`);
      return null;
    });
  }
  function cross(a, b) { return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]; }
  function unit(a) { const s = Math.hypot(...a) || 1; return a.map(x => x / s); }
  function value(one, f) {
    const a = Math.floor(f) % n, w = f - Math.floor(f), next = one.values[(a + 1) % n];
    return w ? one.values[a] + w * (next - one.values[a]) : one.values[a];
  }

  // Names: joints and points beside their marks, away from the middle; bodies on themselves.
  const held = [];
  for (const mark of film.marks) {
    const key = mark.at.map(v => at(v, 0).map(x => (x / reach).toFixed(3)).join()).join(), same = held.find(h => h.key === key);
    if (same) same.name += ", " + mark.name;
    else held.push({key, name: mark.name, at: mark.at, ink: "var(--ink)", away: 17});
  }
  for (const point of film.points) held.push({name: point.name, at: [point.at], ink: "var(--ink)", away: 17});
  film.lines.filter(l => l.kind === "bar").forEach(l =>
    held.push({name: film.bodies[l.body], at: l.at, ink: colour(l.body), away: l.at.length > 2 ? 0 : 13, along: l.at}));
  for (const one of held) {
    const label = make("text", {"text-anchor": "middle", "dominant-baseline": "central", fill: one.ink}, layers.names);
    label.textContent = one.name;
    drawn.push(f => {
      const p = mean(one.at.map(v => paper(placed(v, f))));
      let dx = p[0] - width / 2, dy = p[1] - height / 2;
      if (one.along && one.along.length === 2) {
        const [a, b] = one.along.map(v => paper(placed(v, f)));
        [dx, dy] = [b[1] - a[1], a[0] - b[0]];
        if (dx * (p[0] - width / 2) + dy * (p[1] - height / 2) < 0) [dx, dy] = [-dx, -dy];
      }
      const s = one.away / (Math.hypot(dx, dy) || 1), wide = 3.2 * one.name.length;
      const x = Math.min(width - wide - 4, Math.max(wide + 4, p[0] + s * dx + Math.sign(dx) * Math.min(1, Math.abs(s * dx) / 14) * wide));
      label.setAttribute("x", x.toFixed(1));
      label.setAttribute("y", Math.min(height - 9, Math.max(9, p[1] + s * dy)).toFixed(1));
      return null;
    });
  }

  let order = "";
  function show() {
    const f = state.frame, deep = drawn.map(one => one(f)).filter(Boolean);
    if (!film.flat) { // what is nearer is drawn later
      const bars = deep.filter(one => one[2] === layers.bars).sort((a, b) => a[1] - b[1]);
      const now = bars.map(one => deep.indexOf(one)).join();
      if (now !== order) layers.bars.append(...bars.map(one => one[0]));
      order = now;
    }
    layers.names.toggleAttribute("hidden", !state.names);
    tell();
  }
  function turned() { for (const path of paths) path(); show(); }

  // What is operated, and what it says.
  const panel = element("div", "", root), said = element("p", "", root);
  panel.className = "controls";
  said.className = "said";
  const play = element("button", "", panel);
  play.type = "button";
  const slider = element("input", "", panel);
  Object.assign(slider, {type: "range", min: 0, max: n - 1, step: "any", value: 0});
  slider.setAttribute("aria-label", "time");
  const speed = element("select", "", panel), SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
  speed.setAttribute("aria-label", "speed");
  for (const x of SPEEDS) element("option", `${x}×`, speed).value = x;
  function box(word, key, there) {
    const label = element("label", "", panel), input = element("input", "", label);
    input.type = "checkbox";
    input.checked = state[key];
    label.append(" " + word);
    label.hidden = !there;
    input.addEventListener("change", () => { state[key] = input.checked; turned(); });
    return () => { if (there) input.click(); };
  }
  const boxes = {t: box("paths", "trace", film.points.length > 0), f: box("drives", "efforts", film.efforts.length > 0), n: box("names", "names", true)};
  const reset = element("button", "View", panel);
  reset.type = "button";
  reset.title = "the view of the beginning";
  function number(x) { const a = Math.abs(x); return (a && (a < 0.001 || a >= 1e5) ? x.toExponential(2) : x.toFixed(a < 1 ? 3 : a < 100 ? 2 : 1)).replace("-", "−"); }
  function tell() {
    const f = state.frame, time = moment(f), parts = [["t", time, "s"]];
    for (const one of film.readings.slice(0, 6)) parts.push([one.name, value(one, f), one.unit]);
    if (state.efforts) for (const one of film.efforts.slice(0, 6)) parts.push(["drive " + one.name, value(one, f), one.unit]);
    said.replaceChildren(...parts.map(([name, x, unit]) => {
      const e = document.createElement("span");
      e.textContent = `${name} = ${number(x)}\u202f${unit}`;
      return e;
    }));
    slider.value = f;
    slider.setAttribute("aria-valuetext", `${number(time)} s`);
    play.textContent = state.playing ? "Pause" : "Play";
  }
  const step = film.duration / Math.max(1, film.closed ? n : n - 1);
  function moment(f) {
    const a = Math.min(Math.floor(f), n - 1), next = a + 1 < n ? film.t[a + 1] : film.duration;
    return film.t[a] + (f - a) * (next - film.t[a]);
  }
  const wish = film.duration / 4; // some four seconds for the whole motion
  state.speed = SPEEDS.reduce((best, x) => Math.abs(Math.log(x / wish)) < Math.abs(Math.log(best / wish)) ? x : best);
  if (wish < 1.6 && wish > 0.4) state.speed = 1;
  speed.value = state.speed;
  let last = null, asked = 0;
  function tick(now) {
    asked = 0;
    if (!state.playing || !root.isConnected) { last = null; return; }
    if (last !== null && step > 0) {
      const end = film.closed ? n : n - 1;
      state.frame += (now - last) / 1000 * state.speed / step;
      if (end > 0) state.frame %= end;
    }
    last = now;
    show();
    asked = requestAnimationFrame(tick);
  }
  function run(on) {
    state.playing = on && n > 1;
    last = null;
    if (state.playing && !asked) asked = requestAnimationFrame(tick);
    show();
  }
  function go(frame) { run(false); state.frame = Math.max(0, Math.min(n - 1, frame)); show(); }
  function turn(dx, dy) { // about the paper's upright, then about its level axis
    if (film.flat) return;
    const c = Math.cos(dx), s = Math.sin(dx), k = Math.cos(dy), m = Math.sin(dy);
    for (let i = 0; i < 3; i++) {
      const right = V[i] * c - V[6 + i] * s, eye = V[i] * s + V[6 + i] * c, above = V[3 + i];
      V[i] = right;
      V[3 + i] = above * k - eye * m;
      V[6 + i] = above * m + eye * k;
    }
    turned();
  }
  function beginning() { film.view.forEach((x, i) => { V[i] = x; }); scale = zoom; turned(); }
  play.addEventListener("click", () => run(!state.playing));
  slider.addEventListener("input", () => go(+slider.value));
  speed.addEventListener("change", () => { state.speed = +speed.value; });
  reset.addEventListener("click", beginning);
  reset.hidden = film.flat;
  const held_by = new Map();
  let apart = 0;
  svg.addEventListener("pointerdown", e => { if (!film.flat) { held_by.set(e.pointerId, [e.clientX, e.clientY]); svg.setPointerCapture(e.pointerId); apart = 0; } });
  svg.addEventListener("pointermove", e => {
    const before = held_by.get(e.pointerId);
    if (!before) return;
    held_by.set(e.pointerId, [e.clientX, e.clientY]);
    if (held_by.size === 1) turn((e.clientX - before[0]) / 150, (e.clientY - before[1]) / 150);
    else {
      const [a, b] = [...held_by.values()], far = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (apart) { scale = Math.min(8 * zoom, Math.max(zoom / 4, scale * far / apart)); turned(); }
      apart = far;
    }
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, e => { held_by.delete(e.pointerId); apart = 0; });
  svg.addEventListener("wheel", e => {
    if (film.flat || !e.ctrlKey && document.activeElement !== svg) return;
    e.preventDefault();
    scale = Math.min(8 * zoom, Math.max(zoom / 4, scale * Math.exp(-e.deltaY / 500)));
    turned();
  }, {passive: false});
  root.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target === speed) return;
    const ways = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1]}, way = ways[e.key];
    if (way && e.shiftKey) turn(...way);
    else if (way && way[0]) go(Math.round(state.frame) + 10 * way[0]);
    else if (e.key === " " && e.target !== play && e.target.type !== "checkbox" && e.target !== reset) run(!state.playing);
    else if ((e.key === "+" || e.key === "-") && SPEEDS[SPEEDS.indexOf(state.speed) + (e.key === "+" ? 1 : -1)]) {
      state.speed = SPEEDS[SPEEDS.indexOf(state.speed) + (e.key === "+" ? 1 : -1)];
      speed.value = state.speed;
    } else if (e.key === "Home") go(0);
    else if (e.key === "End") go(n - 1);
    else if (boxes[e.key.toLowerCase()]) boxes[e.key.toLowerCase()]();
    else return;
    e.preventDefault();
  });
  panel.hidden = n < 2;
  turned();
  run(state.playing);
  return {state, go, run, show, turn, end: () => { run(false); root.replaceChildren(); }};
}
