"""The scoring cluster: everything that knows Ray.

    api.py          what travels (importable without ray)
    local.py        `LocalCluster`: start or join, score, leave nothing behind
    client.py       the async client
    scheduler.py    the actor that runs the pipeline for each request
    requests.py     idempotent requests
    ledger.py       the journal of requests, charges and verdicts, which survives the actor
    admission.py    which requests are let in and when each begins: a pure state machine
    state.py        the book of checks: a pure state machine; events.py: what it is told and answers
    fleet.py        its workers; levels.py, fair.py, caps.py, verdict_cache.py: its parts
    tickets.py      for whom a check is made; judging.py: what a request may need; metered.py: tokens against caps
    pool.py         the lively half of the book of checks: calls of workers
    exchange.py     the wire between them, and the worker's end of it
    workers.py      the actors that own a warm kernel, or the clients of leaf models
    remote_kernel.py, remote_leaf.py   workers as `Kernel` and `LeafProver`
    retry.py, failures.py              what is retried, how often
    ray_session.py, ray_guard.py       Ray itself: started or joined, and ended without a trace
    background.py   an event loop for blocking callers

Importing this package imports no ray, nor do `api`, `requests`, `ledger`, the state machines and
their parts.
"""
