"""Chromium, driven over its DevTools protocol: pages as people see them.

The protocol, because command-line flags cannot ask for `prefers-color-scheme`. Its sockets come
from tornado, which distributed brings along.
"""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
#: A command of the protocol with its parameters, a script, or what is to happen outside the page.
Deed = tuple[str, dict[str, Any]] | str | Callable[[], None]
#: Seconds until a browser that says nothing is given up: it starts in one, and opens the largest
#: page in two, on a machine that does nothing else; in a hundred times that on one that does.
PATIENCE = 240


def executable() -> str | None:
    """Chromium's program, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Seen:
    """What a page did while it was shown.

    `complaints` are console errors, exceptions and violations of the page's own policy;
    `requests` every address that was asked for; `facts` the value of the script, `told` those of
    the deeds that are scripts.
    """

    facts: Any = None
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)
    picture: bytes = b""
    paper: bytes = b""


class Browser:
    """One Chromium process."""

    def __init__(self, port: int):
        self.port = port

    def show(
        self,
        page: Path | str,
        *,
        width: int,
        scheme: str,
        script: str = "null",
        media: str = "screen",
        whole: bool = True,
        deeds: Sequence[Deed] = (),
        features: Mapping[str, str] = {},
        paper: bool = False,
    ) -> Seen:
        """Open a page of `width` CSS pixels in light or dark, run a script, take a picture.

        `deeds` come first: what a hand does (a command of the protocol and its parameters),
        scripts, whose values (awaited) are `told`, and functions, which are called here. `page`
        may be an address. `features` are asked for besides the scheme (`forced-colors`); with
        `paper` it is printed too, on A4.
        """
        address = page if isinstance(page, str) else page.as_uri()
        return asyncio.run(
            asyncio.wait_for(
                self._show(
                    address, _Look(width, scheme, media, features, whole, paper), script, deeds
                ),
                PATIENCE,
            )
        )

    async def _show(self, address: str, look: "_Look", script: str, deeds: Sequence[Deed]) -> Seen:
        async with self.tab() as tab:
            return await tab.show(address, look, script, deeds)

    @asynccontextmanager
    async def tab(self) -> AsyncIterator["Tab"]:
        """An empty page to give commands to."""
        new = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new", method="PUT")
        with urllib.request.urlopen(new, timeout=PATIENCE) as answer:
            target = json.load(answer)
        socket = await websocket_connect(target["webSocketDebuggerUrl"], max_message_size=1 << 28)
        tab = Tab(socket)
        try:
            yield tab
        finally:
            await tab.call("Page.close")
            socket.close()


@dataclass(frozen=True)
class _Look:
    """How a page is looked at."""

    width: int
    scheme: str
    media: str
    features: Mapping[str, str]
    whole: bool
    paper: bool


class Tab:
    """Commands and events of one page."""

    def __init__(self, socket: WebSocketClientConnection):
        self.socket, self.count, self.loaded, self.seen = socket, 0, False, Seen()

    async def show(self, address: str, look: _Look, script: str, deeds: Sequence[Deed]) -> Seen:
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.call(f"{domain}.enable")
        await self.size(look.width)
        asked = {"prefers-color-scheme": look.scheme, **look.features}
        features = [{"name": name, "value": value} for name, value in asked.items()]
        await self.call("Emulation.setEmulatedMedia", media=look.media, features=features)
        await self.go(address)
        await self.call("Runtime.evaluate", expression="document.fonts.ready", awaitPromise=True)
        for deed in deeds:
            if isinstance(deed, str):
                self.seen.told.append(await self.value(deed))
            elif callable(deed):
                deed()
            else:
                await self.call(deed[0], **deed[1])
        self.seen.facts = await self.value(script)
        shot = await self.call("Page.captureScreenshot", captureBeyondViewport=look.whole)
        self.seen.picture = base64.b64decode(shot["data"])
        if look.paper:
            await self.call("Emulation.setEmulatedMedia", media="", features=features)
            a4 = {"paperWidth": 210 / 25.4, "paperHeight": 297 / 25.4, "printBackground": True}
            printed = await self.call("Page.printToPDF", **a4)
            self.seen.paper = base64.b64decode(printed["data"])
        return self.seen

    async def size(self, width: int) -> None:
        """A window of so many CSS pixels; narrow ones are telephones."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        await self.call("Emulation.setDeviceMetricsOverride", **size)

    async def go(self, address: str) -> None:
        """Go there, until it is loaded."""
        await self.call("Page.navigate", url=address)
        while not self.loaded:
            self._note(json.loads(await self._message()))

    async def value(self, script: str) -> Any:
        found = await self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    async def call(self, method: str, **parameters: Any) -> Any:
        """One command; its answer. Events that come in between are noted."""
        self.count += 1
        await self.socket.write_message(
            json.dumps({"id": self.count, "method": method, "params": parameters})
        )
        while True:
            message = json.loads(await self._message())
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    async def _message(self) -> str | bytes:
        message = await self.socket.read_message()
        assert message is not None, "Chromium closed the connection"
        return message

    def _note(self, message: dict[str, Any]) -> None:
        said = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self.loaded = True
            case "Network.requestWillBeSent":
                self.seen.requests.append(said["request"]["url"])
            case "Log.entryAdded" if said["entry"]["level"] in ("error", "warning"):
                self.seen.complaints.append(said["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.seen.complaints.append(json.dumps(said["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if said["type"] in ("error", "warning", "assert"):
                self.seen.complaints.append(json.dumps(said["args"]))


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium with an empty profile, ended afterwards."""
    program = executable()
    assert program is not None
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, *as_root, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Browser(_port(Path(profile) / "DevToolsActivePort", process))
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    """The port that Chromium wrote down, once it has."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if file.exists() and (lines := file.read_text().split()):
            return int(lines[0])
        time.sleep(0.05)
    raise AssertionError(f"Chromium did not start (exit status {process.poll()})")


def click(x: float, y: float, to: tuple[float, float] | None = None) -> list[Deed]:
    """A click, or a drag `to` another place, by the mouse."""
    far = to or (x, y)
    how = {"button": "left", "buttons": 1, "clickCount": 1}
    made: list[Deed] = [("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})]
    made.append(("Input.dispatchMouseEvent", {"type": "mousePressed", "x": x, "y": y, **how}))
    for share in (0.3, 0.6, 1.0) if to else ():
        here = {"x": x + share * (far[0] - x), "y": y + share * (far[1] - y)}
        made.append(("Input.dispatchMouseEvent", {"type": "mouseMoved", **here, **how}))
    made.append(
        ("Input.dispatchMouseEvent", {"type": "mouseReleased", "x": far[0], "y": far[1], **how})
    )
    return made


def swipe(x: float, y: float, to: tuple[float, float]) -> list[Deed]:
    """A finger that goes from one place to another."""
    made: list[Deed] = [
        ("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    ]
    for share in (0.3, 0.6, 1.0):
        here = {"x": x + share * (to[0] - x), "y": y + share * (to[1] - y)}
        made.append(("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [here]}))
    return [*made, ("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})]


def press(name: str, code: int, text: str = "", shift: bool = False) -> list[Deed]:
    """A key, by its name and number; `text` is what it writes."""
    how = {"key": name, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
    more = {"text": text} if text else {}
    return [
        ("Input.dispatchKeyEvent", {"type": "keyDown", **how, **more}),
        ("Input.dispatchKeyEvent", {"type": "keyUp", **how}),
    ]
