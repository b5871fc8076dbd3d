"use strict";
// Names beside what they name, where they cover least. From one frame to the next a name keeps its
// place unless another is much better, and goes there smoothly.
function labels(stage, layer) {
  const {film, at, seen, sees} = stage, WAYS = 12, STAY = 6, SHARE = 0.12, EVERY = 4;
  const list = named().map(one => {
    const e = shape("text", {"text-anchor": "middle", "dominant-baseline": "central"}, layer);
    e.style.fill = one.ink;
    e.textContent = one.name;
    return {...one, e, choice: null, offset: null};
  });
  let size = 0, count = 0;

  // Joints that are at one place share a name.
  function named() {
    const found = [], key = mark => middleOf(mark.at.map(v => at(v, 0))).map(x => (x * sees.scale).toFixed(0)).join();
    for (const mark of film.marks) {
      const same = found.find(one => one.key === key(mark));
      if (same) same.name += ", " + mark.name;
      else found.push({key: key(mark), name: mark.name, at: mark.at, ink: "var(--ink)"});
    }
    for (const point of film.points) found.push({name: point.name, at: [point.at], ink: "var(--ink)"});
    for (const line of film.lines)
      if (line.kind === "bar") found.push({name: film.bodies[line.body], at: line.at, ink: bodyColour(film, line.body), inside: line.at.length > 2, bar: true});
    return found;
  }

  // Where a name may stand, from its anchor: far enough that its box ends beside the mark.
  function candidates(one, wide, tall) {
    const near = 8 * sees.marks() + 3, found = one.inside ? [[0, 0, 0]] : [];
    for (const far of one.bar ? [4, 16] : [near, near + 14])
      for (let k = 0; k < WAYS; k++) {
        const angle = 2 * Math.PI * k / WAYS, c = Math.cos(angle), s = Math.sin(angle);
        found.push([c * (far + wide), s * (far + tall), far]);
      }
    return found;
  }

  // Points every few units along what is drawn.
  function dotted(lines) {
    const dots = [];
    for (const points of lines)
      for (let k = 0; k + 1 < points.length; k++) {
        const [a, b] = [points[k], points[k + 1]], count = Math.min(80, Math.ceil(Math.hypot(b[0] - a[0], b[1] - a[1]) / 7));
        for (let i = 0; i <= count; i++) dots.push([a[0] + (b[0] - a[0]) * i / count, a[1] + (b[1] - a[1]) * i / count]);
      }
    return dots;
  }

  // The option that covers least of what is drawn and of the names before it, and is not far.
  function chosen(one, anchor, options, {wide, tall, dots, boxes}) {
    const costs = options.map(([dx, dy, far], k) => {
      const x = anchor[0] + dx, y = anchor[1] + dy;
      let cost = 0.15 * far - (k === one.choice ? STAY : 0);
      for (const p of dots) if (Math.abs(p[0] - x) < wide && Math.abs(p[1] - y) < tall) cost += 2;
      for (const b of boxes) {
        const w = wide + b.wide - Math.abs(b.x - x), h = tall + b.tall - Math.abs(b.y - y);
        if (w > 0 && h > 0) cost += 4 + 0.06 * w * h;
      }
      const outside = x < wide || x > sees.width - wide || y < tall || y > sees.height - tall;
      return outside ? cost + 40 : cost;
    });
    return costs.indexOf(Math.min(...costs));
  }

  function place(f, lines, heres, hasty) {
    size = size || parseFloat(getComputedStyle(list[0].e).fontSize);
    // While it plays, places are chosen in one frame of a few and approached in all.
    const choosing = hasty || count++ % EVERY === 0;
    const dots = choosing ? [...dotted(lines), ...heres.flatMap(p => [p, p, p])] : [], boxes = [];
    for (const one of list) {
      const anchor = middleOf(one.at.map(v => seen(v, f))), wide = 0.29 * size * one.name.length + 2, tall = size / 2;
      const options = candidates(one, wide, tall);
      if (choosing) one.choice = chosen(one, anchor, options, {wide, tall, dots, boxes});
      const [dx, dy] = options[one.choice], old = one.offset;
      one.offset = hasty || !old ? [dx, dy] : [old[0] + SHARE * (dx - old[0]), old[1] + SHARE * (dy - old[1])];
      const x = Math.min(sees.width - wide, Math.max(wide, anchor[0] + one.offset[0]));
      const y = Math.min(sees.height - tall, Math.max(tall, anchor[1] + one.offset[1]));
      boxes.push({x, y, wide, tall});
      one.e.setAttribute("x", fixed(x));
      one.e.setAttribute("y", fixed(y));
    }
  }
  return {place, anew: () => { size = 0; }};
}
