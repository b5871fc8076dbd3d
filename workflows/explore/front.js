"use strict";
// Rows of the selection that no other beats in two columns; signs are 1 where less is better.
// Equal points do not beat each other.
function frontOf(store, mask, [X, signX], [Y, signY]) {
  const rows = [], x = X.values, y = Y.values;
  for (let r = 0; r < store.rows; r++) if (mask[r] && Number.isFinite(x[r]) && Number.isFinite(y[r])) rows.push(r);
  const order = Uint32Array.from(rows).sort((a, b) => signX * (x[a] - x[b]) || signY * (y[a] - y[b])), found = [];
  let best = Infinity, last = -1;
  for (const r of order) {
    const further = signY * y[r] < best, alike = last >= 0 && x[r] === x[last] && y[r] === y[last];
    if (!further && !alike) continue;
    found.push(r);
    [best, last] = [signY * y[r], r];
  }
  return found;
}
