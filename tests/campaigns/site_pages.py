"""Every page of the site as people see it: what overflows, what is broken, how long it takes.

    python -m tests.campaigns.site_pages FOLDER_OF_THE_SITE [FOLDER_FOR_PICTURES [PAGE …]]

The site (`mkdocs build --strict --site-dir …`) is served on loopback. Each page is opened at 1280
and 390 pixels, in light and dark. Printed as JSON: pages that are wider than the window, what in
them is cut off without a way to scroll there, pictures and links within the site that are not
there, what the browser complains of, headings that skip a level, and milliseconds until loaded.
"""

import asyncio
import base64
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tests.workflows import browser

WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
#: Every picture there, also those that wait to be scrolled to.
WHOLE = """(async () => {
  for (const img of document.images) img.loading = "eager";
  await Promise.all([...document.images].map(i => i.complete ? 0 : new Promise(done => {
    i.onload = i.onerror = done; setTimeout(done, 5000); })));
  const t = performance.getEntriesByType("navigation")[0];
  return Math.round(t.loadEventEnd - t.startTime);
})()"""
#: What is wrong on a page as it stands; `cut`: what is right of the window and no scrolling shows.
LOOK = r"""(() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = node => {
    for (let n = node.parentElement; n && n !== document.body; n = n.parentElement)
      if (/auto|scroll/.test(getComputedStyle(n).overflowX) && n.scrollWidth > n.clientWidth)
        return true;
    return false;
  };
  const cut = [];
  for (const node of document.querySelectorAll("article *")) {
    const box = node.getBoundingClientRect();
    const seen = box.width && box.height && !node.closest("math, svg, .headerlink, .md-clipboard");
    if (seen && box.right > wide + 1 && !scrolls(node))
      cut.push(`${node.tagName} to ${Math.round(box.right)}: ${node.textContent.slice(0, 60)}`);
  }
  const broken = [...document.images].filter(i => !i.naturalWidth).map(i => i.src);
  const headings = [..."123456"].map(k => `article h${k}`).join(), skips = [];
  const levels = [...document.querySelectorAll(headings)].map(h => +h.tagName[1]);
  if (levels.filter(x => x === 1).length !== 1) skips.push("not one h1");
  levels.forEach((x, k) => { if (k && x > levels[k - 1] + 1)
    skips.push(`h${x} after h${levels[k - 1]}`); });
  return {scroll: document.documentElement.scrollWidth, wide, cut: cut.slice(0, 5), broken, skips};
})()"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which a folder is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


async def _page(
    chromium: browser.Browser, address: str, page: str, pictures: Path | None
) -> list[dict[str, Any]]:
    rows = []
    async with chromium.tab() as tab:
        for domain in ("Page", "Runtime", "Log", "Network"):
            await tab.call(f"{domain}.enable")
        times = []
        for scheme in SCHEMES:  # the theme asks for it as it loads
            await tab.go("about:blank")  # a page that is left keeps its choice in the storage
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            await tab.call("Emulation.setEmulatedMedia", media="screen", features=features)
            await tab.size(WIDTHS[0])
            await tab.call(  # or the theme would stay with what it chose before
                "Storage.clearDataForOrigin", origin=address, storageTypes="local_storage"
            )
            tab.loaded = False
            await tab.go(f"{address}/{page}")
            times.append(await tab.value(WHOLE))
            for width in WIDTHS:  # narrower: the other way a drawer is still on its way out
                await tab.size(width)
                facts = await tab.value(LOOK)
                rows.append({"page": page, "width": width, "scheme": scheme, **facts})
                if pictures:
                    shot = await tab.call("Page.captureScreenshot", captureBeyondViewport=True)
                    name = f"{page.replace('/', '__')}-{width}-{scheme}.png"
                    (pictures / name).write_bytes(base64.b64decode(shot["data"]))
        told = {"loaded": max(times), "complaints": tab.seen.complaints}
    return [row | told for row in rows]


def looked_at(
    site: Path, pictures: Path | None = None, pages: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """A row for each page, width and scheme."""
    pages = pages or sorted(str(p.relative_to(site)) for p in site.rglob("*.html"))
    rows = []
    with served(site) as address, browser.browser() as chromium:
        for page in pages:
            look = asyncio.wait_for(_page(chromium, address, page, pictures), browser.PATIENCE)
            rows += asyncio.run(look)
    return rows


def wrong(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of pages on which something is."""
    return [
        row
        for row in rows
        if row["scroll"] > row["wide"]
        or any(row[key] for key in ("cut", "broken", "skips", "complaints"))
    ]


def main(arguments: list[str]) -> None:
    if not arguments:
        sys.exit(__doc__)
    pictures = Path(arguments[1]) if len(arguments) > 1 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    rows = looked_at(Path(arguments[0]), pictures, arguments[2:])
    times = sorted(row["loaded"] for row in rows)
    slowest = sorted(rows, key=lambda row: -row["loaded"])[:5]
    for row in wrong(rows):
        print(json.dumps(row, ensure_ascii=False))
    total = {
        "looks": len(rows),
        "wrong": len(wrong(rows)),
        "loaded_ms": {"median": times[len(times) // 2], "most": times[-1]},
        "slowest": [f"{row['page']} {row['loaded']}" for row in slowest],
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps(total, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
