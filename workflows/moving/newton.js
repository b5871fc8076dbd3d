"use strict";
// Closes a mechanism's loops: relative joint coordinates, cut joints, Newton's method, along a
// motion in small steps. All that it knows of joints is the table in the data (machine.py), and
// where it goes is where basepar_core/dynamics/closure.py goes.
function newton(machine) {
  const GEOMETRY_STEPS = 8, REFINEMENTS = [1, 4, 16, 64], SMALL = 1e-4, LAST_UPDATE = 1e-9, UPDATES = 12, SINGULAR = 1e-9;
  const ground = machine.bodies, body = b => b < 0 ? ground : b;
  const shape = joint => machine.types[machine.joints[joint].type];
  const speeds = chain => chain.reduce((sum, step) => sum + (step.ball ? 3 : step.constant ? 0 : 1), 0);
  const nodes = machine.tree.map(node => ({...node, chain: shape(node.joint).chain, count: speeds(shape(node.joint).chain)}));
  const total = nodes.reduce((sum, node) => sum + node.count, 0);
  const dependent = Array.from({length: total}, (_, k) => k).filter(k => !machine.independent.includes(k));
  const loops = machine.cuts.map(loopOf), sizes = dimensions(machine);

  // Tree joints that move a cut's second body against its first: [node, +1 or −1].
  function loopOf(joint) {
    const above = b => {
      const node = nodes.find(one => one.child === b);
      return node ? [...above(node.parent), node] : [];
    };
    const [first, second] = machine.joints[joint].bodies.map(b => new Set(above(b)));
    const sign = node => second.has(node) === node.forward ? 1 : -1;
    return nodes.filter(node => first.has(node) !== second.has(node)).map(node => [node, sign(node)]);
  }

  // F2 seen from F1, and per speed the direction of turning or sliding, in F1.
  function relative(chain, q, first) {
    let turn = IDENTITY, shift = [0, 0, 0], k = first;
    const moves = [];
    for (const step of chain) {
      if ("slide" in step) {
        const along = column(turn, step.slide);
        moves.push({along});
        shift = plus(shift, times(along, q[k++]));
      } else if ("turn" in step) {
        moves.push({about: column(turn, step.turn)});
        turn = composed(turn, about(step.turn, q[k++]));
      } else if (step.ball) {
        for (let axis = 0; axis < 3; axis++) moves.push({about: column(turn, axis)});
        turn = composed(turn, ofQuaternion(q.slice(k, k + 4)));
        k += 4;
      } else turn = composed(turn, step.constant);
    }
    return {turn, shift, moves};
  }

  // Bodies' rotations and origins, the ground last, and the joints' frames in the world.
  function poses(size, q) {
    const R = new Array(ground + 1), p = new Array(ground + 1), ends = new Array(machine.joints.length), moves = new Map();
    R[ground] = IDENTITY;
    p[ground] = [0, 0, 0];
    const end = (b, side) => ({X: composed(R[b], side.axes), P: plus(p[b], turned(R[b], side.at))});
    for (const node of nodes) {
      const {turn, shift, moves: own} = relative(node.chain, q, node.position), parent = body(node.parent), child = node.child;
      const sides = size.joints[node.joint], near = sides[node.forward ? 0 : 1], far = sides[node.forward ? 1 : 0];
      const here = end(parent, near), there = {X: composed(here.X, node.forward ? turn : transposed(turn))};
      const [X1, sign] = node.forward ? [here.X, 1] : [there.X, -1];
      there.P = plus(here.P, times(turned(X1, shift), sign));
      R[child] = composed(there.X, transposed(far.axes));
      p[child] = less(there.P, turned(R[child], far.at));
      ends[node.joint] = node.forward ? [here, there] : [there, here];
      moves.set(node, own.map(move => Object.fromEntries(Object.entries(move).map(([how, v]) => [how, turned(X1, v)]))));
    }
    for (const joint of machine.cuts)
      ends[joint] = machine.joints[joint].bodies.map((b, side) => end(body(b), size.joints[joint][side]));
    return {R, p, ends, moves};
  }

  // What is open, and its derivatives by the speeds: cut joints first, then couplings.
  function equations(size, q, at) {
    const rows = [];
    machine.cuts.forEach((joint, c) => {
      const {along, pairs} = shape(joint), [F1, F2] = at.ends[joint], offset = less(F2.P, F1.P);
      const row = (gap, of) => {
        const slopes = new Float64Array(total);
        for (const [node, sign] of loops[c])
          at.moves.get(node).forEach((move, k) => {
            slopes[node.speed + k] = sign * of(move, less(F2.P, at.ends[node.joint][1].P));
          });
        rows.push({gap, slopes});
      };
      for (const axis of along) {
        const n = column(F1.X, axis);
        row(dot(n, offset), (move, reach) => dot(n, move.along || cross(move.about, reach)));
      }
      for (const [a, b] of pairs) {
        const one = column(F1.X, a), other = column(F2.X, b), lever = cross(other, one);
        row(dot(one, other), move => move.about ? dot(move.about, lever) : 0);
      }
    });
    let place = 0;
    for (const {positions, speeds: rates} of machine.coupled) {
      const factors = size.rows.slice(place, place + rates.length), slopes = new Float64Array(total);
      place += rates.length;
      const sum = factors.reduce((s, c, k) => s + c * q[positions[k]], 0);
      factors.forEach((c, k) => { slopes[rates[k]] = c; });
      rows.push({gap: sum - size.rows[place++], slopes});
    }
    return rows;
  }

  // The rows that are most independent at the assembly: the longest, then the longest of what is
  // left of each without it, and so on.
  function chosenRows(rows) {
    const rest = rows.map(row => dependent.map(k => row.slopes[k])), chosen = [];
    const length = v => Math.sqrt(v.reduce((sum, x) => sum + x * x, 0));
    while (chosen.length < dependent.length) {
      const lengths = rest.map((v, k) => chosen.includes(k) ? -1 : length(v)), k = lengths.indexOf(Math.max(...lengths));
      const unit = rest[k].map(x => x / lengths[k]);
      chosen.push(k);
      for (let twice = 0; twice < 2; twice++)
        for (const v of rest) {
          const share = v.reduce((sum, x, i) => sum + x * unit[i], 0);
          unit.forEach((x, i) => { v[i] -= share * x; });
        }
    }
    return chosen.sort((a, b) => a - b);
  }

  const drives = nodes.flatMap(node => {
    const slides = node.chain.filter(step => "slide" in step).length, ball = node.chain.some(step => step.ball);
    const number = k => machine.independent.indexOf(node.speed + k), list = [];
    for (let k = 0; k < (ball ? slides : node.count); k++)
      if (number(k) >= 0) list.push({position: node.position + k, coordinates: [number(k)]});
    if (ball && number(slides) >= 0)
      list.push({position: node.position + slides, coordinates: [0, 1, 2].map(k => number(slides + k))});
    return list;
  });

  function integrated(q, step) {
    for (const node of nodes) {
      let place = node.position, k = node.speed;
      for (const one of node.chain) {
        if (one.ball) {
          const next = followed(quaternion([step[k], step[k + 1], step[k + 2]]), q.slice(place, place + 4));
          next.forEach((x, i) => { q[place + i] = x; });
          place += 4;
          k += 3;
        } else if (!one.constant) q[place++] += step[k++];
      }
    }
  }

  let kept = null, sign = 0;
  const matrix = rows => kept.map(k => dependent.map(s => rows[k].slopes[s]));

  // Newton from where the state is; false where it does not converge or wanders.
  function close(size, state) {
    let before = Infinity;
    for (let n = 0; n < UPDATES; n++) {
      const rows = equations(size, state.q, poses(size, state.q));
      if (!kept) kept = chosenRows(rows);
      state.rows = rows;
      state.system = factored(matrix(rows));
      const update = state.system.solve(kept.map(k => -rows[k].gap)), step = new Float64Array(total);
      let far = 0;
      for (let i = 0; i < dependent.length; i++) {
        const k = dependent[i], limit = machine.limit[k] === null ? Infinity : machine.limit[k];
        if (!(Math.abs(update[i]) <= limit)) return false;
        step[k] = update[i];
        far = Math.max(far, Math.abs(update[i]));
      }
      integrated(state.q, step);
      if (far > before && far > SMALL) return false;
      if (far < LAST_UPDATE) return true;
      before = far;
    }
    return false;
  }

  const regular = state => state.system.sign === sign && state.system.ratio > SINGULAR;

  function drive(size, state, before, after) {
    const travel = after.map((x, k) => x - before[k]);
    for (const {coordinates} of drives)
      if (coordinates.length === 3) {
        const these = list => coordinates.map(k => list[k]);
        stepBetween(these(before), these(after)).forEach((x, k) => { travel[coordinates[k]] = x; });
      }
    if (dependent.length) {
      const drift = kept.map(r => -machine.independent.reduce((sum, s, k) => sum + state.rows[r].slopes[s] * travel[k], 0));
      const step = new Float64Array(total);
      state.system.solve(drift).forEach((x, k) => { if (Number.isFinite(x)) step[dependent[k]] = x; });
      integrated(state.q, step);
    }
    for (const {position, coordinates} of drives) {
      const setting = coordinates.length === 3 ? quaternion(coordinates.map(k => after[k])) : [after[coordinates[0]]];
      setting.forEach((x, k) => { state.q[position + k] = x; });
    }
    return !dependent.length || close(size, state);
  }

  // A leg of the way in steps; where it fails, in finer ones. The new state, or why there is none.
  function leg(state, sizeAt, before, after, pieces, refinements) {
    let why = "";
    for (const finer of refinements) {
      const now = {...state, q: state.q.slice()}, steps = pieces * finer;
      let here = before, good = true;
      for (let k = 1; good && k <= steps; k++) {
        const there = before.map((x, i) => x + (after[i] - x) * k / steps);
        good = drive(sizeAt(k / steps), now, here, there);
        here = there;
      }
      if (good && (!dependent.length || regular(now))) return {state: now};
      why = good ? "singular" : "lost";
    }
    return {why};
  }

  // Follows targets (one list of coordinates a sample) with a variant's symbols, SI by name.
  // Returns `samples`, each {q, R, p}, and `ended`: null, or how and at which sample.
  function follow(values, targets) {
    const start = machine.assembly.coordinates, nominal = new Map(machine.symbols), all = sizes(values), samples = [];
    let state = {q: machine.assembly.q.slice()};
    if (dependent.length) {
      if (!close(sizes(new Map()), state)) return {samples, ended: {how: "open", sample: 0}, size: all};
      sign = state.system.sign;
      const between = share => sizes(new Map([...values].filter(([name]) => nominal.has(name)).map(([name, x]) =>
        [name, nominal.get(name) + share * (x - nominal.get(name))])));
      const moved = [...values].some(([name, x]) => nominal.has(name) && nominal.get(name) !== x);
      const led = moved ? leg(state, between, start, start, GEOMETRY_STEPS, REFINEMENTS) : {state};
      if (!led.state) return {samples, ended: {how: "open", sample: 0}, size: all};
      state = led.state;
    }
    let here = start;
    for (const there of targets) {
      const pieces = Math.max(1, Math.ceil(Math.max(...there.map((x, k) => Math.abs(x - here[k]) / machine.step[k]))));
      const led = leg(state, () => all, here, there, pieces, REFINEMENTS.slice(0, 3));
      if (!led.state) return {samples, ended: {how: led.why, sample: samples.length}, size: all};
      state = led.state;
      const {R, p} = poses(all, state.q);
      samples.push({q: state.q.slice(), R, p});
      here = there;
    }
    return {samples, ended: null, size: all};
  }
  return {follow};
}

// LU of a square matrix with row pivoting: `solve`, the determinant's sign, and the least pivot
// over the largest.
function factored(A) {
  const n = A.length, order = A.map((_, k) => k);
  let sign = 1, least = Infinity, most = 0;
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(A[i][k]) > Math.abs(A[best][k])) best = i;
    if (best !== k) {
      [A[k], A[best]] = [A[best], A[k]];
      [order[k], order[best]] = [order[best], order[k]];
      sign = -sign;
    }
    const pivot = A[k][k];
    sign *= Math.sign(pivot);
    least = Math.min(least, Math.abs(pivot));
    most = Math.max(most, Math.abs(pivot));
    for (let i = k + 1; i < n; i++) {
      const factor = A[i][k] /= pivot;
      if (factor) for (let j = k + 1; j < n; j++) A[i][j] -= factor * A[k][j];
    }
  }
  function solve(right) {
    const x = order.map(k => right[k]);
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) x[i] -= A[i][j] * x[j];
    for (let i = n - 1; i >= 0; i--) {
      for (let j = i + 1; j < n; j++) x[i] -= A[i][j] * x[j];
      x[i] /= A[i][i];
    }
    return x;
  }
  return {solve, sign, ratio: n ? least / most : 1};
}
