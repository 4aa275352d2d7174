"""`rlmath env-server`: environments of ours behind verifiers' env-server wire, for prime-rl and whoever speaks it.

    wire.py         the frames of the two releases, as far as a broker has to read them
    broker.py       which request goes to which worker, and what becomes of it: a pure state machine
    worker.py       one process that runs rollouts: verifiers' own `serve_env`
    trust.py        what all HTTP clients of a worker share
    supervisor.py   sockets and processes around the broker
    config.py       the TOML file

verifiers has a broker of its own (`EnvServerPool`). It starts no worker again that died, and never answers the requests
that such a worker had: a trainer then waits for them for ever, since its client has no timeout. Here they are answered
with an error and the worker is replaced; and a broker that runs nothing else is hard to bring down.

Nothing here imports verifiers but the worker: the supervisor starts at once and stays small.
"""
