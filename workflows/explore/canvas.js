"use strict";
// Pictures on canvases: lines and points are counted pixel by pixel, in pixels of the page; axes
// and letters are as sharp as the screen. Colours are those of the style sheet.
const FONT = 'system-ui, "DejaVu Sans", sans-serif';
const ink = {};
function takeColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "muted", "line", "accent", "worst", "best", "card"]) {
    const text = style.getPropertyValue(`--${name}`).trim();
    ink[name] = [1, 3, 5].map(k => parseInt(text.slice(k, k + 2), 16));
  }
}
const css = c => `rgb(${c.join()})`;

// A canvas in an element: `fit()` takes its size, and says whether it is another.
function board(parent, height, label) {
  const e = element("canvas", "", parent, {tabIndex: 0}), g = e.getContext("2d"), density = document.createElement("canvas");
  e.style.height = `${height}px`;
  e.setAttribute("role", "img");
  e.setAttribute("aria-label", label);
  const it = {e, g, width: 0, height: 0}, kept = new Map();
  it.fit = () => {
    const w = Math.max(40, Math.round(e.clientWidth)), h = Math.round(e.clientHeight), sharp = Math.min(3, devicePixelRatio || 1);
    const other = w !== it.width || h !== it.height || e.width !== Math.round(w * sharp);
    if (other) {
      Object.assign(it, {width: w, height: h});
      [e.width, e.height, density.width, density.height] = [Math.round(w * sharp), Math.round(h * sharp), w, h];
      g.setTransform(sharp, 0, 0, sharp, 0, 0);
      kept.clear();
    }
    return other;
  };
  it.clear = () => g.clearRect(0, 0, it.width, it.height);
  // Memory by name, used again from picture to picture: what is made anew costs a pause later.
  const held = (name, make) => kept.get(name) || kept.set(name, make()).get(name);
  it.counts = name => held(name, () => new Uint32Array(it.width * it.height)).fill(0);
  it.image = name => {
    const image = held(name, () => new ImageData(it.width, it.height));
    image.data.fill(0);
    return image;
  };
  it.show = image => {
    density.getContext("2d").putImageData(image, 0, 0);
    it.clear();
    g.drawImage(density, 0, 0, it.width, it.height);
  };
  // `within`: what is centred is moved where an end of the picture would cut it.
  it.text = (text, x, y, {align = "center", size = 12, colour = ink.ink, within = false} = {}) => {
    g.font = `${size}px ${FONT}`;
    g.textAlign = align;
    g.fillStyle = css(colour);
    const half = within ? g.measureText(text).width / 2 : 0;
    g.fillText(text, within ? Math.max(half, Math.min(it.width - half, x)) : x, y);
  };
  return it;
}

// Counts over what is there, by the logarithm of their number: 10⁵ lines are no blot.
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

// A drag from where `start` agrees, by mouse or finger; places are in pixels of the canvas.
// Where the browser takes the finger for a scroll, `ended` undoes what `move` began.
function dragged(e, start, move, end, ended = () => {}) {
  let from = null;
  const here = event => { const box = e.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  e.addEventListener("pointerdown", event => {
    if (event.button || !start(here(event))) return;
    from = here(event);
    e.setPointerCapture(event.pointerId);
  });
  e.addEventListener("pointermove", event => { if (from) move(from, here(event)); });
  e.addEventListener("pointerup", event => { if (from) { const first = from; from = null; end(first, here(event)); } });
  e.addEventListener("pointercancel", () => { from = null; ended(); });
}

// Places of ticks on a column's axis: round numbers, powers of ten where it is logarithmic.
function ticks(c, count) {
  const found = [];
  if (c.log) {
    const first = Math.ceil(Math.log10(c.low) - 1e-9), last = Math.floor(Math.log10(c.high) + 1e-9), step = Math.max(1, Math.ceil((last - first) / count));
    for (let k = first; k <= last; k += step) found.push(+`1e${k}`);
    // Within a decade or two also their doubles and fives.
    const more = last - first < 2 ? [2, 5].flatMap(f => [first - 1, first, last].map(k => f * +`1e${k}`)) : [];
    return [...new Set([...found, ...more.map(x => +x.toPrecision(12))])].filter(x => x >= c.low && x <= c.high);
  }
  const raw = (c.high - c.low) / count, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(k => k * power).find(x => x >= raw);
  for (let k = Math.ceil(c.low / step - 1e-9); k * step <= c.high + 1e-9 * step; k++) found.push(+(k * step).toPrecision(12));
  return found;
}
