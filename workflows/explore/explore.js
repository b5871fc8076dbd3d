"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent), N = data.rows;
  const root = document.getElementById("explorer");
  function bytes(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) out[k] = raw.charCodeAt(k);
    return out;
  }
  const columns = data.columns.map(c => {
    const raw = bytes(c.data).buffer, values = c.bits === 32 ? new Float32Array(raw) : new Float64Array(raw);
    c.data = null;
    let low = Infinity, high = -Infinity;
    for (let r = 0; r < N; r++) { const x = values[r]; if (x < low && x > -Infinity) low = x; if (x > high && x < Infinity) high = x; }
    if (low > high) { low = 0; high = 1; }
    if (!(high > low)) high = low + (Math.abs(low) || 1) * 1e-6;
    // Numbers over more than three decades are shown by their logarithms.
    const log = low > 0 && high / low > 1e3, map = log ? Math.log : x => x, a = map(low), scale = 1 / (map(high) - a);
    const share = new Float32Array(N); // of the axis; no number where there is none
    for (let r = 0; r < N; r++) { const x = values[r]; share[r] = Number.isFinite(x) ? Math.min(1, Math.max(0, (map(x) - a) * scale)) : NaN; }
    const to = x => Math.min(1, Math.max(0, (map(x) - a) * scale)), from = s => log ? Math.exp(a + s / scale) : a + s / scale;
    return {...c, values, low, high, log, share, to, from, name: c.unit ? `${c.title} [${c.unit}]` : c.title};
  });
  const states = data.states.map(s => ({...s, places: new Uint32Array(bytes(s.data).buffer)}));
  const axes = columns.slice(1), check = conditions(columns, data.units), front = new Set(data.front);
  const goals = axes.filter(c => c.kind === "objective"), metrics = axes.filter(c => c.kind !== "symbol");
  const state = {text: "", x: (goals[0] || metrics[0] || axes[0]).word, y: (goals[1] || metrics.find(c => c !== (goals[0] || metrics[0])) || axes[0]).word,
    by: (goals[0] || metrics[0] || axes[0]).word, down: (goals[0] || metrics[0] || axes[0]).sign < 0, a: -1, b: -1};
  const of = word => columns.find(c => c.word === word) || axes[0];
  const mask = new Uint8Array(N).fill(1), free = new Uint8Array(N).fill(1);
  let ranges = new Map(), chosen = N, order = null;

  const make = (name, parent, text, more) => { const e = document.createElement(name); if (text) e.textContent = text; Object.assign(e, more || {}); if (parent) parent.append(e); return e; };
  const short = x => Number.isFinite(x) ? (Math.abs(x) >= 1e6 ? x.toExponential(1) : String(+x.toPrecision(4))).replace("-", "−") : "–";
  const part = (title, id) => { const s = make("section", root); s.id = id; make("h2", s, title); return s; };

  // Conditions: the text is the state; a brush writes its two lines into it.
  const asking = part("Selection", "selection"), area = make("textarea", asking, "", {rows: 3, spellcheck: false, placeholder: axes.slice(0, 2).map(c => `${c.word} <= ${short((c.low + c.high) / 2)} ${c.unit}`.trim()).join("\n")});
  area.setAttribute("aria-label", "conditions, one a line, as where: takes them");
  const count = make("p", asking), wrong = make("p", asking, "", {className: "wrong"}), row = make("div", asking, "", {className: "controls"});
  count.id = "count";
  count.setAttribute("role", "status");
  wrong.setAttribute("role", "alert");
  const clear = make("button", row, "Show all", {type: "button"}), save = make("button", row, "Save as CSV", {type: "button"});
  make("p", asking, `One condition a line, as \`where:\` of a sweep file takes them; names: ${columns.map(c => c.word).join(", ")}. Drag over an axis, a histogram or the scatter plot to select; a line that is taken away gives its variants back.`, {className: "hint"});
  const LINE = /^([A-Za-z_]\w*)\s*(<=|>=)\s*(-?[\d.]+(?:e[-+]?\d+)?)\s*(.*)$/;
  function parsed(text) {
    const found = new Map(), rest = [];
    for (const line of text.split("\n")) {
      const m = line.trim().match(LINE), c = m && columns.find(k => k.word === m[1]);
      if (c && m[4].trim() === c.unit && Number.isFinite(+m[3])) {
        const range = found.get(c) || [-Infinity, Infinity];
        if (m[2] === ">=") range[0] = Math.max(range[0], +m[3]); else range[1] = Math.min(range[1], +m[3]);
        found.set(c, range);
      } else rest.push(line);
    }
    return [found, rest.join("\n")];
  }
  let rest = "";
  function ask(text) {
    let test;
    const [found, others] = parsed(text);
    try { test = check(others); wrong.textContent = ""; } catch (error) { wrong.textContent = error.message; return; }
    state.text = text;
    ranges = found;
    if (others !== rest) { rest = others; for (let r = 0; r < N; r++) free[r] = test(r) ? 1 : 0; }
    update();
  }
  function brush(c, low, high) {
    if (low === null) ranges.delete(c); else ranges.set(c, [low, high]);
    const lines = rest.split("\n").filter(l => l.trim());
    for (const [k, [a, b]] of ranges) {
      const unit = k.unit ? " " + k.unit : "";
      // An end of the axis is no condition: rounding must not lose who stands there.
      if (k.to(a) > 1e-6) lines.push(`${k.word} >= ${+a.toPrecision(6)}${unit}`);
      if (k.to(b) < 1 - 1e-6) lines.push(`${k.word} <= ${+b.toPrecision(6)}${unit}`);
    }
    area.value = lines.join("\n");
    ask(area.value);
  }
  function choose() {
    mask.set(free);
    for (const [c, [low, high]] of ranges) {
      const v = c.values;
      for (let r = 0; r < N; r++) if (!(v[r] >= low && v[r] <= high)) mask[r] = 0;
    }
    chosen = 0;
    for (let r = 0; r < N; r++) chosen += mask[r];
  }

  // Canvases: colours are those of the style sheet; every picture counts lines or points.
  let ink = {};
  function colours() {
    const style = getComputedStyle(document.documentElement), rgb = name => {
      const text = style.getPropertyValue(name).trim();
      return [1, 3, 5].map(k => parseInt(text.slice(k, k + 2), 16));
    };
    ink = {ink: rgb("--ink"), muted: rgb("--muted"), line: rgb("--line"), accent: rgb("--accent"), worst: rgb("--worst"), best: rgb("--best")};
  }
  const css = c => `rgb(${c.join()})`;
  const font = 'system-ui, "DejaVu Sans", sans-serif';
  function canvas(parent, height, label) {
    const e = make("canvas", parent, "", {tabIndex: 0});
    e.style.height = `${height}px`;
    e.setAttribute("role", "img");
    e.setAttribute("aria-label", label);
    return e;
  }
  function sized(e) {
    const w = Math.max(40, Math.round(e.clientWidth)), h = Math.round(e.clientHeight);
    if (e.width !== w || e.height !== h) { e.width = w; e.height = h; return true; }
    return false;
  }
  function painted(pixels, counts, colour, weight) {
    let most = 1;
    for (let k = 0; k < counts.length; k++) if (counts[k] > most) most = counts[k];
    const scale = weight / Math.log1p(most), table = new Float32Array(Math.min(most, 4096) + 1);
    for (let k = 1; k < table.length; k++) table[k] = 0.12 * weight + 0.88 * scale * Math.log1p(k);
    for (let k = 0; k < counts.length; k++) {
      const n = counts[k];
      if (!n) continue;
      const a = Math.min(1, n < table.length ? table[n] : scale * Math.log1p(n)), o = 4 * k, old = pixels[o + 3] / 255 * (1 - a), all = a + old;
      for (let i = 0; i < 3; i++) pixels[o + i] = (colour[i] * a + pixels[o + i] * old) / all;
      pixels[o + 3] = 255 * all;
    }
  }

  // Parallel coordinates: every line is counted, pixel by pixel; a tenth of them while dragging.
  const pc = part("Parallel coordinates", "parallel"), frame = make("div", pc, "", {className: "frame"});
  const lines = canvas(frame, 340, "parallel coordinates; drag up or down on an axis to select");
  lines.style.minWidth = `${64 * axes.length}px`;
  const TOP = 44, BOTTOM = 22, heights = axes.map(() => new Int16Array(N));
  let behind = null;
  const place = (k, w) => Math.round(36 + (w - 72) * (axes.length > 1 ? k / (axes.length - 1) : 0.5));
  function counted(only, step) {
    const w = lines.width, counts = new Uint32Array(w * lines.height);
    for (let g = 0; g + 1 < axes.length; g++) {
      const x0 = place(g, w), wide = place(g + 1, w) - x0, A = heights[g], B = heights[g + 1];
      for (let r = 0; r < N; r += step) {
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
  function drawLines(step) {
    const g = lines.getContext("2d"), w = lines.width, h = lines.height;
    if (!w || axes.length < 2) return;
    if (!behind) {
      axes.forEach((c, k) => {
        const scale = h - TOP - BOTTOM - 1, v = c.share;
        for (let r = 0; r < N; r++) { const x = v[r]; heights[k][r] = x >= 0 ? h - BOTTOM - 1 - Math.round(x * scale) : -1; }
      });
      behind = g.createImageData(w, h);
      painted(behind.data, counted(false, N > 20000 ? 4 : 1), ink.muted, 0.45);
    }
    const image = new ImageData(new Uint8ClampedArray(behind.data), w, h);
    if (chosen < N) painted(image.data, counted(true, step), ink.accent, 1);
    else if (chosen) painted(image.data, counted(false, step), ink.accent, 1);
    g.putImageData(image, 0, 0);
    g.textAlign = "center";
    axes.forEach((c, k) => {
      const x = place(k, w), y = v => h - BOTTOM - 1 - c.to(v) * (h - TOP - BOTTOM - 1);
      g.strokeStyle = css(ink.ink);
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(x + 0.5, TOP);
      g.lineTo(x + 0.5, h - BOTTOM);
      g.stroke();
      const range = ranges.get(c);
      if (range) {
        g.lineWidth = 2;
        const a = y(Math.min(c.high, range[1])), b = y(Math.max(c.low, range[0]));
        g.strokeRect(x - 6, a, 13, Math.max(2, b - a));
      }
      g.fillStyle = css(ink.ink);
      g.font = `12px ${font}`;
      g.fillText(c.title.length > 16 ? c.title.slice(0, 15) + "…" : c.title, x, k % 2 ? 28 : 13);
      g.font = `11px ${font}`;
      g.fillStyle = css(ink.muted);
      g.fillText(short(c.high), x, TOP - 3);
      g.fillText(short(c.low), x, h - 7);
    });
    for (const [r, dash] of [[state.a, []], [state.b, [6, 4]]]) if (r >= 0) {
      g.strokeStyle = css(ink.worst);
      g.setLineDash(dash);
      g.lineWidth = 2.5;
      g.beginPath();
      axes.forEach((c, k) => { if (heights[k][r] >= 0) g.lineTo(place(k, w), heights[k][r]); });
      g.stroke();
      g.setLineDash([]);
    }
  }
  function dragged(e, start, move, end) {
    let from = null;
    const here = event => { const box = e.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    e.addEventListener("pointerdown", event => { const at = here(event); if (start(at)) { from = at; e.setPointerCapture(event.pointerId); } });
    e.addEventListener("pointermove", event => { if (from) move(from, here(event)); });
    for (const name of ["pointerup", "pointercancel"]) e.addEventListener(name, event => { if (from) { const f = from; from = null; end(f, here(event)); } });
  }
  let held = null, dragging = false;
  dragged(lines, at => {
    const near = axes.map((c, k) => Math.abs(place(k, lines.width) - at[0])), k = near.indexOf(Math.min(...near));
    held = near[k] < 26 ? k : null;
    return held !== null;
  }, (from, to) => { dragging = true; spanned(axes[held], from[1], to[1], lines.height); }, (from, to) => {
    dragging = false;
    if (Math.abs(to[1] - from[1]) < 4) brush(axes[held], null); else spanned(axes[held], from[1], to[1], lines.height);
  });
  function spanned(c, a, b, h) {
    const value = y => c.from(Math.max(0, Math.min(1, (h - BOTTOM - 1 - y) / (h - TOP - BOTTOM - 1))));
    brush(c, value(Math.max(a, b)), value(Math.min(a, b)));
  }

  // Scatter plot, with the front.
  const sp = part("Scatter plot", "scatter"), pick = make("div", sp, "", {className: "controls"});
  function selector(label, key, done) {
    const l = make("label", pick, label + " "), s = make("select", l);
    for (const c of axes) make("option", s, c.name).value = c.word;
    s.addEventListener("change", () => { state[key] = s.value; done(); });
    return s;
  }
  const xs = selector("across", "x", () => draw()), ys = selector("up", "y", () => draw());
  const points = canvas(sp, 400, "scatter plot; click a point to see its variant, drag to select");
  const M = {left: 74, right: 14, top: 12, bottom: 40};
  const over = (c, r, size, a, b) => a + c.share[r] * (size - a - b);
  function drawPoints() {
    sized(points);
    const g = points.getContext("2d"), w = points.width, h = points.height, X = of(state.x), Y = of(state.y);
    const all = new Uint32Array(w * h), some = new Uint32Array(w * h);
    const sx = w - M.left - M.right - 2, sy = h - M.top - M.bottom - 2, U = X.share, V = Y.share;
    for (let r = 0; r < N; r++) {
      const x = U[r], y = V[r];
      if (!(x >= 0 && y >= 0)) continue;
      const o = (M.top + Math.round((1 - y) * sy)) * w + M.left + Math.round(x * sx), c = mask[r] ? some : all;
      c[o]++; c[o + 1]++; c[o + w]++; c[o + w + 1]++;
    }
    const image = g.createImageData(w, h);
    painted(image.data, all, ink.muted, 0.55);
    painted(image.data, some, ink.accent, 1);
    g.putImageData(image, 0, 0);
    g.strokeStyle = css(ink.line);
    g.strokeRect(M.left - 0.5, M.top - 0.5, w - M.left - M.right + 1, h - M.top - M.bottom + 1);
    g.fillStyle = css(ink.ink);
    g.font = `12px ${font}`;
    for (let k = 0; k <= 4; k++) {
      g.textAlign = k === 4 ? "right" : k ? "center" : "left";
      g.fillText(short(X.from(k / 4)), M.left + (w - M.left - M.right) * k / 4, h - M.bottom + 15);
      g.textAlign = "right";
      g.fillText(short(Y.from(k / 4)), M.left - 5, h - M.bottom - (h - M.top - M.bottom) * k / 4 + (k === 4 ? 9 : 3));
    }
    g.textAlign = "center";
    g.font = `13px ${font}`;
    g.fillText(X.name, M.left + (w - M.left - M.right) / 2, h - 6);
    g.save();
    g.translate(12, M.top + (h - M.top - M.bottom) / 2);
    g.rotate(-Math.PI / 2);
    g.fillText(Y.name, 0, 0);
    g.restore();
    const at = r => [over(X, r, w, M.left, M.right), h - over(Y, r, h, M.bottom, M.top)];
    g.strokeStyle = css(ink.best);
    g.lineWidth = 1.6;
    for (const r of front) { const [x, y] = at(r); g.beginPath(); g.arc(x, y, 4.5, 0, 7); g.stroke(); }
    for (const [r, letter] of [[state.a, "A"], [state.b, "B"]]) if (r >= 0) {
      const [x, y] = at(r);
      g.strokeStyle = g.fillStyle = css(ink.worst);
      g.strokeRect(x - 6, y - 6, 12, 12);
      g.fillText(letter, x + 13, y - 5);
    }
  }
  const frontNote = make("p", sp, `Circles: the front, ${data.front.length.toLocaleString("en")} that no other beats in all objectives. Squares: variants A and B below.`, {className: "hint"});
  frontNote.hidden = !data.front.length;
  dragged(points, () => true, () => {}, (from, to) => {
    const w = points.width, h = points.height, X = of(state.x), Y = of(state.y);
    const back = (c, v, size, a, b) => c.from(Math.max(0, Math.min(1, (v - a) / (size - a - b))));
    if (Math.hypot(to[0] - from[0], to[1] - from[1]) < 5) {
      let best = -1, near = 400;
      for (let r = 0; r < N; r++) {
        if (!mask[r]) continue;
        const d = (over(X, r, w, M.left, M.right) - to[0]) ** 2 + (h - over(Y, r, h, M.bottom, M.top) - to[1]) ** 2;
        if (d < near) { near = d; best = r; }
      }
      if (best >= 0) show(best);
      return;
    }
    const [x0, x1] = [from[0], to[0]].sort((a, b) => a - b), [y0, y1] = [h - from[1], h - to[1]].sort((a, b) => a - b);
    ranges.set(Y, [back(Y, y0, h, M.bottom, M.top), back(Y, y1, h, M.bottom, M.top)]);
    brush(X, back(X, x0, w, M.left, M.right), back(X, x1, w, M.left, M.right));
  });

  // Histograms.
  const BINS = 40, hp = part("Histograms", "histograms"), grid = make("div", hp, "", {className: "grid"});
  const bins = axes.map(c => {
    const where = new Int8Array(N), v = c.share;
    for (let r = 0; r < N; r++) { const x = v[r]; where[r] = x >= 0 ? Math.min(BINS - 1, Math.floor(x * BINS)) : -1; }
    const total = new Uint32Array(BINS);
    for (let r = 0; r < N; r++) if (where[r] >= 0) total[where[r]]++;
    const figure = make("figure", grid), e = canvas(figure, 76, `histogram of ${c.name}; drag to select, or arrows: lower end, with Shift the upper end, Escape: all`);
    make("figcaption", figure, c.log ? `${c.name}, logarithmic` : c.name);
    dragged(e, () => true, (a, b) => { dragging = true; along(c, e, a[0], b[0]); }, (a, b) => {
      dragging = false;
      if (Math.abs(a[0] - b[0]) < 4) brush(c, null); else along(c, e, a[0], b[0]);
    });
    e.addEventListener("keydown", event => {
      const way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (event.key === "Escape") brush(c, null);
      else if (way) {
        const range = (ranges.get(c) || [c.low, c.high]).map(c.to), k = event.shiftKey ? 1 : 0;
        range[k] = Math.max(0, Math.min(1, range[k] + way / BINS));
        if (range[0] <= range[1]) brush(c, ...range.map(c.from));
      } else return;
      event.preventDefault();
    });
    return {c, e, where, total};
  });
  function along(c, e, a, b) {
    const value = x => c.from(Math.max(0, Math.min(1, x / e.clientWidth)));
    brush(c, value(Math.min(a, b)), value(Math.max(a, b)));
  }
  function drawBins(step) {
    for (const {c, e, where, total} of bins) {
      sized(e);
      const g = e.getContext("2d"), w = e.width, h = e.height, some = new Uint32Array(BINS), most = Math.max(1, ...total);
      for (let r = 0; r < N; r += step) if (mask[r] && where[r] >= 0) some[where[r]] += step;
      g.clearRect(0, 0, w, h);
      for (let k = 0; k < BINS; k++) {
        const x = Math.round(k * w / BINS), wide = Math.round((k + 1) * w / BINS) - x - 1, tall = n => n ? Math.max(1, Math.min(1, n / most) * (h - 18)) : 0;
        g.fillStyle = css(ink.line);
        g.fillRect(x, h - 14 - tall(total[k]), wide, tall(total[k]));
        g.fillStyle = css(ink.accent);
        g.fillRect(x, h - 14 - tall(some[k]), wide, tall(some[k]));
      }
      g.fillStyle = css(ink.muted);
      g.font = `11px ${font}`;
      g.textAlign = "left";
      g.fillText(short(c.low), 0, h - 2);
      g.textAlign = "right";
      g.fillText(short(c.high), w, h - 2);
      const range = ranges.get(c);
      if (range) {
        const at = v => c.to(v) * w;
        g.strokeStyle = css(ink.ink);
        g.lineWidth = 2;
        g.strokeRect(at(range[0]) + 1, 1, Math.max(2, at(range[1]) - at(range[0]) - 2), h - 15);
      }
    }
  }

  // The first of the selection, and two variants beside each other.
  const lp = part("First of the selection", "list"), sort = make("div", lp, "", {className: "controls"});
  const sl = make("label", sort, "by "), ss = make("select", sl), turn = make("button", sort, "", {type: "button"});
  for (const c of columns) make("option", ss, c.name).value = c.word;
  ss.addEventListener("change", () => { state.by = ss.value; state.down = of(state.by).sign < 0; order = null; draw(); });
  turn.addEventListener("click", () => { state.down = !state.down; order = null; draw(); });
  const listed = make("div", lp, "", {className: "frame"});
  function drawList() {
    const c = of(state.by), v = c.values, turned = state.down ? -1 : 1;
    turn.textContent = state.down ? "most first" : "least first";
    if (!order) {
      const whole = [];
      for (let r = 0; r < N; r++) if (Number.isFinite(v[r])) whole.push(r);
      order = Uint32Array.from(whole).sort((a, b) => turned * (v[a] - v[b]) || a - b);
    }
    const found = [];
    for (let k = 0; k < order.length && found.length < 12; k++) if (mask[order[k]]) found.push(order[k]);
    const table = document.createElement("table"), head = make("tr", make("thead", table)), body = make("tbody", table);
    const seen = [...new Set([c, of(state.x), of(state.y), ...goals, ...axes])].filter(k => k !== columns[0]).slice(0, 6);
    for (const title of ["variant", ...seen.map(k => k.name), ...states.map(s => s.title)]) make("th", head, title).scope = "col";
    for (const r of found) {
      const tr = make("tr", body), button = make("button", make("th", tr), String(columns[0].values[r]), {type: "button"});
      button.addEventListener("click", () => show(r));
      for (const k of seen) make("td", tr, short(k.values[r]));
      for (const s of states) make("td", tr, s.texts[s.places[r]]);
    }
    listed.replaceChildren(table);
  }
  const vp = part("Variants A and B", "variants"), panes = make("div", vp, "", {className: "pair"});
  let players = [];
  function show(r) {
    if (r === state.a) return;
    [state.a, state.b] = [r, state.a];
    draw();
    drawPanes();
    remember();
  }
  function drawPanes() {
    for (const one of players) one.end();
    players = [];
    panes.replaceChildren();
    if (state.a < 0) { make("p", panes, "Click a point, or the number of a variant, and then another one.", {className: "hint"}); return; }
    for (const [r, letter] of [[state.a, "A"], [state.b, "B"]]) if (r >= 0) {
      const pane = make("article", panes), number = columns[0].values[r];
      make("h3", pane, `${letter}: variant ${number}`);
      const film = data.films[number];
      if (film) players.push(player(make("div", pane), film));
      else make("p", pane, "This page has the moving pictures of the best and of the front; this variant's is made by:", {className: "hint"});
      make("code", make("pre", pane), `${data.command[0]} ${data.command[1]}:${number}`);
      const table = make("table", pane), body = make("tbody", table);
      for (const c of axes) {
        const tr = make("tr", body), x = c.values[r];
        make("th", tr, c.name).scope = "row";
        make("td", tr, Number.isFinite(x) ? String(x) : "–");
      }
      for (const s of states) { const tr = make("tr", body); make("th", tr, s.title).scope = "row"; make("td", tr, s.texts[s.places[r]] || "–"); }
    }
  }

  save.addEventListener("click", () => {
    const cell = t => /[",\n\r]/.test(t) ? `"${t.replaceAll('"', '""')}"` : /^[=+@\t-]/.test(t) ? `'${t}` : t;
    const text = [[...columns.map(c => cell(c.name)), ...states.map(s => cell(s.title))].join()];
    for (let r = 0; r < N; r++) if (mask[r]) text.push([...columns.map(c => Number.isFinite(c.values[r]) ? c.values[r] : ""), ...states.map(s => cell(s.texts[s.places[r]]))].join());
    const link = make("a", null, "", {href: URL.createObjectURL(new Blob([text.join("\n") + "\n"], {type: "text/csv"})), download: "selection.csv"});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  clear.addEventListener("click", () => { area.value = ""; ask(""); });
  let waiting = 0;
  area.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => ask(area.value), 150); });

  // The address keeps the state: a link shows the same.
  function remember() {
    const words = new URLSearchParams({x: state.x, y: state.y, by: state.by, down: +state.down});
    if (state.text.trim()) words.set("where", state.text);
    for (const k of ["a", "b"]) if (state[k] >= 0) words.set(k, columns[0].values[state[k]]);
    try { history.replaceState(null, "", "#" + words); } catch (error) { location.hash = words; }
  }
  function recall() {
    const words = new URLSearchParams(location.hash.slice(1)), row = n => n === null ? -1 : columns[0].values.indexOf(+n);
    for (const k of ["x", "y", "by"]) if (columns.some(c => c.word === words.get(k))) state[k] = words.get(k);
    if (words.has("down")) state.down = words.get("down") === "1";
    state.a = row(words.get("a"));
    state.b = row(words.get("b"));
    area.value = words.get("where") || "";
    order = null;
    [xs.value, ys.value, ss.value] = [state.x, state.y, state.by];
  }
  let later = 0, next = 0;
  const times = window.explorerTimes = {preview: 0, exact: 0};
  function draw() {
    const before = performance.now();
    count.textContent = `${chosen.toLocaleString("en")} of ${N.toLocaleString("en")} variants selected`;
    const coarse = Math.max(1, Math.round(N / 5000));
    drawPoints();
    drawBins(coarse);
    drawLines(coarse);
    times.preview = performance.now() - before;
    clearTimeout(later);
    later = setTimeout(() => {
      const begin = performance.now();
      if (coarse > 1) { drawBins(1); drawLines(1); }
      times.exact = performance.now() - begin;
      drawList();
      remember();
    }, dragging ? 120 : 0);
  }
  function update() {
    if (next) return;
    next = requestAnimationFrame(() => { next = 0; choose(); draw(); });
  }
  function anew() { colours(); sized(lines); behind = null; draw(); }
  addEventListener("resize", anew);
  addEventListener("hashchange", () => { recall(); ask(area.value); drawPanes(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", anew);
  matchMedia("print").addEventListener("change", anew);
  recall();
  colours();
  sized(lines);
  ask(area.value);
  if (wrong.textContent) update();
  drawPanes();
})();
