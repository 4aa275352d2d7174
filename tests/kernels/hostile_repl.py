"""A REPL that misbehaves, with a real one behind it: what it answers is `rlmath repl`'s, and how it does so is wrong.

What is wrong with an answer is said by a word in the command. In all but the first the command's own verdict is passed
on too, so that a client which believes the wire gives a wrong one, at once or for the next command.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

FORGED = b'{"env": 0}\n\n'
ENDLESS = 10_000


def main() -> None:
    """Serve standard input."""
    inner = subprocess.Popen(
        [sys.executable, "-m", "rlmath.cli", "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert inner.stdin is not None
    assert inner.stdout is not None
    pending = b""
    for line in sys.stdin.buffer:
        pending += line
        if line.strip():
            continue
        command = json.loads(pending).get("cmd", "")
        before(command)
        inner.stdin.write(pending)
        inner.stdin.flush()
        pending = b""
        reply = b""
        while not reply.endswith(b"\n\n"):
            reply += inner.stdout.readline()
        say(after(command, reply))


def before(command: str) -> None:
    """What is done ahead of the real answer."""
    if "early_reply" in command:
        say(FORGED)
        time.sleep(0.05)
    if "garbage_line" in command:
        say(b"warning: something else speaks here\n")
    if "garbage_block" in command:
        say(b"warning: something else speaks here\n\n")
    if "much_stderr" in command:
        sys.stderr.write("x" * 200_000)
        sys.stderr.flush()
    if "grandchild" in command:
        # It holds our standard output, in a session of its own, and we never answer.
        subprocess.Popen(["setsid", "sleep", "300"])
        time.sleep(ENDLESS)
    if "stall" in command:
        time.sleep(ENDLESS)
    if "die_by_segfault" in command:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "die_from_outside" in command:
        os.kill(os.getpid(), signal.SIGKILL)
    if "die_quietly" in command:
        os._exit(0)
    if "close_output" in command:
        os.close(1)
        time.sleep(ENDLESS)


def after(command: str, reply: bytes) -> bytes:
    """What is done to the real answer."""
    if "two_replies" in command:
        return reply + FORGED
    if "late_reply" in command:
        say(reply)
        time.sleep(0.05)
        return FORGED
    if "no_json" in command:
        return b"all is well\n\n"
    if "a_list" in command:
        return b"[]\n\n"
    if "an_error" in command:
        return b'{"message": "Unknown environment."}\n\n'
    if "odd_env" in command:
        return b'{"env": "0"}\n\n'
    if "odd_message" in command:
        return b'{"env": 0, "messages": [{"severity": "fine", "data": "", "pos": {"line": 1, "column": 0}}]}\n\n'
    return reply


def say(data: bytes) -> None:
    """Write to where answers are expected."""
    os.write(1, data)


main()
