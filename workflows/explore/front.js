"use strict";
// Rows of the selection that no other beats in two columns; signs are 1 where less is better.
function frontOf(store, mask, [X, signX], [Y, signY]) {
  const rows = [], x = X.values, y = Y.values;
  for (let r = 0; r < store.rows; r++) if (mask[r] && Number.isFinite(x[r]) && Number.isFinite(y[r])) rows.push(r);
  const order = Uint32Array.from(rows).sort((a, b) => signX * (x[a] - x[b]) || signY * (y[a] - y[b])), found = [];
  let best = Infinity;
  for (const r of order) if (signY * y[r] < best) { best = signY * y[r]; found.push(r); }
  return found;
}
