"""The page at `/`, in a real browser (only where there is one: conftest.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import browser
from gateway_helpers import KernelBackend, keyed, until

from cluster.gateway.server import GatewayServer
from cluster.gateway.settings import GatewaySettings
from rlmath.kernel.embedded import EmbeddedKernel

TEXT = "document.getElementById({!r})?.textContent"


@pytest.mark.slow
async def test_a_plan_is_judged_and_the_cluster_shown(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    backend = KernelBackend(kernel)
    server = GatewayServer(backend, GatewaySettings(port=0))
    url = await server.start()
    async with browser(tmp_path / "profile") as page:
        await page.call("Page.navigate", url=url)
        await page.until(TEXT.format("state") + " === 'ready'")
        assert "embedded Lean" in await page.run(TEXT.format("kernel"))
        await page.run("document.getElementById('go').click()")
        verdict = await page.until("document.querySelector('#verdict strong.good')?.textContent")
        assert verdict == "verified"
        stages = await page.run("[...document.querySelectorAll('#verdict table')][0].innerText")
        assert "audit" in stages
        assert "passed" in stages
        assert "bound : ∀ n : Nat, n / 2 ≤ n" in await page.run(TEXT.format("verdict"))
        await page.until("document.getElementById('recent').innerText.includes('verified')")

        # What a policy wrote is shown, and never run.
        hostile = '"<img src=x onerror=alert(1)>" = ""'
        await page.run(f"document.getElementById('prop').value = '{hostile}'")
        await page.run(f"document.getElementById('plan').value = '#lemma h1 : {hostile}\\n#assembly\\nexact h1\\n#end'")
        await page.run("document.getElementById('go').click()")
        await page.until("document.querySelector('#verdict strong.bad')?.textContent")
        assert "<img src=x onerror=alert(1)>" in await page.run(TEXT.format("verdict"))
        assert await page.run("document.querySelector('#verdict img')") is None

        await page.run("document.getElementById('plan').value = '#assembly\\nrepeat skip\\n#end'")
        await page.run("document.getElementById('go').click()")
        await until(lambda: backend.running)
        await page.run("document.getElementById('stop').click()")
        await page.until(TEXT.format("verdict") + ".includes('stopped')")
        await until(lambda: not backend.running)

        picture = await page.picture()
        (tmp_path / "page.png").write_bytes(picture)
        assert len(picture) > 20_000
        backend.down = "gone"
        await page.until(TEXT.format("state") + " === 'warming up'")
        await page.run("document.getElementById('go').click()")
        await page.until(TEXT.format("verdict") + ".includes('infrastructure trouble')")
        backend.down = None
        await server.stop()
        await page.until(TEXT.format("state") + " === 'unreachable'")
    assert page.asked
    assert {address for address in page.asked if not address.startswith(("data:", url))} == set()
    assert not [t for t in page.troubles if "503" not in t and "ERR_CONNECTION" not in t], page.troubles


@pytest.mark.slow
async def test_a_server_with_keys_is_locked_until_one_is_given(kernel: EmbeddedKernel, tmp_path: Path) -> None:
    settings, headers = keyed(tmp_path / "keys.json", "a")
    server = GatewayServer(KernelBackend(kernel), GatewaySettings(port=0, api_keys=settings.api_keys))
    key = headers["a"]["authorization"].removeprefix("Bearer ")
    async with browser(tmp_path / "profile") as page:
        await page.call("Page.navigate", url=await server.start())
        await page.until(TEXT.format("state") + " === 'locked'")
        for given, outcome in (
            ("wrong", TEXT.format("refused") + ".includes('not known')"),
            (key, TEXT.format("state") + " === 'ready'"),
        ):
            await page.run(f"document.getElementById('key').value = '{given}'")
            await page.run("document.querySelector('#unlock button').click()")
            await page.until(outcome)
        assert await page.run("document.getElementById('lock').hidden")
    await server.stop()
