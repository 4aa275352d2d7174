"""The warm image: a single-threaded process that imports once, never elaborates, and has its memory forked into a child
for each check.

    python -m rlmath.kernel.embedded.image ARGUMENTS-AS-JSON

When it is ready it forks the warden (`warden.py`), which has the owner's socket from then on and says when to fork. It
ends when the warden ends, so also when the owner closes the socket or dies.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import traceback
from typing import Any, NoReturn

from rlmath.errors import KernelUnavailable
from rlmath.kernel.audit.base import read_base
from rlmath.kernel.audit.export import Exporter
from rlmath.kernel.embedded.child import Tools, practise, rehearse, serve
from rlmath.kernel.embedded.confine import Confinement, before_fork, make_undumpable, prepare, seal, set_stack
from rlmath.kernel.embedded.elaborator import Elaborator
from rlmath.kernel.embedded.ffi import Lean, LeanError
from rlmath.kernel.embedded.forks import fork_on_request
from rlmath.kernel.embedded.limits import Limits
from rlmath.kernel.embedded.residence import settle
from rlmath.kernel.embedded.system import name_process
from rlmath.kernel.embedded.warden import guard
from rlmath.kernel.embedded.wire import FromImage, frame
from rlmath.kernel.process_tree import own_resident_bytes

NAME = "rlmath-image"
"""Of the process and its children, as `ps` and `top` show it."""


def main(arguments: dict[str, Any]) -> NoReturn:
    """Import the environment and serve. `arguments`: fd, owner, library, modules, slots, limits."""
    owner = socket.socket(fileno=arguments["fd"])
    limits, slots = Limits(**arguments["limits"]), arguments["slots"]
    name_process(NAME)
    set_stack(limits)
    prepared = prepare(limits, slots)
    try:
        lean = Lean(arguments["library"], limits.stack_bytes)
        environment = lean.import_modules(arguments["modules"])
        tools = Tools(Elaborator(lean, environment), Exporter(lean), read_base(lean, environment))
        settle(os.path.realpath(arguments["library"]), lambda: rehearse(tools))
        handed_on = own_resident_bytes(os.getpid())
        enclosure = seal(prepared)
    except (KernelUnavailable, LeanError) as error:
        owner.sendall(frame(FromImage.REFUSED, 0, str(error).encode()))
        os._exit(1)
    make_undumpable()
    confinement = Confinement(enclosure)
    practise(tools, confinement, limits)
    gc.collect()
    gc.disable()
    gc.freeze()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        if os.fork() == 0:
            ours.close()
            guard(owner, theirs, enclosure, slots, handed_on)
        theirs.close()
        owner.close()
        fork_on_request(
            ours,
            arguments["owner"],
            before_fork(enclosure),
            lambda job, result, stderr: serve(tools, limits, confinement, job=job, result=result, stderr=stderr),
        )
    finally:
        # A plain exit would run the destructors of Lean's runtime, which may wait for threads.
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
