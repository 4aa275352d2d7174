"""The scoring cluster: everything that knows Ray.

    api.py          what travels (importable without ray)
    local.py        `LocalCluster`: start or join, score, leave nothing behind; attach.py: look at one that runs
    ray_client.py   its async client; client.py, async_client.py, http_wire.py: those of a gateway
    scheduler.py    the actor that runs the pipeline for each request
    requests.py     idempotent requests
    books.py        what is charged to whom; caps.py: hard caps; ledger.py: the journal, which survives the actor
    admission.py    which requests are let in and when each begins: a pure state machine; turns.py: its lively half
    state.py        the book of checks: a pure state machine; events.py: what it is told and answers
    fleet.py        its workers; billing.py, tally.py, levels.py, fair.py, verdict_cache.py: its parts
    pool.py         the lively half of the book of checks; lives.py: workers come and go
    autoscale.py    how many workers follow demand; placement.py: where they live; kinds.py: what they are made of
    exchange.py     what travels between them, and the worker's end of it; ways.py: the scheduler's end
    line.py         a connection of our own that it travels by, both ends proven
    workers.py      the actors that own a warm kernel, or the clients of leaf models
    renewal.py      a kernel that is replaced while it serves
    tickets.py      for whom a check is made; judging.py: what a request may need; metered.py: tokens against caps
    wall.py         the wall time of accounts
    remote_kernel.py, remote_leaf.py   workers as `Kernel` and `LeafProver`
    retry.py, failures.py              what is retried, how often
    metrics.py, telemetry.py, logs.py  what is told of it all
    ray_session.py, ray_guard.py       Ray itself: started or joined, and ended without a trace
    background.py   an event loop for blocking callers
    gateway/        HTTP

Importing this package imports no ray, nor do `api`, `requests`, `ledger`, `books`, the state machines and their parts.
"""
