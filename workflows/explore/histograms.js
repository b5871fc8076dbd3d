"use strict";
// A histogram of every column that is shown: the selection before all.
function histogramsView(parent, {store, selection, state, brush, say}) {
  const BINS = 40, BOTTOM = 14, TALL = 78, grid = element("div", "", parent, {className: "grid"});
  let list = [];

  function anew() {
    grid.replaceChildren();
    list = state.axes.map(word => made(store.of(word)));
  }
  function made(c) {
    const figure = element("figure", "", grid);
    const it = board(figure, TALL, `histogram of ${c.name}: drag to select; arrows move the lower end, with Shift the upper end; Escape frees it`);
    element("figcaption", c.log ? `${c.name}, logarithmic` : c.name, figure);
    const where = Int8Array.from(c.share, x => x >= 0 ? Math.min(BINS - 1, Math.floor(x * BINS)) : -1), total = new Uint32Array(BINS);
    for (const k of where) if (k >= 0) total[k]++;
    const value = x => c.from(Math.max(0, Math.min(1, x / it.width))), span = (a, b) => brush([[c, [value(Math.min(a, b)), value(Math.max(a, b))]]]);
    dragged(it.e, () => true, (a, b) => { state.dragging = true; span(a[0], b[0]); }, (a, b) => {
      state.dragging = false;
      if (Math.abs(a[0] - b[0]) < 4) brush([[c, null]]); else span(a[0], b[0]);
    }, () => { state.dragging = false; });
    it.e.addEventListener("keydown", event => {
      const way = {ArrowLeft: -1, ArrowRight: 1}[event.key], end = event.shiftKey ? 1 : 0;
      if (event.key === "Escape") brush([[c, null]]);
      else if (way) {
        const range = (selection.ranges.get(c) || [c.low, c.high]).map(c.to);
        range[end] = Math.max(0, Math.min(1, range[end] + way / BINS));
        if (range[0] <= range[1]) brush([[c, range.map(c.from)]]);
        say(`${c.name}: ${range.map(x => brief(c.from(x))).join(" to ")}`);
      } else return;
      event.preventDefault();
    });
    return {c, it, where, total};
  }

  function draw(step) {
    for (const {c, it, where, total} of list) {
      it.fit();
      it.clear();
      const {g, width: w, height: h} = it, some = new Uint32Array(BINS), most = Math.max(1, ...total), mask = selection.mask;
      for (let r = 0; r < store.rows; r += step) if (mask[r] && where[r] >= 0) some[where[r]] += step;
      const tall = n => n ? Math.max(1, Math.min(1, n / most) * (h - BOTTOM - 4)) : 0;
      for (let k = 0; k < BINS; k++) {
        const x = Math.round(k * w / BINS), wide = Math.max(1, Math.round((k + 1) * w / BINS) - x - 1);
        for (const [count, colour] of [[total[k], ink.line], [some[k], ink.accent]]) {
          g.fillStyle = css(colour);
          g.fillRect(x, h - BOTTOM - tall(count), wide, tall(count));
        }
      }
      it.text(brief(c.low), 0, h - 2, {align: "left", size: 11, colour: ink.muted});
      it.text(brief(c.high), w, h - 2, {align: "right", size: 11, colour: ink.muted});
      const range = selection.ranges.get(c);
      if (!range) continue;
      const [a, b] = range.map(x => c.to(x) * w);
      g.strokeStyle = css(ink.ink);
      g.lineWidth = 2;
      g.strokeRect(a + 1, 1, Math.max(2, b - a - 2), h - BOTTOM);
    }
  }
  anew();
  return {draw, anew};
}
