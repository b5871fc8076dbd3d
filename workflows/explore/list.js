"use strict";
// The first of the selection, by any column.
function listView(parent, {store, selection, state, show, changed}) {
  // Rows at first and with each More, and columns beside the number: what a screen shows at once.
  const FIRST = 12, MORE = 50, WIDE = 6;
  const bar = element("div", "", parent, {className: "controls"}), label = element("label", "by ", bar), by = element("select", "", label);
  const turn = element("button", "", bar, {type: "button"}), more = element("button", "More", bar, {type: "button"});
  const frame = element("div", "", parent, {className: "frame"});
  let order = null, shown = FIRST;

  function anew() {
    order = null;
    by.replaceChildren(...store.columns.map(c => element("option", c.name, null, {value: c.word})));
    by.value = state.by;
  }
  const column = () => store.columns.find(c => c.word === state.by);
  function sorted() {
    const v = column().values, way = state.down ? -1 : 1, rows = [];
    for (let r = 0; r < store.rows; r++) if (Number.isFinite(v[r])) rows.push(r);
    return Uint32Array.from(rows).sort((a, b) => way * (v[a] - v[b]) || a - b);
  }

  function draw() {
    turn.textContent = state.down ? "largest first" : "smallest first";
    order = order || sorted();
    const rows = [];
    for (let k = 0; k < order.length && rows.length < shown; k++) if (selection.mask[order[k]]) rows.push(order[k]);
    more.hidden = rows.length < shown;
    const all = [column(), store.of(state.x), store.of(state.y), ...store.goals, ...store.axes];
    const seen = [...new Set(all)].filter(c => c !== store.number).slice(0, WIDE);
    const table = element("table"), head = element("tr", "", element("thead", "", table)), body = element("tbody", "", table);
    for (const title of ["variant", ...seen.map(c => c.name)]) element("th", title, head, {scope: "col"});
    for (const s of store.states) element("th", s.title, head, {scope: "col", className: "words"});
    for (const r of rows) {
      const tr = element("tr", "", body), number = String(store.number.values[r]);
      const button = element("button", number, element("th", "", tr, {scope: "row"}), {type: "button"});
      button.setAttribute("aria-label", `show variant ${number}`);
      button.addEventListener("click", () => show(r));
      for (const c of seen) element("td", brief(c.values[r]), tr);
      for (const s of store.states) element("td", s.texts[s.places[r]], tr, {className: "words"});
    }
    frame.replaceChildren(table);
  }
  by.addEventListener("change", () => {
    state.by = by.value;
    state.down = column().sign < 0;
    order = null;
    changed();
  });
  turn.addEventListener("click", () => { state.down = !state.down; order = null; changed(); });
  more.addEventListener("click", () => { shown += MORE; draw(); });
  anew();
  return {draw, anew};
}
