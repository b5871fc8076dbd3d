"use strict";
// Conditions in the grammar of `where:` and `constraints:` (basepar_core/expressions/grammar.py):
// expressions of columns, numbers with units and comparisons, units checked. A column may be
// called `stroke(D)`; `constants` {word, size (SI), powers} are the same for all rows. Returns what
// reads a line: a function of a row, or an error that says what is wrong.
function conditions(columns, units, constants = []) {
  const SIGNS = ["<=", ">=", "==", "<", ">"], NONE = [0, 0, 0, 0];
  const FUNCTIONS = {sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tan: Math.tan, abs: Math.abs, min: Math.min, max: Math.max};
  const has = (table, word) => Object.hasOwn(table, word);
  const names = new Map([...constants, ...columns].map(c => [c.word, c]));
  // Names with parentheses, the longest first; spaces do not matter.
  const escaped = c => c.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const spelled = [...names.keys()].filter(word => /^[A-Za-z]\w*\(/.test(word)).sort((a, b) => b.length - a.length)
    .map(word => [word, new RegExp([...word.replace(/\s+/g, "")].map(escaped).join("\\s*"), "y")]);
  const same = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 1e-9);
  const scaled = (a, b, sign) => a.map((x, i) => x + sign * b[i]);

  const KINDS = [["number", /(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?/y], ["word", /[A-Za-z]\w*/y], ["sign", /<=|>=|==|[-+*/^(),<>]/y]];
  function tokens(line) {
    const found = [];
    const matched = (pattern, at) => { pattern.lastIndex = at; return pattern.exec(line); };
    for (let at = 0; (at += line.slice(at).match(/^\s*/)[0].length) < line.length;) {
      const own = spelled.find(([, pattern]) => matched(pattern, at));
      const [kind, pattern] = own ? ["column", own[1]] : KINDS.find(([, one]) => matched(one, at)) || [];
      if (!pattern) throw new Error(`what is ${line[at]}?`);
      const text = matched(pattern, at)[0];
      found.push(own ? {kind, text: own[0]} : {kind: kind === "word" && names.has(text) ? "column" : kind, text});
      at += text.length;
    }
    return found;
  }

  function read(line) {
    const list = tokens(line);
    let k = 0;
    const next = () => list[k] ? list[k].text : undefined, kind = () => list[k] ? list[k].kind : "end";
    const take = (...texts) => kind() === "sign" && texts.includes(next()) ? list[k++].text : null;
    const isUnit = at => list[at] && (list[at].text === "(" ? isUnit(at + 1) : list[at].kind === "word" && has(units, list[at].text));

    function sum() {
      let a = term();
      for (let sign; (sign = take("+", "-"));) {
        const b = term(), x = a, by = sign === "+" ? 1 : -1;
        if (x.powers && b.powers && !same(x.powers, b.powers)) throw new Error("what is added is of different units");
        a = {powers: x.powers || b.powers, at: r => x.at(r) + by * b.at(r), constant: x.constant + by * b.constant};
      }
      return a;
    }
    function term() {
      let a = factor();
      for (;;) {
        const x = a, before = list[k - 1], slash = next() === "/";
        if ((before.kind === "number" || before.text === ")" || x.unit) && (slash ? list[k + 1] && list[k + 1].kind === "word" && isUnit(k + 1) : kind() === "word" && isUnit(k))) {
          const unit = unitsHere();
          a = {powers: x.powers ? scaled(x.powers, unit.powers, 1) : unit.powers, at: r => x.at(r) * unit.size, unit: true};
          continue;
        }
        const sign = take("*", "/");
        if (!sign) return a;
        const b = factor(), by = sign === "*" ? 1 : -1;
        a = {powers: scaled(x.powers || NONE, b.powers || NONE, by), at: by > 0 ? r => x.at(r) * b.at(r) : r => x.at(r) / b.at(r), constant: by > 0 ? x.constant * b.constant : x.constant / b.constant};
      }
    }
    // A product of units as far as it goes; `5/s` starts with the slash.
    function unitsHere() {
      let found = next() === "/" ? {size: 1, powers: NONE} : unit();
      while ((next() === "*" || next() === "/") && isUnit(k + 1)) {
        const by = take("*", "/") === "*" ? 1 : -1, part = unit();
        found = {size: found.size * part.size ** by, powers: scaled(found.powers, part.powers, by)};
      }
      return found;
    }
    function unit() {
      let found;
      if (take("(")) {
        found = unitsHere();
        if (!take(")")) throw new Error("a ) is missing");
      } else {
        const [size, powers] = units[list[k++].text];
        found = {size, powers};
      }
      if (!take("^")) return found;
      const n = (take("-") ? -1 : 1) * Number(list[k] && list[k++].text);
      if (!Number.isInteger(n)) throw new Error("a unit's power is a whole number");
      return {size: found.size ** n, powers: found.powers.map(p => p * n)};
    }
    function factor() {
      let negative = false;
      for (let sign; (sign = take("+", "-"));) negative = negative !== (sign === "-");
      const a = power();
      return negative ? {powers: a.powers, at: r => -a.at(r), constant: -a.constant} : a;
    }
    function power() {
      const a = atom();
      if (!take("^")) return a;
      const b = factor();
      if (b.powers && !same(b.powers, NONE)) throw new Error("an exponent is a plain number");
      const n = b.constant;  // NaN where columns are in it
      if (!Number.isFinite(n) && a.powers && !same(a.powers, NONE)) throw new Error("an exponent of what has a unit is a number");
      return {powers: a.powers && (same(a.powers, NONE) ? NONE : a.powers.map(p => p * n)), at: r => a.at(r) ** b.at(r)};
    }
    function atom() {
      const token = list[k++];
      if (!token) throw new Error("it ends too early");
      if (token.text === "(" && token.kind === "sign") {
        const a = sum();
        if (!take(")")) throw new Error("a ) is missing");
        return a;
      }
      if (token.kind === "number") {
        const x = Number(token.text);
        if (!Number.isFinite(x)) throw new Error(`${token.text} is too large`);
        return {powers: x ? NONE : null, at: () => x, constant: x};
      }
      if (token.kind === "column") {
        const {values: v, size, powers} = names.get(token.text);
        return {powers, at: v ? r => v[r] * size : () => size};
      }
      if (token.kind === "word" && has(FUNCTIONS, token.text) && take("(")) return called(token.text);
      if (token.kind === "word" && has(units, token.text)) throw new Error(`the unit ${token.text} follows a number, as in 2 ${token.text}`);
      throw new Error(token.kind === "word" ? `there is no ${token.text}` : `what is ${token.text}?`);
    }
    function called(name) {
      const parts = [sum()];
      while (take(",")) parts.push(sum());
      if (!take(")")) throw new Error("a ) is missing");
      const [a] = parts, f = FUNCTIONS[name], many = name === "min" || name === "max", powers = parts.map(p => p.powers).find(Boolean) || NONE;
      if (!many && parts.length > 1) throw new Error(`${name} has one argument`);
      if (many && parts.some(p => p.powers && !same(p.powers, powers))) throw new Error(`${name} compares different units`);
      if (["sin", "cos", "tan"].includes(name) && !same(powers, NONE)) throw new Error(`${name} is of an angle`);
      return {powers: name === "sqrt" ? powers.map(p => p / 2) : powers, at: many ? r => f(...parts.map(p => p.at(r))) : r => f(a.at(r))};
    }

    const left = sum(), sign = take(...SIGNS);
    if (!sign) throw new Error(k < list.length ? `what is ${next()}?` : "compare by <=, >=, <, > or ==");
    const right = sum();
    if (k < list.length) throw new Error(SIGNS.includes(next()) ? "write two conditions, one a line" : `what is ${next()}?`);
    if (left.powers && right.powers && !same(left.powers, right.powers)) throw new Error("the two sides are of different units; write them, as in 0.3 m");
    return {
      "<=": r => left.at(r) <= right.at(r), ">=": r => left.at(r) >= right.at(r), "<": r => left.at(r) < right.at(r),
      ">": r => left.at(r) > right.at(r), "==": r => left.at(r) === right.at(r),
    }[sign];
  }

  // Which columns a line speaks of.
  read.names = line => tokens(line).filter(t => t.kind === "column").map(t => names.get(t.text));
  return read;
}
