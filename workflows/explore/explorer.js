"use strict";
// The page: what is selected, pictures of it, and two variants.
function explorer(root, data) {
  // Axes that a screen of 1200 pixels shows 66 apart; lines that a preview counts: 10⁵ lines on 16
  // axes take 0.2 s, these a hundredth, which one frame has room for.
  const SHOWN = 16, PREVIEW = 5000, store = storeOf(data), selection = selectionOf(store, data.units);
  const usual = habits(), state = {...usual, a: -1, b: -1, dragging: false};

  // What is shown when nobody has said anything else.
  function habits() {
    const {goals, metrics, axes} = store, results = [...new Set([...goals, ...metrics, ...axes])], x = results[0], y = results[1] || x;
    const first = [...axes.filter(c => c.kind !== "result"), ...axes].slice(0, Math.max(2, Math.min(SHOWN, axes.filter(c => c.kind !== "result").length)));
    const sign = c => String(c.sign < 0 ? -1 : 1);
    return {x: x.word, y: y.word, xsign: sign(x), ysign: sign(y), front: goals.length ? "all" : "two", by: x.word, down: x.sign < 0, axes: [...new Set(first)].map(c => c.word)};
  }
  const part = (title, id) => {
    const section = element("section", "", root, {id});
    element("h2", title, section);
    return section;
  };
  const spoken = element("p", "", root, {className: "unseen"});
  spoken.setAttribute("aria-live", "polite");
  const say = text => { spoken.textContent = text; };

  // Conditions.
  const asking = part("Selection", "selection"), area = element("textarea", "", asking, {rows: 5, spellcheck: false});
  area.setAttribute("aria-label", "conditions, one a line, as where: and constraints: take them");
  area.placeholder = store.axes.slice(0, 2).map(c => `${c.word} <= ${brief((c.low + c.high) / 2).replace("−", "-")} ${c.unit}`.trim()).join("\n");
  const count = element("p", "", asking, {id: "count"}), wrong = element("p", "", asking, {className: "wrong"}), row = element("div", "", asking, {className: "controls"});
  count.setAttribute("role", "status");
  wrong.setAttribute("role", "alert");
  const clear = element("button", "Show all", row, {type: "button"}), meet = element("button", "Constraints met", row, {type: "button"});
  const save = element("button", "Save as CSV", row, {type: "button"}), words = element("span", "", row, {className: "controls"});
  const files = element("details", "", asking);
  element("summary", "The lines for a file, and names", files);
  const lines = element("code", "", element("pre", "", files)), names = element("code", "", element("pre", "", files));
  element("p", "One condition a line. Drag over an axis, a histogram or the scatter plot to select; a line that is taken away gives its variants back.", asking, {className: "hint"});

  function wordSelects() {
    words.replaceChildren();
    for (const s of store.states.filter(one => one.texts.length > 1 && one.texts.length <= 24)) {
      const label = element("label", `${s.title} `, words), e = element("select", "", label);
      element("option", "all", e, {value: -1});
      s.texts.forEach((text, k) => element("option", text || "–", e, {value: k}));
      e.value = s.texts.indexOf(selection.words[s.title]);
      e.addEventListener("change", () => {
        if (+e.value < 0) delete selection.words[s.title]; else selection.words[s.title] = s.texts[e.value];
        ask(area.value);
      });
    }
  }

  function ask(text) {
    const good = selection.ask(text);
    wrong.textContent = good ? selection.note : `${selection.wrong}. What is selected is still of the text before.`;
    if (good) update(); else lines.textContent = "A condition is wrong.";
  }
  function brush(changes) {
    area.value = selection.brushed(changes);
    ask(area.value);
  }
  function show(r) {
    if (r === state.a) return;
    [state.a, state.b] = [r, state.a];
    changed();
    variants.draw();
    say(`variant ${store.number.values[r]} is A`);
  }
  function moved(from, to) {
    state.axes = state.axes.slice();
    state.axes.splice(to, 0, ...state.axes.splice(from, 1));
    measure();
  }
  const shared = {store, selection, state, brush, say, show, moved, changed};
  const pc = part("Parallel coordinates", "parallel"), chooser = element("details", "", pc), parallel = parallelView(pc, shared);
  const scatter = scatterView(part("Scatter plot", "scatter"), shared), histograms = histogramsView(part("Histograms", "histograms"), shared);
  const list = listView(part("First of the selection", "list"), shared), variants = variantsView(part("Variants A and B", "variants"), shared);

  function chooseAxes() {
    const box = element("div", "", null, {className: "choices"});
    for (const c of store.axes) {
      const label = element("label", "", box), input = element("input", "", label, {type: "checkbox", checked: state.axes.includes(c.word)});
      label.append(" " + c.name);
      input.addEventListener("change", () => {
        const axes = store.axes.map(k => k.word).filter(w => w === c.word ? input.checked : state.axes.includes(w));
        if (axes.length < 2) { input.checked = true; return; }
        state.axes = input.checked ? [...state.axes, c.word] : state.axes.filter(w => w !== c.word);
        measure();
      });
    }
    chooser.replaceChildren(element("summary", `Axes and histograms: ${state.axes.length} of ${store.axes.length} columns`), box);
  }

  // A preview counts a share of the lines at once; all of them follow when nothing moves.
  let later = 0, next = 0;
  // The last of each, for whoever measures: the browser would keep them all.
  function mark(name) {
    performance.clearMarks(name);
    performance.mark(name);
  }
  function draw() {
    count.textContent = `${selection.count.toLocaleString("en")} of ${store.rows.toLocaleString("en")} variants selected`;
    const coarse = Math.max(1, Math.round(store.rows / PREVIEW));
    scatter.draw();
    histograms.draw(coarse);
    parallel.draw(coarse);
    mark("preview");
    clearTimeout(later);
    later = setTimeout(() => {
      if (coarse > 1) { histograms.draw(1); parallel.draw(1); }
      list.draw();
      lines.textContent = selection.files() || "No conditions.";
      remember(store, state, selection, usual);
      mark("exact");
    }, state.dragging ? 120 : 0);
  }
  function update() {
    if (!next) next = requestAnimationFrame(() => { next = 0; selection.choose(); draw(); });
  }
  function changed() { draw(); }
  function measure() {
    chooseAxes();
    parallel.anew();
    histograms.anew();
    draw();
  }
  function anew() {
    takeColours();
    parallel.anew();
    draw();
  }

  clear.addEventListener("click", () => {
    area.value = "";
    selection.words = Object.create(null);
    wordSelects();
    ask("");
  });
  meet.addEventListener("click", () => {
    const there = area.value.split("\n").map(l => l.trim());
    area.value = [...there, ...store.constraints.filter(text => !there.includes(text))].filter(Boolean).join("\n");
    ask(area.value);
  });
  save.addEventListener("click", () => {
    const href = URL.createObjectURL(new Blob([csvOf(store, selection.mask)], {type: "text/csv"}));
    element("a", "", null, {href, download: "selection.csv"}).click();
    setTimeout(() => URL.revokeObjectURL(href), 10000);
  });
  let waiting = 0;
  const typed = later => { clearTimeout(waiting); waiting = setTimeout(() => ask(area.value), later); };
  area.addEventListener("input", () => typed(150));
  area.addEventListener("change", () => typed(0));
  addEventListener("resize", anew);
  addEventListener("hashchange", begin);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", anew);
  matchMedia("print").addEventListener("change", anew);

  function begin() {
    area.value = recalled(store, state, selection, usual);
    const called = c => c.word + (c.unit ? ` [${c.unit}]` : "") + (!c.title || c.title === c.word ? "" : `: ${c.title}`);
    names.textContent = [...store.columns, ...store.constants].map(called).join("\n");
    meet.hidden = !store.constraints.length;
    wordSelects();
    for (const view of [scatter, list]) view.anew();
    takeColours();
    chooseAxes();
    parallel.anew();
    histograms.anew();
    ask(area.value);
    if (wrong.textContent) update();
    variants.draw();
  }
  begin();

  // Takes what the store has now; other columns than before make another page, at this address.
  function take(more) {
    document.getElementById("subject").textContent = more.said;
    const shown = ["a", "b"].map(k => state[k] < 0 ? null : store.number.values[state[k]]);
    if (!store.take(more)) {
      location.reload();
      return;
    }
    for (const s of store.states) if (!s.texts.includes(selection.words[s.title])) delete selection.words[s.title];
    selection.renew();
    [state.a, state.b] = shown.map(number => number === null ? -1 : store.row(number));
    wordSelects();
    for (const view of [scatter, list]) view.anew();
    measure();
    variants.renew();
  }
  return {store, selection, state, take};
}
