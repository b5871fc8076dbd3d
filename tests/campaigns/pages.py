"""What pages cost: the explorer of 100,000 variants, films, and drawing libraries in its place.

    python -m tests.campaigns.pages explorer
    python -m tests.campaigns.pages film
    python -m tests.campaigns.pages library plotly.min.js|echarts.min.js

Wall times are of the machine as it is; `cpu` is processor time of the page's own thread, which
other work on the machine changes little.
"""

import asyncio
import base64
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.workflows import browser
from tests.workflows.explore.made import at_random

VARIANTS = 100_000
#: Moves of a brush, and frames of a film that are drawn one after the other.
MOVES, FRAMES = 12, 300
OPENED = """(() => { const first = name => performance.getEntriesByName(name)[0].startTime;
  return {preview: first("preview"), exact: first("exact")}; })()"""
#: One move of a brush on the first axis: milliseconds until the frame with its preview is done.
MOVED = """new Promise(done => {
  const c = document.querySelector("#parallel canvas"), b = c.getBoundingClientRect();
  c.setPointerCapture = () => {};
  const send = (type, y) => c.dispatchEvent(new PointerEvent(type,
    {clientX: b.x + 40, clientY: b.y + y, pointerId: 1, button: 0, bubbles: true}));
  if (!window.moves) { send("pointerdown", 100); window.moves = 0; }
  const began = performance.now();
  send("pointermove", 120 + 5 * window.moves++);
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
})"""
#: The end of the brush: milliseconds until the exact picture is done.
ENDED = """new Promise(done => {
  const c = document.querySelector("#parallel canvas"), b = c.getBoundingClientRect();
  const began = performance.now();
  const last = () => performance.getEntriesByName("exact").pop().startTime;
  c.dispatchEvent(new PointerEvent("pointerup",
    {clientX: b.x + 40, clientY: b.y + 220, pointerId: 1, button: 0, bubbles: true}));
  const look = () => last() > began ? done(last() - began) : setTimeout(look, 5);
  look();
})"""
RATE = """new Promise(done => { const times = []; const tick = now => { times.push(now);
  if (now - times[0] < 3000) requestAnimationFrame(tick);
  else done((times.length - 1) / (now - times[0]) * 1000);
}; requestAnimationFrame(tick); })"""
DRAWN = f"""(() => {{ const root = document.body.appendChild(document.createElement("div"));
  const film = JSON.parse(document.getElementById("data").textContent);
  const made = player(root, film, {{paused: true}});
  for (let k = 0; k < {FRAMES}; k++) {{ made.state.frame = k / 3; made.show(false); }} }})()"""
WAIT = "new Promise(done => setTimeout(done, 6000))"

#: The same pictures by a library: `draw` makes them, `brush` holds the first column below K.
LIBRARIES = {
    "plotly.min.js": (
        """window.ready = (async () => {
          await Plotly.newPlot("a", [{type: "parcoords", dimensions: C.map((values, i) =>
            ({label: `c${i}`, values}))}], {height: 350, width: 1400});
          await Plotly.newPlot("b", [{type: "scattergl", mode: "markers", x: C[6], y: C[7],
            marker: {size: 2}}], {height: 420, width: 1400});
          for (let i = 0; i < 20; i++) {
            const d = document.body.appendChild(document.createElement("div"));
            await Plotly.newPlot(d, [{type: "histogram", x: C[i]}], {height: 80, width: 200});
          }
        })();""",
        """Plotly.restyle("a", {"dimensions[0].constraintrange": [[[-1, K]]]}).then(() => {
          const rows = [];
          for (let r = 0; r < C[0].length; r++) if (C[0][r] >= -1 && C[0][r] <= K) rows.push(r);
          return Plotly.restyle("b", {selectedpoints: [rows]}).then(() => rows.length); })""",
    ),
    "echarts.min.js": (
        """const rows = []; for (let r = 0; r < C[0].length; r++) rows.push(C.map(c => c[r]));
        const size = height => ({width: 1400, height}), place = id => document.getElementById(id);
        window.chart = echarts.init(place("a"), null, size(350));
        chart.setOption({animation: false,
          parallelAxis: C.map((c, i) => ({dim: i, name: `c${i}`})),
          series: {type: "parallel", data: rows, lineStyle: {width: 1, opacity: 0.05},
            progressive: 0}});
        echarts.init(place("b"), null, size(420)).setOption({
          animation: false, xAxis: {}, yAxis: {}, series: {type: "scatter", large: true,
            symbolSize: 2, data: rows.map(r => [r[6], r[7]])}});
        window.ready = Promise.resolve();""",
        """new Promise(done => { chart.on("finished", () => done(1));
          chart.dispatchAction({type: "axisAreaSelect", intervals: [[-1, K]],
            parallelAxisId: chart.getModel().getComponent("parallelAxis", 0).id}); })""",
    ),
}


class Page:
    """A page whose thread's processor time is counted."""

    def __init__(self, tab: browser.Tab):
        self.tab = tab

    async def cpu(self) -> float:
        answer = await self.tab.call("Performance.getMetrics")
        return 1000 * next(x["value"] for x in answer["metrics"] if x["name"] == "TaskDuration")

    async def timed(self, script: str) -> tuple[Any, float]:
        """A script's value, and the milliseconds of processor that it took."""
        before = await self.cpu()
        value = await self.tab.value(script)
        await self.tab.value("new Promise(done => setTimeout(done, 50))")
        return value, await self.cpu() - before


@asynccontextmanager
async def opened(
    chromium: browser.Browser, file: Path
) -> AsyncIterator[tuple[Page, float, float]]:
    """A page, its milliseconds until it was loaded, and of processor until nothing moved."""
    async with chromium.tab() as tab:
        await tab.call("Performance.enable", timeDomain="threadTicks")
        for domain in ("Page", "Runtime"):
            await tab.call(f"{domain}.enable")
        await tab.size(1400)
        page, began = Page(tab), time.perf_counter()
        before = await page.cpu()
        await tab.go(file.as_uri())
        loaded = 1000 * (time.perf_counter() - began)
        await tab.value(WAIT)
        yield page, loaded, await page.cpu() - before


def spread(values: list[float]) -> list[int]:
    """Least, median and most, rounded."""
    return [round(x) for x in (min(values), float(np.median(values)), max(values))]


async def explorer(chromium: browser.Browser, folder: Path) -> dict[str, Any]:
    file = folder / "explorer.html"
    file.write_text(at_random(VARIANTS)[1])
    async with opened(chromium, file) as (page, loaded, cpu):
        drawn = await page.tab.value(OPENED)
        moves = [await page.timed(MOVED) for _ in range(MOVES)]
        ended, exact = await page.timed(ENDED)
    return {
        "bytes": file.stat().st_size,
        "opened_ms": {"loaded": round(loaded), **{k: round(v) for k, v in drawn.items()}},
        "opened_cpu_ms": round(cpu),
        "preview_ms": spread([wall for wall, _ in moves]),
        "preview_cpu_ms": spread([cpu for _, cpu in moves]),
        "exact_ms": round(ended),
        "exact_cpu_ms": round(exact),
    }


async def film(chromium: browser.Browser, folder: Path) -> dict[str, Any]:
    file, walls, cpus = folder / "film.html", [], []
    words = ["-m", "workflows.cli.main", "animate", "stephenson-iii", "-o", str(file)]
    for _ in range(5):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls.append(1000 * (time.perf_counter() - began))
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        cpus.append(1000 * used)
    async with opened(chromium, file) as (page, _, _):
        rate = await page.tab.value(RATE)
        _, drawn = await page.timed(DRAWN)
    return {
        "bytes": file.stat().st_size,
        "command_ms": spread(walls),
        "command_cpu_ms": spread(cpus),
        "frames_a_second": round(rate, 1),
        "frame_cpu_ms": round(drawn / FRAMES, 2),
    }


async def library(chromium: browser.Browser, folder: Path, path: Path) -> dict[str, Any]:
    draw, brush = LIBRARIES[path.name]
    drawn, _ = at_random(VARIANTS)
    columns = json.dumps([base64.b64encode(row.tobytes()).decode() for row in drawn])
    file = folder / "library.html"
    file.write_text(f"""<!DOCTYPE html><meta charset="utf-8" /><div id="a"></div><div id="b"></div>
<script>{path.read_text()}</script><script>
const C = {columns}.map(text => {{ const raw = atob(text), o = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) o[k] = raw.charCodeAt(k);
  return new Float64Array(o.buffer); }});
{draw}</script>""")
    async with opened(chromium, file) as (page, loaded, cpu):
        await page.tab.value("ready")
        moves = [
            await page.timed(
                f"(() => {{ const K = {k / 10}; const t = performance.now(); "
                f"return {brush}.then(() => performance.now() - t); }})()"
            )
            for k in range(4, 9)
        ]
    return {
        "library": path.name,
        "library_bytes": path.stat().st_size,
        "bytes": file.stat().st_size,
        "loaded_ms": round(loaded),
        "opened_cpu_ms": round(cpu),
        "brush_ms": spread([wall for wall, _ in moves]),
        "brush_cpu_ms": spread([cpu for _, cpu in moves]),
    }


@contextmanager
def places() -> Iterator[tuple[browser.Browser, Path]]:
    """A browser, and a folder."""
    with tempfile.TemporaryDirectory() as folder, browser.browser() as chromium:
        yield chromium, Path(folder)


def main(words: list[str]) -> None:
    with places() as (chromium, folder):
        match words:
            case ["explorer"]:
                found = asyncio.run(explorer(chromium, folder))
            case ["film"]:
                found = asyncio.run(film(chromium, folder))
            case ["library", path]:
                found = asyncio.run(library(chromium, folder, Path(path)))
            case _:
                sys.exit(__doc__)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
