"""Shared TLS trust, in a process of its own, as a worker is."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, importlib.util, ssl, sys
from rlmath.envs.server.trust import share_trust

share_trust()
for name in filter(importlib.util.find_spec, ("httpx", "httpx2")):
    library = importlib.import_module(name)
    def context(**settings):
        return library.AsyncClient(**settings)._transport._pool._ssl_context
    trusted = context()
    assert trusted.verify_mode is ssl.CERT_REQUIRED and trusted.check_hostname and trusted.get_ca_certs()
    assert context() is trusted
    assert context(verify=False).verify_mode is ssl.CERT_NONE
    own = ssl.create_default_context()
    assert context(verify=own) is own
    assert context(trust_env=False) is not trusted
    assert context() is trusted
    print(name)
"""


def test_clients_that_want_the_default_share_it_and_others_do_not() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "httpx" in done.stdout.split()
