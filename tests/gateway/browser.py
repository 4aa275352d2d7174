"""A headless Chromium driven over its DevTools protocol: enough to load a page, type, click, and look."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-port=0",
    "--window-size=1200,1400", "--hide-scrollbars",
)  # fmt: skip


def chromium() -> str | None:
    """The program, if it is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self.troubles: list[str] = []
        """What the page's console and its security policy complained of."""
        self.asked: list[str] = []
        """Every address that the page loaded anything from."""

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters})
        async with asyncio.timeout(60):
            while True:
                message = await self._socket.receive_json()
                self._note(message)
                if message.get("id") == self._number:
                    assert "error" not in message, message
                    result: dict[str, Any] = message["result"]
                    return result

    async def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        told = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    async def until(self, expression: str, timeout_s: float = 60.0) -> Any:
        """Wait until an expression is true; its value."""
        async with asyncio.timeout(timeout_s):
            while not (value := await self.run(expression)):
                await asyncio.sleep(0.05)
        return value

    async def picture(self) -> bytes:
        """A screenshot, as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.troubles.append(json.dumps(parameters["exceptionDetails"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.troubles.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            case "Network.requestWillBeSent":
                self.asked.append(parameters["request"]["url"])


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Page]:
    """A tab of a fresh Chromium, which ends with the context."""
    program = chromium()
    assert program, "there is no Chromium"
    process = await asyncio.create_subprocess_exec(
        program, *FLAGS, f"--user-data-dir={folder}", "about:blank",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port_file = folder / "DevToolsActivePort"
        async with asyncio.timeout(60):
            while not (port_file.exists() and port_file.read_text().count("\n")):
                await asyncio.sleep(0.05)
        port = port_file.read_text().split("\n")[0]
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as response:
                tab = next(tab for tab in await response.json() if tab["type"] == "page")
            async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=1 << 26) as socket:
                page = Page(socket)
                for domain in ("Page", "Runtime", "Log", "Network"):
                    await page.call(f"{domain}.enable")
                yield page
    finally:
        process.kill()
        await process.wait()
