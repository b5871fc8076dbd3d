"use strict";
// Dimensions of a variant: the machine's program run with its symbols (machine.py).
function dimensions(machine) {
  const {steps, outputs, counts} = machine.program, joints = machine.joints.length;
  const nominal = new Map(machine.symbols);

  function run(values) {
    const v = new Float64Array(steps.length);
    steps.forEach(([operation, a, b, c, d], k) => {
      switch (operation) {
        case "number": v[k] = a; break;
        case "name": v[k] = values.has(a) ? values.get(a) : nominal.get(a); break;
        case "+": v[k] = v[a] + v[b]; break;
        case "less": v[k] = v[a] - v[b]; break;
        case "-": v[k] = -v[a]; break;
        case "*": v[k] = v[a] * v[b]; break;
        case "/": v[k] = v[a] / v[b]; break;
        case "^": v[k] = v[a] ** v[b]; break;
        case "select": v[k] = v[a] <= v[b] ? v[c] : v[d]; break;
        case "sqrt": case "sin": case "cos": case "tan": case "abs": case "sign": case "log":
          v[k] = Math[operation](v[a]); break;
        default: throw new Error(`no operation ${operation}`);
      }
    });
    return v;
  }

  // Algebraic numbers follow the symbols that they depend on, from the nominal geometry in a
  // straight line.
  function rooted(values) {
    if (!machine.relations.length) return values;
    const found = new Map(values), STEPS = 32;
    for (const [symbol] of machine.relations) found.set(symbol, nominal.get(symbol));
    for (let k = 1; k <= STEPS; k++) {
      for (const [name, x] of values) found.set(name, nominal.get(name) + (x - nominal.get(name)) * k / STEPS);
      for (const [symbol, gap, slope] of machine.relations)
        for (let n = 0; n < 8; n++) {
          const v = run(found);
          found.set(symbol, found.get(symbol) - v[gap] / v[slope]);
        }
    }
    return found;
  }

  // Symbols that the program does not have change nothing.
  return function of(values) {
    const v = run(rooted(new Map([...values].filter(([name]) => nominal.has(name)))));
    const numbers = outputs.map(place => v[place]);
    let k = 0;
    const take = count => numbers.slice(k, k += count), vector = () => take(3);
    const sides = Array.from({length: 2 * joints}, () => {
      const at = vector(), axis = vector(), reference = vector();
      return {at, axes: frame(axis, reference)};
    });
    return {
      joints: Array.from({length: joints}, (_, j) => [sides[2 * j], sides[2 * j + 1]]),
      rows: take(counts.rows),
      points: Array.from({length: counts.points / 3}, vector),
      centres: centres(take(counts.masses)),
      shares: take(counts.shares),
    };
  };

  // Bodies' centres of mass, from their masses and first moments; their origins without.
  function centres(masses) {
    const each = machine.flat ? 3 : 4;
    return Array.from({length: machine.bodies}, (_, b) => {
      const [m, ...first] = masses.slice(each * b, each * (b + 1));
      return [0, 1, 2].map(k => m > 0 ? (first[k] || 0) / m : 0);
    });
  }
}
