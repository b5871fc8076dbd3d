"use strict";
// Two variants side by side: moving, as numbers, and how to have them again.
function variantsView(parent, {store, state, show, changed}) {
  const bar = element("div", "", parent, {className: "controls"}), label = element("label", "variant ", bar);
  const number = element("input", "", label, {type: "number", min: 0, step: 1}), open = element("button", "Show", bar, {type: "button"});
  const swap = element("button", "Swap A and B", bar, {type: "button"}), only = element("button", "Only A", bar, {type: "button"});
  const missing = element("p", "", parent, {className: "wrong"}), panes = element("div", "", parent, {className: "pair"}), numbers = element("div", "", parent, {className: "frame"});
  missing.setAttribute("role", "alert");
  let players = [], film = null, kit = null;

  function filmOf(r) {
    if (!store.kit) return null;
    if (kit !== store.kit) [kit, film] = [store.kit, filmed(store.kit)];
    const symbols = store.axes.filter(c => c.kind === "symbol");
    return film(new Map(symbols.map(c => [c.word, c.values[r] * c.size])));
  }
  function pane(r, letter, made, others) {
    const article = element("article", "", panes), name = store.number.values[r];
    element("h3", `${letter}: variant ${name}`, article);
    if (made) {
      if (made.note) element("p", `It ${made.note}; the motion up to there.`, article, {className: "hint"});
      players.push(player(element("div", "", article), made, {beside: others}));
    } else element("p", store.kit ? "It cannot be assembled." : "Its mechanism states no motion, or cannot be read here.", article, {className: "hint"});
    element("code", `${store.command}:${name} -o variant-${name}.html`, element("pre", "", article));
  }

  // A and B in columns, and how much B differs.
  function table(rows, columns, states) {
    const made = element("table"), head = element("tr", "", element("thead", "", made)), body = element("tbody", "", made), two = rows.length > 1;
    for (const title of ["", ...rows.map(([, letter]) => letter), ...(two ? ["B − A"] : [])]) element("th", title, head, {scope: "col"});
    for (const c of columns) {
      const tr = element("tr", "", body), values = rows.map(([r]) => c.values[r]);
      element("th", c.name, tr, {scope: "row"});
      for (const x of values) element("td", Number.isFinite(x) ? String(+x.toPrecision(9)).replace("-", "−") : "–", tr);
      if (two) element("td", brief(values[1] - values[0]), tr);
    }
    for (const s of states) {
      const tr = element("tr", "", body);
      element("th", s.title, tr, {scope: "row"});
      for (const [r] of rows) element("td", s.texts[s.places[r]] || "–", tr, {className: "words"});
      if (two) element("td", "", tr);
    }
    return made;
  }

  const opened = () => [[state.a, "A"], [state.b, "B"]].filter(([r]) => r >= 0);
  function draw() {
    for (const one of players) one.end();
    players = [];
    panes.replaceChildren();
    const rows = opened();
    swap.hidden = only.hidden = rows.length < 2;
    if (!rows.length) element("p", "Click a point, or the number of a variant, and then another one.", panes, {className: "hint"});
    const films = rows.map(([r]) => filmOf(r));
    rows.forEach(([r, letter], k) => pane(r, letter, films[k], films.filter((other, i) => other && i !== k)));
    tell(rows);
    // Both at the same time of their motion.
    if (players.length > 1 && players[0].state.playing) for (const one of players) { one.go(0); one.run(true); }
  }
  function tell(rows) {
    numbers.replaceChildren();
    if (rows.length) {
      const [first, more] = [true, false].map(shown => store.axes.filter(c => state.axes.includes(c.word) === shown));
      numbers.append(table(rows, first, store.states));
      if (more.length) {
        const rest = element("details", "", numbers);
        element("summary", `${more.length} more numbers`, rest);
        rest.append(table(rows, more, []));
      }
    }
  }
  // Other numbers of the same variants; what moves goes on.
  const renew = () => tell(opened());
  function byNumber() {
    const r = number.value === "" ? -1 : store.row(+number.value);
    missing.textContent = r < 0 ? `There is no variant ${number.value} in this page.` : "";
    if (r >= 0) show(r);
  }
  open.addEventListener("click", byNumber);
  number.addEventListener("keydown", event => { if (event.key === "Enter") byNumber(); });
  swap.addEventListener("click", () => { [state.a, state.b] = [state.b, state.a]; changed(); draw(); });
  only.addEventListener("click", () => { state.b = -1; changed(); draw(); });
  return {draw, renew};
}
