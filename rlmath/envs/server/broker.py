"""Which request goes to which worker, and what becomes of it. Pure: messages and events in, messages out.

Every run that a client sends is answered exactly once: by its worker, or with an error when the worker is lost or the
server stops. Runs that come while no worker is ready wait for one.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from rlmath.envs.server.wire import Wire, cancel_target, failed, healthy, not_cancelled

HINT_AFTER = 5
"""Health requests of a client that runs nothing, before the log says why that may be."""
REMEMBERED_CLIENTS = 1_024


@dataclass(frozen=True)
class ToWorker:
    """Frames for a worker."""

    worker: int
    frames: tuple[bytes, ...]


@dataclass(frozen=True)
class ToClient:
    """Frames for a client, after its identity."""

    client: bytes
    frames: tuple[bytes, ...]


@dataclass(frozen=True)
class Log:
    """A line for the operator."""

    text: str


Output = ToWorker | ToClient | Log


@dataclass
class _Request:
    client: bytes
    method: bytes
    payload: bytes
    """Kept only until a worker has it."""
    worker: int | None = None


class Broker:
    """The requests under way and the workers that are ready."""

    def __init__(self, wire: Wire) -> None:
        """`wire`: of the workers, hence of all clients that can be answered."""
        self._wire = wire
        self._requests: dict[bytes, _Request] = {}
        self._waiting: deque[bytes] = deque()
        self._active: dict[int, int] = {}
        self._draining = False
        self._asked: OrderedDict[bytes, int] = OrderedDict()
        """Health requests of clients that have run nothing yet."""
        self._malformed = 0

    @property
    def open(self) -> int:
        """Requests that are not answered."""
        return len(self._requests)

    @property
    def ready(self) -> int:
        """Workers that take requests."""
        return len(self._active)

    def received(self, frames: Sequence[bytes]) -> list[Output]:
        """A client's message, with its identity as first frame."""
        if len(frames) != 4:
            self._malformed += 1
            return [Log(f"a message of {len(frames)} frames is not verifiers'")] if self._malformed == 1 else []
        client, request_id, method, payload = frames
        match method:
            case b"health":
                return self._health(client, request_id)
            case b"cancel":
                return self._cancel(client, request_id, payload)
            case _:
                return self._run(client, request_id, method, payload)

    def replied(self, worker: int, frames: Sequence[bytes]) -> list[Output]:
        """A worker's message."""
        request = self._requests.get(frames[0]) if frames else None
        if request is None or request.worker != worker:
            return []
        if self._wire.ends(frames):
            self._end(frames[0])
        return [ToClient(request.client, tuple(frames))]

    def worker_ready(self, worker: int) -> list[Output]:
        """A worker takes requests from now on."""
        self._active[worker] = 0
        outputs: list[Output] = []
        while self._waiting:
            outputs += self._dispatch(self._waiting.popleft())
        return outputs

    def worker_lost(self, worker: int, reason: str) -> list[Output]:
        """A worker is gone, and what it had is answered with the reason."""
        self._active.pop(worker, None)
        lost = [request_id for request_id, request in self._requests.items() if request.worker == worker]
        return [self._fail(request_id, reason) for request_id in lost]

    def drain(self, reason: str) -> list[Output]:
        """Take no run from now on. What waits for a worker is answered with the reason; what runs goes on."""
        self._draining = True
        outputs: list[Output] = [self._fail(request_id, reason) for request_id in self._waiting]
        self._waiting.clear()
        return outputs

    def end(self, reason: str) -> list[Output]:
        """Answer everything that is open with the reason."""
        return [*self.drain(reason), *(self._fail(request_id, reason) for request_id in list(self._requests))]

    def wants_worker(self, workers: int, multiplex: int) -> bool:
        """verifiers' rule for an elastic pool: one more when runs under way reach 90 % of what so many workers take."""
        return len(self._requests) >= 0.9 * workers * multiplex

    def _health(self, client: bytes, request_id: bytes) -> list[Output]:
        if not self._active or self._draining:
            return []  # no answer is how a server says so: the client asks again
        outputs: list[Output] = [self._answer(client, request_id, healthy())]
        count = self._asked.pop(client, 0) + 1
        self._asked[client] = count
        if len(self._asked) > REMEMBERED_CLIENTS:
            self._asked.popitem(last=False)
        if count == HINT_AFTER:
            release = self._wire.release
            outputs.append(
                Log(
                    f"a client has asked {count} times whether this server is up, and runs nothing: if it has another "
                    f"release of verifiers than {release}, it cannot read the answers. Install the same on both sides"
                )
            )
        return outputs

    def _cancel(self, client: bytes, request_id: bytes, payload: bytes) -> list[Output]:
        target = cancel_target(payload)
        run = self._requests.get(target) if target is not None else None
        if target is None or run is None or run.client != client or request_id in self._requests:
            return [self._answer(client, request_id, not_cancelled())]
        if run.worker is None:
            self._waiting.remove(target)
            return [self._fail(target, "cancelled"), self._answer(client, request_id, not_cancelled())]
        self._requests[request_id] = _Request(client, b"cancel", b"", run.worker)
        self._active[run.worker] += 1
        return [ToWorker(run.worker, (request_id, b"cancel", payload))]

    def _run(self, client: bytes, request_id: bytes, method: bytes, payload: bytes) -> list[Output]:
        self._asked.pop(client, None)
        if not _is_text(request_id):  # verifiers' server would end with it, and every other rollout that it has
            return [self._answer(client, request_id, failed("the request's id is not UTF-8"))]
        if self._draining:
            return [self._answer(client, request_id, failed("the env server is shutting down: nothing was run"))]
        if request_id in self._requests:
            return [self._answer(client, request_id, failed("a request of this id is under way"))]
        self._requests[request_id] = _Request(client, method, payload)
        if not self._active:
            self._waiting.append(request_id)
            return []
        return self._dispatch(request_id)

    def _dispatch(self, request_id: bytes) -> list[Output]:
        request = self._requests[request_id]
        request.worker = min(self._active, key=lambda worker: self._active[worker])
        self._active[request.worker] += 1
        payload, request.payload = request.payload, b""
        return [ToWorker(request.worker, (request_id, request.method, payload))]

    def _fail(self, request_id: bytes, reason: str) -> ToClient:
        request = self._end(request_id)
        return self._answer(request.client, request_id, failed(reason))

    def _end(self, request_id: bytes) -> _Request:
        request = self._requests.pop(request_id)
        if request.worker in self._active:
            self._active[request.worker] -= 1
        return request

    def _answer(self, client: bytes, request_id: bytes, payload: bytes) -> ToClient:
        return ToClient(client, tuple(self._wire.reply(request_id, payload)))


def _is_text(request_id: bytes) -> bool:
    try:
        request_id.decode()
    except UnicodeDecodeError:
        return False
    return True
