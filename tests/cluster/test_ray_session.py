"""Starting a Ray of our own, as far as no Ray is needed for it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cluster import ray_session


@pytest.mark.parametrize("log_to_driver", [False, True])
def test_helpers_that_cannot_be_ended_stay_and_the_others_end(
    monkeypatch: pytest.MonkeyPatch, log_to_driver: bool
) -> None:
    ended: list[str] = []

    def kill_monitor(*, check_alive: bool) -> None:
        raise RuntimeError("not that one")

    def kill_log_monitor(*, check_alive: bool) -> None:
        assert not check_alive
        ended.append("log monitor")

    # Of another Ray: it has no `kill_dashboard`.
    node = SimpleNamespace(kill_monitor=kill_monitor, kill_log_monitor=kill_log_monitor)
    monkeypatch.setattr(ray_session, "_private", SimpleNamespace(worker=SimpleNamespace(_global_node=node)))
    ray_session._end_helpers(log_to_driver)
    assert ended == ([] if log_to_driver else ["log monitor"])


def test_a_ray_without_the_private_names_keeps_its_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_session, "_private", SimpleNamespace())
    ray_session._end_helpers(False)
