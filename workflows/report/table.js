"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const total = data.columns[0].length, most = 50, filters = data.titles.map(() => null);
  const head = document.querySelector("#variants thead"), body = document.querySelector("#variants tbody");
  const numeric = data.columns.map(column => column.every(x => x === null || typeof x === "number"));
  let order = [...Array(total).keys()], shown = order, first = 0, by = 0, down = false;

  function matcher(text) {
    const given = text.trim();
    if (!given) return null;
    const range = given.match(/^(\S+)\s*\.\.\s*(\S+)$/), sign = given.match(/^(<=|>=|<|>|=)\s*(\S+)$/);
    if (range) return x => typeof x === "number" && x >= +range[1] && x <= +range[2];
    if (sign) {
      const n = +sign[2];
      const test = {"<=": x => x <= n, ">=": x => x >= n, "<": x => x < n, ">": x => x > n, "=": x => x === n}[sign[1]];
      return x => typeof x === "number" && test(x);
    }
    if (!Number.isNaN(+given)) return x => typeof x === "number" ? x === +given : String(x).includes(given);
    return x => String(x).includes(given);
  }
  function choose() {
    shown = order.filter(k => filters.every((f, c) => !f || f(data.columns[c][k])));
    first = 0;
    show();
  }
  function sort(column) {
    down = column === by ? !down : false;
    by = column;
    const values = data.columns[column], turn = down ? -1 : 1;
    order = [...Array(total).keys()].sort((a, b) => {
      const x = values[a], y = values[b];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      return (x < y ? -turn : x > y ? turn : a - b);
    });
    head.querySelectorAll("th[aria-sort]").forEach((th, k) =>
      th.setAttribute("aria-sort", k === by ? (down ? "descending" : "ascending") : "none"));
    choose();
  }
  function show() {
    const rows = shown.slice(first, first + most).map(k => {
      const tr = document.createElement("tr");
      if (data.missed[k]) tr.className = "missed";
      data.columns.forEach((column, c) => {
        const cell = document.createElement(c ? "td" : "th"), x = column[k];
        if (!c && data.pages[x]) {
          const link = document.createElement("a");
          link.href = data.pages[x];
          link.textContent = x;
          cell.append(link);
        } else cell.textContent = x === null ? "–" : Math.abs(x) >= 1e7 ? x.toExponential() : x;
        cell.className = numeric[c] ? "number" : "whole";
        tr.append(cell);
      });
      return tr;
    });
    body.replaceChildren(...rows);
    const last = Math.min(first + most, shown.length);
    document.getElementById("count").textContent = `${shown.length.toLocaleString("en")} of ${total.toLocaleString("en")} variants`;
    document.getElementById("place").textContent = shown.length ? `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")}` : "none";
    document.getElementById("before").disabled = first === 0;
    document.getElementById("after").disabled = last >= shown.length;
  }
  const titles = document.createElement("tr"), inputs = document.createElement("tr");
  data.titles.forEach((title, c) => {
    const th = document.createElement("th"), button = document.createElement("button");
    th.scope = "col";
    th.setAttribute("aria-sort", c ? "none" : "ascending");
    button.type = "button";
    button.textContent = title.replace(/ (?=[^\[]*\]$)/g, "\u00a0"); // a unit stays on one line
    button.addEventListener("click", () => sort(c));
    th.append(button);
    titles.append(th);
    const cell = document.createElement("td"), input = document.createElement("input");
    input.setAttribute("aria-label", `filter ${title}`);
    input.size = 7;
    input.addEventListener("input", () => { filters[c] = matcher(input.value); choose(); });
    cell.append(input);
    inputs.append(cell);
  });
  head.append(titles, inputs);
  document.getElementById("before").addEventListener("click", () => { first -= most; show(); });
  document.getElementById("after").addEventListener("click", () => { first += most; show(); });
  show();
})();
