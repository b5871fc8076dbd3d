"use strict";
// Films any variant of a mechanism: closes its loops along the motion, and puts the draft of the
// drawing into numbers (as sketch.py does). `kit` is machine.py's.
function filmed(kit) {
  const {machine, draft, motion} = kit, solver = newton(machine), ground = machine.bodies;
  // Share of the size that a rail reaches beyond what slides on it; how far the last frame may be
  // from the first, in steps, for the film to start over.
  const RAIL = 0.1, NEAR = 2;
  const body = b => b < 0 ? ground : b;

  // Where a frame's origin and axes are: frame 2 k + side of joint k.
  function ends(size, sample, number) {
    const k = number >> 1, side = number & 1, b = body(machine.joints[k].bodies[side]), {at, axes} = size.joints[k][side];
    return {P: plus(sample.p[b], turned(sample.R[b], at)), X: composed(sample.R[b], axes)};
  }

  function extent(size, sample) {
    const all = size.joints.flatMap((_, k) => [ends(size, sample, 2 * k).P, ends(size, sample, 2 * k + 1).P]);
    return Math.max(...[0, 1, 2].map(i => Math.max(...all.map(p => p[i])) - Math.min(...all.map(p => p[i])))) || 1;
  }

  function sketched(size, samples) {
    const whole = extent(size, samples[0]);
    // A place [body, of, number, axis, share of the size] as [body, x, y, z].
    function vertex([b, of, number, axis, share], shift = share * whole) {
      if (of !== "frame") return [b, ...({point: size.points, mass: size.centres}[of] || [[0, 0, 0]])[number]];
      const {at, axes} = size.joints[number >> 1][number & 1];
      return [b, ...plus(at, times(column(axes, axis), shift))];
    }
    // A guide reaches as far as its joint slides, and a little farther.
    function guide({kind, body: b, at, over: [k, side, axis]}) {
      const way = samples.map(sample => {
        const [F1, F2] = [ends(size, sample, 2 * k), ends(size, sample, 2 * k + 1)];
        return dot(column((side ? F2 : F1).X, axis), side ? less(F1.P, F2.P) : less(F2.P, F1.P));
      });
      const reach = [Math.min(...way) - RAIL * whole, Math.max(...way) + RAIL * whole];
      return {kind, body: b, at: at.map((place, i) => vertex(place, reach[i]))};
    }
    function circle({body: b, centre, other}, n) {
      const apart = less(ends(size, samples[0], other).P, ends(size, samples[0], centre).P);
      const radius = Math.abs(size.shares[n]) * Math.sqrt(dot(apart, apart)), middle = vertex([b, "frame", centre, 0, 0]);
      const corners = Array.from({length: CIRCLE}, (_, k) => {
        const angle = 2 * Math.PI * k / (CIRCLE - 1);
        return [b, middle[1] + radius * Math.cos(angle), middle[2] + radius * Math.sin(angle), 0];
      });
      return {kind: "pitch", body: b, at: b < ground ? [...corners, middle] : corners};
    }
    const all = list => list.map(place => vertex(place));
    return {
      lines: [...draft.lines.map(line => line.over ? guide(line) : {...line, at: all(line.at)}), ...draft.circles.map(circle)],
      marks: draft.marks.map(mark => ({...mark, ends: all(mark.ends), at: all(mark.at), along: all(mark.along)})),
      points: draft.points.map(point => ({...point, at: vertex(point.at)})),
      whole,
    };
  }

  const numbersOf = (sample, whole) => [...sample.R.slice(0, ground).flat(), ...sample.p.slice(0, ground).flat().map(x => x / whole)];
  function closes(samples, whole) {
    if (samples.length < 3) return false;
    const flat = samples.map(sample => numbersOf(sample, whole));
    const far = (a, b) => Math.sqrt(a.reduce((sum, x, k) => sum + (x - b[k]) ** 2, 0));
    const steps = flat.slice(1).map((row, k) => far(row, flat[k]));
    return far(flat[0], flat[flat.length - 1]) <= NEAR * Math.max(...steps);
  }

  const WORDS = {lost: "locks", singular: "becomes singular"};
  function note(ended) {
    if (!ended) return "";
    const at = motion.readings.map(one => `${one.name} = ${one.values[ended.sample].toPrecision(4)} ${one.unit}`);
    return `${WORDS[ended.how]} at ${at.join(", ")}`;
  }

  // The film of a variant, symbols SI by name; null where it cannot be assembled.
  return function film(values) {
    const {samples, ended, size} = solver.follow(values, motion.q), n = samples.length;
    if (!n) return null;
    const {whole, ...sketch} = sketched(size, samples), closed = !ended && closes(samples, whole), per = kit.flat ? 4 : 12;
    const poses = new Float32Array(n * (ground + 1) * per);
    samples.forEach(({R, p}, f) => R.forEach((turn, b) => {
      const all = [...turn, ...p[b]];
      poses.set(kit.flat ? [all[0], all[3], all[9], all[10]] : all, (f * (ground + 1) + b) * per);
    }));
    const cut = one => ({...one, values: one.values.slice(0, n)});
    return {
      ...sketch, mechanism: kit.mechanism, flat: kit.flat, bodies: kit.bodies, view: kit.view, poses, frames: n,
      t: motion.t.slice(0, n), duration: (ended ? motion.t[n - 1] : motion.lasts) + (closed ? motion.step : 0), closed, motion: motion.name,
      note: note(ended), readings: motion.readings.map(cut), efforts: [], values: {},
    };
  };
}
