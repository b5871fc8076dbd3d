"use strict";
// Shows a film in an element: everything is drawn anew from the bodies' poses. Returns what else
// may be done with it; names enter the page as text only.
//
// `paused`: it waits for Play. `beside`: films that are seen at the same scale.
function player(root, film, {paused = false, beside = []} = {}) {
  const it = scene(film);
  for (const other of beside) it.everything.push(...scene(other).everything);
  const sees = camera(it), {n} = it;
  const still = paused || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const state = {frame: 0, playing: !still && n > 1, speed: 1, trace: film.points.length > 0, efforts: true, names: true};
  const svg = shape("svg", {viewBox: `0 0 ${sees.width} ${sees.height.toFixed(0)}`, class: film.flat ? "moving" : "moving turns",
    role: "img", tabindex: "0", "aria-label": `${film.mechanism}, moving over its ${film.motion}`}, root);
  const layers = {};
  for (const name of ["back", "bars", "marks", "front", "names"]) layers[name] = shape("g", {}, svg);
  const stage = {...it, sees, layers, state, seen: (v, f) => sees.paper(it.placed(v, f))};

  const lines = film.lines.map(line => linePart(stage, line)), marks = film.marks.map(mark => markPart(stage, mark));
  // Without points of the file the joints that move leave paths, if somebody asks.
  const moving = film.marks.filter(mark => mark.ends.every(([body]) => body < film.bodies.length));
  const traced = film.points.length ? film.points : moving.map(mark => ({body: mark.ends[0][0], at: mark.ends[0]}));
  const paths = traced.map(point => pathPart(stage, point, film.points.length > 0));
  const efforts = film.efforts.map(one => effortPart(stage, one)), names = labels(stage, layers.names);

  let order = "";
  function show(hasty = true) {
    const f = state.frame, drawn = lines.map(draw => draw(f)), heres = marks.map(draw => draw(f).here);
    for (const draw of efforts) draw(f);
    if (film.points.length) for (const path of paths) heres.push(path.draw(f).here);
    if (!film.flat) { // what is nearer is drawn later
      const bars = drawn.filter(one => one.layer === layers.bars).sort((a, b) => a.depth - b.depth);
      const now = bars.map(one => drawn.indexOf(one)).join();
      if (now !== order) layers.bars.append(...bars.map(one => one.g));
      order = now;
    }
    layers.names.toggleAttribute("hidden", !state.names);
    if (state.names) names.place(f, drawn.map(one => one.points), heres, hasty);
    panel.tell(f);
  }
  // All that depends on the view, or on what is shown.
  function anew() {
    svg.style.setProperty("--marks", sees.marks().toFixed(2));
    for (const path of paths) path.trace();
    show();
  }

  let last = null, asked = 0, visible = true;
  function tick(now) {
    asked = 0;
    if (!state.playing || !visible || !root.isConnected) { last = null; return; }
    if (last !== null && it.step > 0) {
      const end = film.closed ? n : n - 1;
      state.frame = (state.frame + (now - last) / 1000 * state.speed / it.step) % (end || 1);
    }
    last = now;
    show(false);
    ask();
  }
  function ask() { if (state.playing && visible && !asked) asked = requestAnimationFrame(tick); }
  function run(on) {
    state.playing = on && n > 1;
    last = null;
    show();
    ask();
  }
  function go(frame) {
    state.frame = Math.max(0, Math.min(n - 1, frame));
    run(false);
  }
  function turn(dx, dy) {
    if (film.flat) return;
    sees.turn(dx, dy);
    anew();
  }
  function come(factor) {
    sees.come(factor);
    anew();
  }
  const does = {run, go, turn, come, anew, back: () => { sees.back(); anew(); }};
  const panel = controls(root, stage, does, {paths: traced.length > 0, efforts: film.efforts.length > 0});
  hands(root, svg, stage, does, panel);
  // A picture that nobody sees costs nothing.
  const watch = new IntersectionObserver(([entry]) => { visible = entry.isIntersecting; ask(); });
  watch.observe(svg);
  const phone = matchMedia("(max-width: 44rem)"), resized = () => { names.anew(); show(); };
  phone.addEventListener("change", resized);
  anew();
  run(state.playing);
  function end() {
    run(false);
    watch.disconnect();
    phone.removeEventListener("change", resized);
    root.replaceChildren();
  }
  return {state, go, run, show, turn, end};
}
