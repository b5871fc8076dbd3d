"use strict";
// Two columns against each other, with the front.
function scatterView(parent, {store, selection, state, brush, say, show, changed}) {
  // REACH: pixels from a click to the point that it means, half the width of a fingertip.
  const M = {left: 78, right: 16, top: 12, bottom: 42}, REACH = 20, WAYS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
  const pick = element("div", "", parent, {className: "controls"}), chosen = {};
  for (const [label, key] of [["across", "x"], ["up", "y"]]) {
    chosen[key] = selectOf(pick, label, key, () => store.axes.map(c => [c.word, c.name]));
    chosen[key + "sign"] = selectOf(pick, "", key + "sign", () => [["1", "less is better"], ["-1", "more is better"]], `which way is better ${label}`);
  }
  chosen.front = selectOf(pick, "front", "front", () => [["two", "of these two, of the selection"], ["all", `of ${goals()} (${store.front.length.toLocaleString("en")})`], ["none", "none"]]);
  const it = board(parent, 420, "scatter plot: drag to select, click a point to see its variant; arrows go from point to point, Enter shows it, Escape frees both axes");
  const note = element("p", "", parent, {className: "hint"});
  let front = [], key = -1;
  // What the front of the whole store is of: a sweep has no objectives.
  const goals = () => store.goals.length ? "all objectives" : store.frontOf.map(word => store.of(word).title).join(" and ");

  function selectOf(where, label, name, options, said) {
    const l = element("label", label ? label + " " : "", where), s = element("select", "", l);
    if (said) s.setAttribute("aria-label", said);
    s.renew = () => {
      s.replaceChildren(...options().map(([value, text]) => element("option", text, null, {value})));
      s.value = state[name];
    };
    s.addEventListener("change", () => {
      state[name] = s.value;
      if (name === "x" || name === "y") state[name + "sign"] = String(store.of(s.value).sign < 0 ? -1 : 1);
      anew();
      changed();
    });
    return s;
  }
  function anew() { for (const s of Object.values(chosen)) s.renew(); }

  const axes = () => [store.of(state.x), store.of(state.y)];
  function at(r) {
    const [X, Y] = axes();
    return [M.left + X.share[r] * (it.width - M.left - M.right), it.height - M.bottom - Y.share[r] * (it.height - M.top - M.bottom)];
  }

  function draw() {
    it.fit();
    const w = it.width, h = it.height, [X, Y] = axes(), mask = selection.mask;
    const all = it.counts("all"), some = it.counts("some"), U = X.share, V = Y.share;
    const sx = w - M.left - M.right - 2, sy = h - M.top - M.bottom - 2, dot = store.rows < 500 ? 5 : store.rows < 5000 ? 3 : 2; // few points are seen, many told apart
    for (let r = 0; r < store.rows; r++) {
      const x = U[r], y = V[r];
      if (!(x >= 0 && y >= 0)) continue;
      const o = (M.top - (dot >> 1) + Math.round((1 - y) * sy)) * w + M.left - (dot >> 1) + Math.round(x * sx), c = mask[r] ? some : all;
      for (let i = 0; i < dot; i++) for (let j = 0; j < dot; j++) c[o + i * w + j]++;
    }
    const image = it.image("now");
    painted(image.data, all, ink.muted, 0.5);
    painted(image.data, some, ink.accent, 1);
    it.show(image);
    frame(X, Y);
    marks(X, Y);
  }

  function frame(X, Y) {
    const {g, width: w, height: h} = it;
    g.strokeStyle = css(ink.line);
    g.lineWidth = 1;
    g.strokeRect(M.left - 0.5, M.top - 0.5, w - M.left - M.right + 1, h - M.top - M.bottom + 1);
    for (const t of ticks(X, w < 500 ? 3 : 6)) it.text(brief(t), M.left + X.to(t) * (w - M.left - M.right), h - M.bottom + 16);
    for (const t of ticks(Y, 6)) it.text(brief(t), M.left - 6, h - M.bottom - Y.to(t) * (h - M.top - M.bottom) + 4, {align: "right"});
    it.text(X.name, M.left + (w - M.left - M.right) / 2, h - 8, {size: 13});
    g.save();
    g.translate(13, M.top + (h - M.top - M.bottom) / 2);
    g.rotate(-Math.PI / 2);
    it.text(Y.name, 0, 0, {size: 13});
    g.restore();
  }

  function marks(X, Y) {
    const {g} = it;
    front = state.front === "two" ? frontOf(store, selection.mask, [X, +state.xsign], [Y, +state.ysign]) : state.front === "all" ? store.front : [];
    g.strokeStyle = css(ink.best);
    g.lineWidth = 1.6;
    if (state.front === "two" && front.length > 1) stairs();
    for (const r of front) {
      const [x, y] = at(r);
      g.beginPath();
      g.arc(x, y, 4.5, 0, 7);
      g.stroke();
    }
    for (const [r, letter] of [[state.a, "A"], [state.b, "B"]]) if (r >= 0 && X.share[r] >= 0 && Y.share[r] >= 0) {
      const [x, y] = at(r);
      g.strokeStyle = css(ink.worst);
      g.strokeRect(x - 6, y - 6, 12, 12);
      it.text(letter, x + 14, y - 5, {size: 14, colour: ink.worst});
    }
    if (key >= 0) {
      const [x, y] = at(key);
      g.strokeStyle = css(ink.ink);
      g.beginPath();
      g.arc(x, y, 9, 0, 7);
      g.stroke();
    }
    const what = {two: `${front.length.toLocaleString("en")} of the selection that no other beats in these two`, all: `${front.length.toLocaleString("en")} that no other beats in ${goals()}`};
    note.textContent = (front.length ? `Circles: ${what[state.front]}. ` : "") + "Squares: variants A and B below.";
  }

  // Between two of the front nobody is better than the corner.
  function stairs() {
    const {g} = it;
    g.beginPath();
    front.forEach((r, k) => {
      const [x, y] = at(r);
      if (k) g.lineTo(x, at(front[k - 1])[1]);
      g.lineTo(x, y);
    });
    g.stroke();
  }

  function nearestTo([x, y], reach) {
    let best = -1, near = reach * reach;
    for (let r = 0; r < store.rows; r++) {
      if (!selection.mask[r]) continue;
      const [u, v] = at(r), far = (u - x) ** 2 + (v - y) ** 2;
      if (far < near) { near = far; best = r; }
    }
    return best;
  }

  dragged(it.e, () => true, () => {}, (from, to) => {
    if (Math.hypot(to[0] - from[0], to[1] - from[1]) < 5) {
      const r = nearestTo(to, REACH);
      if (r >= 0) show(r);
      return;
    }
    const [X, Y] = axes(), share = x => Math.max(0, Math.min(1, x));
    const across = [from[0], to[0]].map(x => X.from(share((x - M.left) / (it.width - M.left - M.right)))).sort((a, b) => a - b);
    const up = [from[1], to[1]].map(y => Y.from(share((it.height - M.bottom - y) / (it.height - M.top - M.bottom)))).sort((a, b) => a - b);
    brush(X === Y ? [[X, across]] : [[X, across], [Y, up]]);
  });

  // The next selected point in a direction: far counts, and aside counts double.
  function next([dx, dy]) {
    const [x, y] = key >= 0 && selection.mask[key] ? at(key) : [M.left - 1, it.height - M.bottom + 1];
    let best = key, cost = Infinity;
    for (let r = 0; r < store.rows; r++) {
      if (!selection.mask[r] || r === key) continue;
      const [u, v] = at(r), ahead = (u - x) * dx + (y - v) * dy, aside = Math.abs((u - x) * dy) + Math.abs((y - v) * dx);
      if (ahead > 0.5 && ahead + 2 * aside < cost) { cost = ahead + 2 * aside; best = r; }
    }
    return best;
  }
  it.e.addEventListener("keydown", event => {
    const [X, Y] = axes();
    if (WAYS[event.key]) {
      key = next(WAYS[event.key]);
      if (key >= 0) say(`variant ${store.number.values[key]}: ${X.name} ${brief(X.values[key])}, ${Y.name} ${brief(Y.values[key])}`);
      draw();
    } else if (event.key === "Enter" && key >= 0) show(key);
    else if (event.key === "Escape") brush([[X, null], [Y, null]]);
    else return;
    event.preventDefault();
  });
  it.e.addEventListener("blur", () => { key = -1; draw(); });
  anew();
  return {draw, anew, front: () => front};
}
