"""The environment server's broker as a state machine: every run is answered once, whatever becomes of workers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlmath.envs.server import wire as wires
from rlmath.envs.server.broker import HINT_AFTER, Broker, Log, Output, ToClient, ToWorker
from rlmath.envs.server.wire import WIRE_03, WIRE_04, Wire
from rlmath.errors import InputError

WIRES = pytest.mark.parametrize("wire", [WIRE_03, WIRE_04], ids=lambda wire: wire.release)


def run(broker: Broker, request_id: bytes, client: bytes = b"c", payload: bytes = b"p") -> list[Output]:
    return broker.received([client, request_id, b"run", payload])


def told(output: Output, wire: Wire) -> tuple[bytes, bytes, dict[str, Any]]:
    """Client, request id and body of an answer that the broker made itself."""
    assert isinstance(output, ToClient)
    assert len(output.frames) == (3 if wire.tagged else 2)
    assert not wire.tagged or output.frames[1] == b"reply"
    return output.client, output.frames[0], msgpack.unpackb(output.frames[-1])


@WIRES
def test_a_run_goes_to_the_worker_with_the_least_and_its_reply_back(wire: Wire) -> None:
    broker = Broker(wire)
    broker.worker_ready(1)
    broker.worker_ready(2)
    assert run(broker, b"a") == [ToWorker(1, (b"a", b"run", b"p"))]
    assert run(broker, b"b", b"d") == [ToWorker(2, (b"b", b"run", b"p"))]
    reply = wire.reply(b"a", b"result")
    assert broker.replied(1, reply) == [ToClient(b"c", tuple(reply))]
    assert broker.replied(1, reply) == [], "only once"
    assert broker.open == 1
    assert run(broker, b"e") == [ToWorker(1, (b"e", b"run", b"p"))]


@WIRES
def test_a_run_whose_id_is_no_text_reaches_no_worker(wire: Wire) -> None:
    """verifiers' server decodes it outside of any `try`: it would end, with every rollout that it has."""
    broker = Broker(wire)
    broker.worker_ready(1)
    [answer] = run(broker, b"\xff")
    _, request_id, body = told(answer, wire)
    assert (request_id, body["success"], broker.open) == (b"\xff", False, 0)
    assert "UTF-8" in body["error"]


def test_the_deltas_of_a_run_do_not_end_it() -> None:
    broker = Broker(WIRE_04)
    broker.worker_ready(1)
    run(broker, b"a")
    for number in range(3):
        frames = (b"a", b"delta", bytes([number]))
        assert broker.replied(1, frames) == [ToClient(b"c", frames)]
        assert broker.open == 1
    broker.replied(1, (b"a", b"reply", b""))
    assert broker.open == 0
    assert broker.replied(1, (b"a", b"delta", b"late")) == []


@WIRES
def test_runs_wait_for_a_worker_in_their_order(wire: Wire) -> None:
    broker = Broker(wire)
    assert run(broker, b"a") == run(broker, b"b") == []
    assert broker.worker_ready(7) == [ToWorker(7, (b"a", b"run", b"p")), ToWorker(7, (b"b", b"run", b"p"))]


@WIRES
def test_what_a_lost_worker_had_is_answered_and_nothing_else(wire: Wire) -> None:
    broker = Broker(wire)
    broker.worker_ready(1)
    broker.worker_ready(2)
    for request_id in (b"a", b"b", b"c", b"d"):
        run(broker, request_id)
    lost = [told(output, wire) for output in broker.worker_lost(1, "was killed by SIGKILL")]
    assert [(client, request_id) for client, request_id, _ in lost] == [(b"c", b"a"), (b"c", b"c")]
    assert all(body == {"success": False, "error": "was killed by SIGKILL"} for _, _, body in lost)
    assert broker.open == 2
    assert broker.replied(1, wire.reply(b"a", b"late")) == []
    assert run(broker, b"e") == [ToWorker(2, (b"e", b"run", b"p"))]


@WIRES
def test_health_is_answered_only_when_a_run_would_be(wire: Wire) -> None:
    broker = Broker(wire)
    ask = [b"c", b"h", b"health", b"\x80"]
    assert broker.received(ask) == []
    broker.worker_ready(1)
    [answer] = broker.received(ask)
    assert told(answer, wire) == (b"c", b"h", {"success": True, "error": None})
    broker.worker_lost(1, "")
    assert broker.received(ask) == []
    broker.worker_ready(2)
    broker.drain("")
    assert broker.received(ask) == []


@WIRES
def test_a_client_that_cannot_read_the_answers_is_spoken_of(wire: Wire) -> None:
    broker = Broker(wire)
    broker.worker_ready(1)
    outputs = [output for _ in range(3 * HINT_AFTER) for output in broker.received([b"c", b"h", b"health", b""])]
    [hint] = [output.text for output in outputs if isinstance(output, Log)]
    assert f"another release of verifiers than {wire.release}" in hint
    run(broker, b"a", b"d")
    for _ in range(HINT_AFTER - 1):
        assert not any(isinstance(output, Log) for output in broker.received([b"d", b"h", b"health", b""]))


@WIRES
def test_messages_that_are_not_verifiers_harm_nobody(wire: Wire) -> None:
    broker = Broker(wire)
    broker.worker_ready(1)
    for frames in ([b"c"], [b"c", b"GET / HTTP/1.1"], [b"c"] * 5, []):
        assert all(isinstance(output, Log) for output in broker.received(frames))
    for payload in (
        b"",
        b"\xc1",
        b"\x80",
        b"\x01",
        msgpack.packb({"request_id": 1}),
        msgpack.packb({"request_id": "?"}),
    ):
        [answer] = broker.received([b"c", b"x", b"cancel", payload])
        assert told(answer, wire)[2]["cancelled"] is False
    assert broker.replied(1, []) == broker.replied(1, [b"nobody's"]) == []
    assert broker.open == 0


@WIRES
def test_a_cancel_goes_where_its_run_is(wire: Wire) -> None:
    broker = Broker(wire)
    cancel = msgpack.packb({"request_id": "a"})
    run(broker, b"a")
    ended, answer = broker.received([b"c", b"x", b"cancel", cancel])
    assert told(ended, wire)[1:] == (b"a", {"success": False, "error": "cancelled"})
    assert told(answer, wire)[1] == b"x"
    broker.worker_ready(1)
    run(broker, b"a")
    [stranger] = broker.received([b"d", b"x", b"cancel", cancel])
    assert told(stranger, wire)[2]["cancelled"] is False
    assert broker.received([b"c", b"x", b"cancel", cancel]) == [ToWorker(1, (b"x", b"cancel", cancel))]
    assert broker.open == 2
    broker.replied(1, wire.reply(b"a", b""))
    broker.replied(1, wire.reply(b"x", b""))
    assert broker.open == 0


@WIRES
def test_a_stop_refuses_what_is_new_and_lets_the_rest_end(wire: Wire) -> None:
    broker = Broker(wire)
    run(broker, b"waits")
    broker.worker_ready(1)
    broker.replied(1, wire.reply(b"waits", b""))
    run(broker, b"runs")
    broker.worker_lost(1, "")
    run(broker, b"a")
    [refused] = broker.drain("shutting down")
    assert told(refused, wire)[1:] == (b"a", {"success": False, "error": "shutting down"})
    [refused] = run(broker, b"b")
    assert told(refused, wire)[2]["success"] is False
    broker = Broker(wire)
    broker.worker_ready(1)
    run(broker, b"a")
    assert broker.drain("") == []
    assert broker.replied(1, wire.reply(b"a", b"r")) == [ToClient(b"c", tuple(wire.reply(b"a", b"r")))]
    assert broker.end("") == []


@WIRES
def test_an_id_that_is_in_use_is_refused(wire: Wire) -> None:
    broker = Broker(wire)
    broker.worker_ready(1)
    run(broker, b"a")
    [refused] = run(broker, b"a", b"d")
    assert told(refused, wire)[0] == b"d"
    assert broker.open == 1


def test_an_elastic_pool_grows_at_nine_tenths() -> None:
    broker = Broker(WIRE_03)
    broker.worker_ready(1)
    for number in range(9):
        assert not broker.wants_worker(1, 10)
        run(broker, bytes([number]))
    assert broker.wants_worker(1, 10)
    assert not broker.wants_worker(2, 10)


Step = tuple[str, int]
STEPS = st.lists(st.tuples(st.sampled_from(["run", "cancel", "reply", "delta", "up", "down"]), st.integers(0, 7)))


@given(STEPS, st.sampled_from([WIRE_03, WIRE_04]))
def test_every_run_is_answered_exactly_once(steps: list[Step], wire: Wire) -> None:
    """In any order of events, up to the server's end."""
    broker = Broker(wire)
    asked: Counter[bytes] = Counter()
    answered: Counter[bytes] = Counter()
    at_worker: dict[bytes, int] = {}
    up: set[int] = set()

    def take(outputs: list[Output]) -> None:
        for output in outputs:
            match output:
                case ToWorker(worker, frames):
                    assert worker in up, "nothing goes to a worker that is gone"
                    at_worker[frames[0]] = worker
                case ToClient(_, frames) if wire.ends(frames):
                    answered[frames[0]] += 1

    for number, (step, which) in enumerate(steps):
        request_id = f"r{number}".encode()
        match step:
            case "run":
                asked[request_id] += 1
                take(run(broker, request_id))
            case "cancel":
                asked[request_id] += 1
                take(broker.received([b"c", request_id, b"cancel", msgpack.packb({"request_id": f"r{which}"})]))
            case "reply" | "delta" if at_worker:
                target = sorted(at_worker)[which % len(at_worker)]
                frames = wire.reply(target, b"") if step == "reply" else [target, b"delta", b""]
                if step == "reply" or wire.tagged:
                    take(broker.replied(at_worker[target], frames))
            case "up" if which not in up:
                up.add(which)
                take(broker.worker_ready(which))
            case "down" if which in up:
                up.discard(which)
                take(broker.worker_lost(which, "gone"))
                at_worker = {request: worker for request, worker in at_worker.items() if worker != which}
    take(broker.end("stopped"))
    assert answered == asked
    assert broker.open == 0


def test_the_installed_release_decides_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    for release, wire in [("0.3.1", WIRE_03), ("0.3.9", WIRE_03), ("0.4.0", WIRE_04), ("0.4.2.dev1", WIRE_04)]:
        monkeypatch.setattr(wires, "version", lambda _, release=release: release)
        assert wires.installed_wire() == wire
    for release in ("0.3.0", "0.2.5", "0.5.0", "1.0"):
        monkeypatch.setattr(wires, "version", lambda _, release=release: release)
        with pytest.raises(InputError, match=f"verifiers: {release} is installed, and what is known is 0.3.1 to below"):
            wires.installed_wire()


def test_the_known_releases_are_those_that_the_extra_allows() -> None:
    import tomllib

    from env_kit import ROOT

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    oldest, beyond = (".".join(map(str, edge)) for edge in (wires.OLDEST, wires.BEYOND))
    assert extras["envhub"] == [f"verifiers>={oldest},<{beyond}"]
