"""Start the published Kimina server, in an environment of its own, without the database client that it never uses here:
no database is configured, and the client's engine would have to be downloaded. Below Python 3.12 pydantic refuses the
`typing.TypedDict` that its models are made of; the backport does. What it listens on and which REPL it starts is in its
environment variables."""

from __future__ import annotations

import runpy
import sys
import types
import typing

import typing_extensions

database = types.ModuleType("server.prisma_client")
database.prisma = types.SimpleNamespace()  # type: ignore[attr-defined]
sys.modules["server.prisma_client"] = database
if sys.version_info < (3, 12):
    typing.TypedDict = typing_extensions.TypedDict  # type: ignore[misc]
runpy.run_module("server", run_name="__main__")
