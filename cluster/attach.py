"""Looking at a cluster that another program runs, through its Ray."""

from __future__ import annotations

from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

import ray
from ray.util import list_named_actors

from cluster.background import BackgroundLoop
from cluster.local import NAME
from cluster.ray_client import Client
from cluster.ray_session import open_session
from rlmath.errors import InputError


class Attached:
    """A connection to the scheduler of a running cluster. It owns nothing there and ends nothing."""

    def __init__(self, address: str, namespace: str | None = None) -> None:
        """`address`: of the Ray, `auto` or `host:port`. `namespace`: of the cluster; None: the only one there is.

        Raises `InputError` when nothing answers, no cluster is there, or there are several to choose from.
        """
        self._session = open_session(address, log_to_driver=False)
        try:
            self._client = Client(ray.get_actor(NAME, namespace=_chosen(namespace)))
        except BaseException:
            self._session.close()
            raise
        self._loop = BackgroundLoop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.close()
        self._session.close()

    def status(self) -> dict[str, Any]:
        """`ClusterStatus` as plain data. Raises `KernelUnavailable` when the cluster is gone."""
        return asdict(self._loop.run(self._client.status()))


def _chosen(namespace: str | None) -> str:
    found = [each["namespace"] for each in list_named_actors(all_namespaces=True) if each["name"] == NAME]
    if namespace is not None and namespace in found:
        return namespace
    if namespace is None and len(found) == 1:
        return str(found[0])
    there = f"there is {', '.join(sorted(found))}" if found else "there is none"
    wanted = "name the cluster to look at" if namespace is None else f"no cluster is called {namespace}"
    raise InputError("namespace", f"{wanted}: {there}")
