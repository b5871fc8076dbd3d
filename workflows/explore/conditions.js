"use strict";
// Conditions in the grammar of `where:`: expressions of columns, numbers with units and
// comparisons, units checked. Returns a function of a row, or throws what is wrong.
function conditions(columns, units) {
  const names = new Map(columns.map(c => [c.word, c]));
  const FUNCTIONS = {sin: Math.sin, cos: Math.cos, tan: Math.tan, sqrt: Math.sqrt, abs: Math.abs,
    asin: Math.asin, acos: Math.acos, atan: Math.atan, exp: Math.exp, log: Math.log};
  const none = [0, 0, 0, 0], same = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 1e-9);
  function read(text) {
    const words = text.match(/\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|(<=|>=|\*\*|[-+*\/^()<>]))/g) || [];
    if (words.join("").trim() !== text.trim()) throw new Error(`what is ${text.trim().slice(words.join("").trim().length).trim()}?`);
    const tokens = words.map(w => w.trim());
    let k = 0;
    const next = () => tokens[k], take = () => tokens[k++];
    function sum() {
      let a = product();
      while (next() === "+" || next() === "-") {
        const sign = take() === "+" ? 1 : -1, b = product(), x = a;
        if (!same(x.powers, b.powers)) throw new Error("what is added is of different units");
        a = {powers: x.powers, at: r => x.at(r) + sign * b.at(r)};
      }
      return a;
    }
    function product() {
      let a = signed();
      for (;;) {
        const x = a;
        if (next() === "*" || next() === "/") {
          const turn = take() === "*" ? 1 : -1, b = signed();
          a = {powers: x.powers.map((p, i) => p + turn * b.powers[i]), at: turn > 0 ? r => x.at(r) * b.at(r) : r => x.at(r) / b.at(r)};
        } else return a;
      }
    }
    function signed() {
      if (next() === "-") { take(); const a = signed(); return {powers: a.powers, at: r => -a.at(r)}; }
      const a = atom();
      if (next() !== "^" && next() !== "**") return a;
      take();
      const sign = next() === "-" ? (take(), -1) : 1, n = sign * Number(take());
      if (!Number.isFinite(n)) throw new Error("an exponent is a number");
      return {powers: a.powers.map(p => p * n), at: r => a.at(r) ** n};
    }
    function atom() {
      const w = take();
      if (w === undefined) throw new Error("it ends too early");
      if (w === "(") {
        const a = sum();
        if (take() !== ")") throw new Error("a ) is missing");
        return a;
      }
      if (/^[\d.]/.test(w)) {
        const x = Number(w);
        if (next() && /^[A-Za-z_]/.test(next()) && units[next()] && !names.has(next())) {
          const [size, powers] = units[take()];
          return {powers, at: () => x * size};
        }
        return {powers: none, at: () => x};
      }
      if (names.has(w)) { const c = names.get(w), v = c.values, size = c.size; return {powers: c.powers, at: r => v[r] * size}; }
      if (w === "pi") return {powers: none, at: () => Math.PI};
      if (FUNCTIONS[w] && next() === "(") {
        take();
        const a = sum(), f = FUNCTIONS[w];
        if (take() !== ")") throw new Error("a ) is missing");
        if (w === "sqrt" || w === "abs") return {powers: w === "sqrt" ? a.powers.map(p => p / 2) : a.powers, at: r => f(a.at(r))};
        if (!same(a.powers, none)) throw new Error(`${w} is of a plain number`);
        return {powers: none, at: r => f(a.at(r))};
      }
      if (units[w]) { const [size, powers] = units[w]; return {powers, at: () => size}; }
      throw new Error(`there is no ${w}`);
    }
    const left = sum(), sign = take(), right = sum();
    if (!["<=", ">=", "<", ">"].includes(sign)) throw new Error("compare by <=, >=, < or >");
    if (k < tokens.length) throw new Error(`what is ${next()}?`);
    if (!same(left.powers, right.powers)) throw new Error("the two sides are of different units; write them, as in 0.3 m");
    return {"<=": r => left.at(r) <= right.at(r), ">=": r => left.at(r) >= right.at(r), "<": r => left.at(r) < right.at(r), ">": r => left.at(r) > right.at(r)}[sign];
  }
  return text => {
    const tests = text.split(/\n/).map(l => l.trim()).filter(Boolean).map((line, i) => {
      try { return read(line); } catch (error) { throw new Error(`line ${i + 1}: ${error.message}`); }
    });
    return r => tests.every(test => test(r));
  };
}
