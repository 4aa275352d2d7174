"""The status page at `/`: one file, no build step, nothing loaded from elsewhere. It shows only what `/v1/status` tells
its reader's own key.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import Response

router = APIRouter()


@router.get("/", include_in_schema=False)
async def page() -> Response:
    """The page. It holds no data, so it asks for no key."""
    text, policy = _page()
    return Response(text, media_type="text/html", headers={"content-security-policy": policy, **PLAIN})


PLAIN = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-cache"}


@cache
def _page() -> tuple[str, str]:
    """The page, and the policy by which a browser runs its own script and style and nothing else."""
    text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    script, style = (_digest(text, tag) for tag in ("script", "style"))
    policy = {
        "default-src": "'none'",
        "script-src": script,
        "style-src": style,
        "style-src-attr": "'unsafe-inline'",
        "img-src": "data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return text, "; ".join(f"{name} {value}" for name, value in policy.items())


def _digest(text: str, tag: str) -> str:
    found = re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    assert found is not None, f"the page has one {tag}"
    return f"'sha256-{base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()}'"
