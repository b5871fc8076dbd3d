"use strict";
// The address keeps what is shown, so that a link shows the same; and a table of the selection.
const KEPT = ["x", "y", "xsign", "ysign", "front", "by"];

function remember(store, state, selection, usual) {
  const words = new URLSearchParams();
  for (const key of KEPT) if (state[key] !== usual[key]) words.set(key, state[key]);
  if (state.down !== usual.down) words.set("down", +state.down);
  if (state.axes.join("\n") !== usual.axes.join("\n")) words.set("axes", JSON.stringify(state.axes));
  if (selection.text.trim()) words.set("where", selection.text);
  for (const [title, text] of Object.entries(selection.words)) words.set(`is ${title}`, text);
  for (const k of ["a", "b"]) if (state[k] >= 0) words.set(k, store.number.values[state[k]]);
  history.replaceState(null, "", "#" + words);
}

// What the address says that makes sense here; the rest is as usual.
function recalled(store, state, selection, usual) {
  const words = new URLSearchParams(location.hash.slice(1)), known = c => Boolean(store.of(c));
  const fits = {x: known, y: known, by: c => store.columns.some(k => k.word === c), front: f => ["two", "all", "none"].includes(f)};
  const sign = s => s === "1" || s === "-1";
  for (const key of KEPT) state[key] = words.has(key) && (fits[key] || sign)(words.get(key)) ? words.get(key) : usual[key];
  state.down = words.has("down") ? words.get("down") === "1" : usual.down;
  state.axes = usual.axes;
  try {
    const axes = JSON.parse(words.get("axes"));
    if (Array.isArray(axes) && axes.length > 1 && axes.every(known)) state.axes = [...new Set(axes)];
  } catch (error) { /* somebody's own address */ }
  for (const k of ["a", "b"]) state[k] = words.has(k) ? store.row(+words.get(k)) : -1;
  selection.words = Object.create(null);
  for (const {title, texts} of store.states)
    if (texts.includes(words.get(`is ${title}`))) selection.words[title] = words.get(`is ${title}`);
  return words.get("where") || "";
}

// Every number in full; words that a spreadsheet would compute are kept from it.
function csvOf(store, mask) {
  const kept = text => /^[=+@\t\r-]/.test(text) ? `'${text}` : text;
  const cell = text => /[",\n\r]/.test(text) ? `"${kept(text).replaceAll('"', '""')}"` : kept(text);
  const lines = [[...store.columns.map(c => cell(c.name)), ...store.states.map(s => cell(s.title))].join()];
  for (let r = 0; r < store.rows; r++)
    if (mask[r]) lines.push([...store.columns.map(c => Number.isFinite(c.values[r]) ? c.values[r] : ""), ...store.states.map(s => cell(s.texts[s.places[r]]))].join());
  return lines.join("\n") + "\n";
}
