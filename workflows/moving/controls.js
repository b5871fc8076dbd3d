"use strict";
// What a player is operated by, and what it says.
const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

function element(name, text, parent, more) {
  const e = document.createElement(name);
  if (text) e.textContent = text;
  Object.assign(e, more || {});
  if (parent) parent.append(e);
  return e;
}

function shortNumber(x) {
  const a = Math.abs(x), long = a && (a < 0.001 || a >= 1e5);
  return (long ? x.toExponential(2) : x.toFixed(a < 1 ? 3 : a < 100 ? 2 : 1)).replace("-", "−");
}

function controls(root, {film, n, state, value, moment}, does, there) {
  const bar = element("div", "", root, {className: "controls", hidden: n < 2}), said = element("p", "", root, {className: "said"});
  const play = element("button", "", bar, {type: "button"});
  const slider = element("input", "", bar, {type: "range", min: 0, max: n - 1, step: "any", value: 0});
  const speed = element("select", "", bar);
  slider.setAttribute("aria-label", "time");
  speed.setAttribute("aria-label", "speed");
  for (const x of SPEEDS) element("option", `${x}×`, speed, {value: x});
  const boxes = {t: box("paths", "trace", there.paths), f: box("drives", "efforts", there.efforts), n: box("names", "names", true)};
  const back = element("button", "View", bar, {type: "button", title: "the view of the beginning", hidden: film.flat});

  function box(word, key, shown) {
    const label = element("label", "", bar, {hidden: !shown}), input = element("input", "", label, {type: "checkbox", checked: state[key]});
    label.append(" " + word);
    input.addEventListener("change", () => { state[key] = input.checked; does.anew(); });
    return () => { if (shown) input.click(); };
  }

  const wish = film.duration / 4; // some four seconds for the whole motion
  const near = x => Math.abs(Math.log(x / wish));
  state.speed = wish > 0.4 && wish < 1.6 || !(wish > 0) ? 1 : SPEEDS.reduce((best, x) => near(x) < near(best) ? x : best);
  speed.value = state.speed;
  function faster(by) {
    const next = SPEEDS[SPEEDS.indexOf(state.speed) + by];
    if (next) speed.value = state.speed = next;
  }

  function tell(f) {
    const time = moment(f), parts = [["t", time, "s"]];
    for (const one of film.readings.slice(0, 6)) parts.push([one.name, value(one, f), one.unit]);
    if (state.efforts) for (const one of film.efforts.slice(0, 6)) parts.push([one.name.includes(" ") ? one.name : "drive " + one.name, value(one, f), one.unit]);
    while (said.childNodes.length > parts.length) said.lastChild.remove();
    parts.forEach(([name, x, unit], k) => {
      (said.childNodes[k] || element("span", "", said)).textContent = `${name} = ${shortNumber(x)}\u202f${unit}`;
    });
    slider.value = f;
    slider.setAttribute("aria-valuetext", `${shortNumber(time)} s`);
    play.textContent = state.playing ? "Pause" : "Play";
  }

  play.addEventListener("click", () => does.run(!state.playing));
  slider.addEventListener("input", () => does.go(+slider.value));
  speed.addEventListener("change", () => { state.speed = +speed.value; });
  back.addEventListener("click", does.back);
  return {tell, boxes, faster, speed};
}

// Mouse, fingers and keys on the picture.
function hands(root, svg, {film, n, state}, does, panel) {
  const held = new Map();
  let apart = 0;
  svg.addEventListener("pointerdown", e => {
    if (film.flat) return;
    held.set(e.pointerId, [e.clientX, e.clientY]);
    svg.setPointerCapture(e.pointerId);
    apart = 0;
  });
  svg.addEventListener("pointermove", e => {
    const before = held.get(e.pointerId);
    if (!before) return;
    held.set(e.pointerId, [e.clientX, e.clientY]);
    if (held.size === 1) { does.turn((e.clientX - before[0]) / 150, (e.clientY - before[1]) / 150); return; }
    const [a, b] = [...held.values()], far = Math.hypot(a[0] - b[0], a[1] - b[1]);
    if (apart) does.come(far / apart);
    apart = far;
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, e => { held.delete(e.pointerId); apart = 0; });
  // The wheel scrolls the page, unless the picture has been chosen.
  svg.addEventListener("wheel", e => {
    if (film.flat || !e.ctrlKey && document.activeElement !== svg) return;
    e.preventDefault();
    does.come(Math.exp(-e.deltaY / 500));
  }, {passive: false});
  root.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target === panel.speed) return;
    const arrow = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1]}[e.key];
    const key = e.key.toLowerCase(), own = e.target.matches("button, input[type=checkbox]");
    if (arrow && e.shiftKey) does.turn(...arrow);
    else if (arrow && arrow[0]) does.go(Math.round(state.frame) + 10 * arrow[0]);
    else if (key === " " && !own) does.run(!state.playing);
    else if (key === "+" || key === "-") panel.faster(key === "+" ? 1 : -1);
    else if (key === "home") does.go(0);
    else if (key === "end") does.go(n - 1);
    else if (panel.boxes[key]) panel.boxes[key]();
    else return;
    e.preventDefault();
  });
}
