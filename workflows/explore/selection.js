"use strict";
// What is selected: conditions as text, one a line, and `words` {title: text} that are asked for. The text is the state: a brush
// writes its lines into it.
function selectionOf(store, units) {
  const it = {text: "", words: Object.create(null), ranges: new Map(), written: new Map(), mask: null, count: 0, wrong: "", note: "", all: true};
  let rest = [], free = null, read = null;
  const LINE = /^(.*?)\s*(<=|>=)\s*(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*)$/, plain = text => text.replace(/\s+/g, "");

  // Lines that hold one column by a number in its own unit are ranges, which brushes can change.
  function parsed(text) {
    const ranges = new Map(), others = [], written = new Map();
    for (const line of text.split("\n").map(l => l.trim()).filter(Boolean)) {
      const m = line.match(LINE), c = m && store.axes.find(k => plain(k.word) === plain(m[1]));
      // As a file's reader warns (basepar_core/files/bare_angles.py).
      if (c && !m[4].trim() && (c.unit === "deg" || c.unit === "rad") && Math.abs(m[3]) > 2 * Math.PI)
        it.note = `${m[3]} is taken as ${m[3]} rad, which is ${brief(m[3] * 180 / Math.PI)} deg; write ${m[3]} deg`;
      if (!c || m[4].trim() !== c.unit) { others.push(line); continue; }
      const range = ranges.get(c) || [-Infinity, Infinity];
      if (m[2] === ">=") range[0] = Math.max(range[0], +m[3]); else range[1] = Math.min(range[1], +m[3]);
      ranges.set(c, range);
      written.set(c, [...written.get(c) || [], line]);
    }
    return [ranges, others, written];
  }

  function tested(lines) {
    const tests = lines.map(line => {
      try { return read(line); } catch (error) { throw new Error(`${line}: ${error.message}`); }
    });
    const asked = store.states.filter(s => s.title in it.words).map(s => [s, s.texts.indexOf(it.words[s.title])]);
    for (let r = 0; r < store.rows; r++)
      free[r] = +(tests.every(test => test(r)) && asked.every(([s, place]) => s.places[r] === place));
  }

  // Takes the text as it is; what is wrong with it is `wrong`, and then nothing else changes.
  it.ask = text => {
    it.note = "";
    const [ranges, others, written] = parsed(text);
    try { tested(others); } catch (error) { it.wrong = error.message; return false; }
    Object.assign(it, {text, ranges, written, wrong: ""});
    rest = others;
    return true;
  };
  it.choose = () => {
    it.mask.set(free);
    for (const [c, [low, high]] of it.ranges) {
      const v = c.values, mask = it.mask;
      for (let r = 0; r < store.rows; r++) if (!(v[r] >= low && v[r] <= high)) mask[r] = 0;
    }
    let count = 0;
    for (let r = 0; r < store.rows; r++) count += it.mask[r];
    it.count = count;
    it.all = count === store.rows;
  };

  // Lines of a range; an end of the axis is no condition: rounding must not lose who stands there.
  function lines(c, [low, high]) {
    const unit = c.unit ? ` ${c.unit}` : "", found = [], number = x => String(+x.toPrecision(6));
    if (c.to(low) > 1e-6) found.push(`${c.word} >= ${number(low)}${unit}`);
    if (c.to(high) < 1 - 1e-6) found.push(`${c.word} <= ${number(high)}${unit}`);
    return found;
  }
  // The text with some columns' ranges changed; without a range a column is free again.
  it.brushed = changes => {
    const written = new Map(it.written);
    for (const [c, range] of changes) if (range) written.set(c, lines(c, range)); else written.delete(c);
    return [...rest, ...[...written.values()].flat()].join("\n");
  };

  const SYMBOLS = ["symbol", "following", "constant"];
  function placeOf(line) {
    let named = null;
    try { named = read.names(line); } catch (error) { /* a word that the grammar does not have */ }
    if (!named || named.some(c => !c.in_files)) return "# not for a file: ";
    return named.every(c => SYMBOLS.includes(c.kind)) ? "where: " : "constraints: ";
  }

  // The lines as files have them: `where:` knows symbols only, `constraints:` results too. Neither
  // knows entries of arrays that no metric is of.
  it.files = () => {
    const list = it.text.split("\n").map(l => l.trim()).filter(Boolean), quoted = some => some.map(l => JSON.stringify(l)).join(", ");
    const places = {"where: ": [], "constraints: ": [], "# not for a file: ": []};
    for (const line of list) places[placeOf(line)].push(line);
    return Object.entries(places).filter(([, lines]) => lines.length).map(([name, lines]) => `${name}[${quoted(lines)}]`).join("\n");
  };

  // For other numbers, or more of them.
  it.renew = () => {
    it.mask = new Uint8Array(store.rows).fill(1);
    free = new Uint8Array(store.rows).fill(1);
    read = conditions(store.columns, units, store.constants);
    if (!it.ask(it.text)) it.ask("");
    it.choose();
  };
  it.renew();
  return it;
}
