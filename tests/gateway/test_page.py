"""The page at `/` as a document; test_page_browser.py has it in a browser."""

from __future__ import annotations

import re

from gateway_helpers import served

from rlmath.kernel.embedded import EmbeddedKernel


async def test_the_page_is_one_file_that_runs_nothing_else(kernel: EmbeddedKernel) -> None:
    async with served(kernel) as gate:
        response = await gate.client.get("/")
    assert response.headers["content-type"].startswith("text/html")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", response.text)
    assert "innerHTML" not in response.text, "texts of others are shown as text"
