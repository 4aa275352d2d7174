"""The kernel as a service: HTTP in front of the scheduler, in the scheduler's own process.

    settings.py    where it listens and what it allows
    backend.py     what it needs of a scheduler
    models.py      the wire of API v1: every body and every reply
    problems.py    errors as RFC 9457 documents
    body.py        reading a request's body within its limits
    auth.py        API keys: file, hashes, reload
    tenant.py      one client: its rate and its share
    requests.py    requests by id: waited for, polled, cancelled
    calls.py       what every route does around its own work
    score_routes.py, check_routes.py, request_routes.py, batch.py, runs.py     API v1
    kimina.py      the routes of a Kimina server, so that its clients work unchanged
    ops.py         health, readiness, kernels, status, metrics
    page.py        the status page at `/`
    app.py         the application; server.py: uvicorn in a running event loop

Nothing here imports ray: the scheduler hands itself in as a `Backend`.
"""
