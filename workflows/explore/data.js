"use strict";
// The page's data as columns: numbers in full, and where each stands on its axis.
function storeOf(document) {
  const ARRAYS = {f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array};
  const store = {};

  function bytes(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) out[k] = raw.charCodeAt(k);
    return out;
  }
  const array = (type, data) => new ARRAYS[type](bytes(data).buffer);

  function numbers({type, data, levels}) {
    const plain = array(type, data);
    return levels === undefined ? plain : Float64Array.from(plain, (table => k => table[k])(array("f8", levels)));
  }

  // Whether logarithms tell numbers apart better: over three decades, or where half of them stand
  // in a corner of the axis.
  function crowded(v, low, high) {
    if (!(low > 0) || high / low > 1e3) return low > 0;
    const some = [], step = Math.max(1, Math.floor(v.length / 1000));
    for (let r = 0; r < v.length; r += step) if (Number.isFinite(v[r])) some.push(v[r]);
    const middle = some.sort((a, b) => a - b)[some.length >> 1];
    return high / low > 10 && (middle - low) / (high - low) < 0.08;
  }

  function column(c) {
    const made = {...c, data: null, name: c.unit ? `${c.title} [${c.unit}]` : c.title};
    let values = null, axis = null, share = null;
    function scale() {
      const v = made.values;
      let low = Infinity, high = -Infinity;
      for (let r = 0; r < v.length; r++) {
        const x = v[r];
        if (x < low && x > -Infinity) low = x;
        if (x > high && x < Infinity) high = x;
      }
      if (low > high) [low, high] = [0, 1];
      if (!(high > low)) high = low + (Math.abs(low) || 1) * 1e-6;
      const log = crowded(v, low, high), map = log ? Math.log : x => x, start = map(low), stretch = 1 / (map(high) - start);
      return {low, high, log, to: x => Math.min(1, Math.max(0, (map(x) - start) * stretch)),
        from: s => log ? Math.exp(start + s / stretch) : start + s / stretch};
    }
    function shares() {
      const {values: v, to} = made;
      return Float32Array.from(v, x => Number.isFinite(x) ? to(x) : NaN);
    }
    const lazy = (name, get) => Object.defineProperty(made, name, {enumerable: true, get});
    lazy("values", () => values = values || numbers(c));
    lazy("share", () => share = share || shares()); // 0 to 1 of the axis; no number where there is none
    for (const name of ["low", "high", "log", "to", "from"]) lazy(name, () => (axis = axis || scale())[name]);
    return made;
  }

  // Takes what the store has now; whether its columns are the same.
  store.take = document => {
    const before = store.columns && store.columns.map(c => c.word).join("\n");
    const columns = document.columns.map(column), [number, ...axes] = columns;
    Object.assign(store, {
      rows: document.rows, columns, axes, number, front: document.front, constraints: document.constraints,
      states: document.states.map(s => ({...s, data: null, places: array(s.type, s.data)})),
      goals: axes.filter(c => c.kind === "objective"),
      metrics: axes.filter(c => c.kind === "objective" || c.kind === "constraint" || c.kind === "metric"),
      command: document.command, kit: document.kit,
      constants: document.constants.map(c => ({...c, kind: "constant", in_files: true})),
      frontOf: document.front_of.filter(word => document.columns.some(c => c.word === word)),
    });
    return before === columns.map(c => c.word).join("\n");
  };
  store.of = word => store.axes.find(c => c.word === word);
  store.row = number => store.number.values.indexOf(number);
  store.take(document);
  return store;
}

// A number as charts and tables have it.
function brief(x) {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x), text = a && (a >= 1e6 || a < 1e-4) ? x.toExponential(+x.toExponential(0) === x ? 0 : 1) : String(+x.toPrecision(4));
  return text.replace("e+", "e").replace(/-/g, "−");
}
