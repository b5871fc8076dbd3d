"use strict";
// Parallel coordinates: every line is counted, pixel by pixel; one in twenty of 10⁵ while dragging.
function parallelView(parent, {store, selection, state, brush, say, moved}) {
  const TOP = 46, BOTTOM = 36, SIDE = 40, APART = 66;
  const frame = element("div", "", parent, {className: "frame"});
  const it = board(frame, 350, "parallel coordinates: left and right choose an axis; up and down move its upper end, with Shift its lower end; Escape frees it; < and > move the axis");
  let axes = [], heights = [], behind = null, key = 0, held = null, carried = null;

  const place = k => Math.round(SIDE + (it.width - 2 * SIDE) * (axes.length > 1 ? k / (axes.length - 1) : 0.5));
  const level = (c, value) => it.height - BOTTOM - 1 - c.to(value) * (it.height - TOP - BOTTOM - 1);
  const value = (c, y) => c.from(Math.max(0, Math.min(1, (it.height - BOTTOM - 1 - y) / (it.height - TOP - BOTTOM - 1))));

  function counted(only, step) {
    const w = it.width, counts = it.counts("lines"), mask = selection.mask;
    for (let g = 0; g + 1 < axes.length; g++) {
      const x0 = place(g), wide = place(g + 1) - x0, A = heights[g], B = heights[g + 1];
      for (let r = 0; r < store.rows; r += step) {
        const a = A[r], b = B[r];
        if ((only && !mask[r]) || a < 0 || b < 0) continue;
        // In 16 bits behind the point: no rounding call in the innermost loop.
        let y = (a << 16) + 32768;
        const slope = (((b - a) << 16) / wide) | 0;
        for (let x = x0, end = x0 + wide; x < end; x++, y += slope) counts[(y >> 16) * w + x]++;
      }
    }
    return counts;
  }

  function measured() {
    axes = state.axes.map(store.of);
    it.e.style.minWidth = `${APART * axes.length}px`;
    it.fit();
    const tall = it.height - TOP - BOTTOM - 1, bottom = it.height - BOTTOM - 1;
    heights = axes.map(c => Int16Array.from(c.share, x => x >= 0 ? bottom - Math.round(x * tall) : -1));
    behind = null;
    key = Math.min(key, axes.length - 1);
  }

  function draw(step) {
    if (it.fit()) measured();
    if (!behind) {
      behind = it.image("behind");
      painted(behind.data, counted(false, store.rows > 20000 ? 4 : 1), ink.muted, 0.45);
    }
    const image = it.image("now");
    image.data.set(behind.data);
    if (selection.count) painted(image.data, counted(!selection.all, step), ink.accent, 1);
    it.show(image);
    axes.forEach(axis);
    for (const [r, dash] of [[state.a, []], [state.b, [7, 5]]]) if (r >= 0) variant(r, dash);
  }

  function axis(c, k) {
    const x = place(k), {g} = it, chosen = k === key && document.activeElement === it.e;
    g.strokeStyle = css(ink.ink);
    g.lineWidth = chosen ? 3 : 1;
    g.beginPath();
    g.moveTo(x + 0.5, TOP);
    g.lineTo(x + 0.5, it.height - BOTTOM);
    g.stroke();
    for (const one of c.limits) limit(c, x, one);
    const range = selection.ranges.get(c);
    if (range) {
      g.lineWidth = 2;
      const a = level(c, Math.min(c.high, range[1])), b = level(c, Math.max(c.low, range[0]));
      g.strokeRect(x - 6, a, 13, Math.max(2, b - a));
    }
    // Titles are in two rows, so that each has room up to the axis after the next.
    const room = Math.max(10, Math.floor(2 * (it.width - 2 * SIDE) / Math.max(1, axes.length - 1) / 7) - 3);
    const title = c.title.length > room ? c.title.slice(0, room - 1) + "…" : c.title, better = {1: " ↓", "-1": " ↑"}[c.kind === "objective" ? c.sign : 0] || "";
    it.text(title + better, carried && carried.k === k ? carried.x : x, k % 2 ? 29 : 13, {within: true});
    it.text(brief(c.high), x, TOP - 4, {size: 11, colour: ink.muted, within: true});
    it.text(brief(c.low), x, it.height - 21, {size: 11, colour: ink.muted, within: true});
    it.text(`${c.unit}${c.log ? " log" : ""}`.trim(), x, it.height - 7, {size: 10, colour: ink.muted, within: true});
  }

  // What a constraint forbids is hatched beside the axis.
  function limit(c, x, [sign, bound]) {
    const {g} = it, at = level(c, c.log ? Math.max(c.low, bound) : bound), [from, to] = sign === "<=" ? [TOP, at] : [at, it.height - BOTTOM];
    g.strokeStyle = css(ink.worst);
    g.lineWidth = 1.5;
    g.beginPath();
    if (bound >= c.low && bound <= c.high) { // else all of the axis is allowed, or nothing
      g.moveTo(x - 9, at);
      g.lineTo(x + 10, at);
    }
    for (let y = from; y + 6 <= to; y += 6) { g.moveTo(x + 1, y + 6); g.lineTo(x + 7, y); }
    g.stroke();
  }

  function variant(r, dash) {
    const {g} = it;
    g.setLineDash(dash);
    for (const [colour, wide] of [[ink.card, 5], [ink.worst, 2.5]]) {
      g.strokeStyle = css(colour);
      g.lineWidth = wide;
      g.beginPath();
      axes.forEach((c, k) => { if (heights[k][r] >= 0) g.lineTo(place(k), heights[k][r]); });
      g.stroke();
    }
    g.setLineDash([]);
  }

  function spanned(c, a, b) { brush([[c, [value(c, Math.max(a, b)), value(c, Math.min(a, b))]]]); }
  const nearest = x => axes.map((_, k) => Math.abs(place(k) - x)).reduce((best, far, k, all) => far < all[best] ? k : best, 0);
  dragged(it.e, ([x, y]) => {
    const k = nearest(x);
    held = Math.abs(place(k) - x) < APART / 2 - 2 ? k : null;
    if (held !== null && y < TOP - 14) carried = {k, x};
    return held !== null;
  }, (from, to) => {
    if (carried) { carried.x = to[0]; draw(20); return; }
    state.dragging = true;
    spanned(axes[held], from[1], to[1]);
  }, (from, to) => {
    state.dragging = false;
    if (carried) {
      const there = nearest(to[0]);
      carried = null;
      if (there !== held) moved(held, there); else draw(1);
    } else if (Math.abs(to[1] - from[1]) < 4) brush([[axes[held], null]]);
    else spanned(axes[held], from[1], to[1]);
  }, () => {
    state.dragging = false;
    if (carried) { carried = null; draw(1); }
  });

  it.e.addEventListener("keydown", event => {
    const c = axes[key], by = {ArrowUp: 0.02, ArrowDown: -0.02}[event.key], way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (way) {
      key = (key + way + axes.length) % axes.length;
      say(`${axes[key].name}, ${brief(axes[key].low)} to ${brief(axes[key].high)}`);
      it.e.parentElement.scrollLeft = place(key) - it.e.parentElement.clientWidth / 2;
      draw(1);
    } else if (by) {
      const range = (selection.ranges.get(c) || [c.low, c.high]).map(c.to), end = event.shiftKey ? 0 : 1;
      range[end] = Math.max(0, Math.min(1, range[end] + by));
      if (range[0] <= range[1]) brush([[c, range.map(c.from)]]);
    } else if (event.key === "Escape") brush([[c, null]]);
    else if (event.key === "<" || event.key === ">") {
      const there = key + (event.key === "<" ? -1 : 1);
      if (there < 0 || there >= axes.length) return;
      moved(key, there);
      key = there;
    } else return;
    event.preventDefault();
  });
  for (const name of ["focus", "blur"]) it.e.addEventListener(name, () => draw(1));
  return {draw, anew: measured};
}
