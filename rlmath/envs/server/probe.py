"""Asks an environment server whether it is up, as verifiers' client does, and whether that client could read it."""

from __future__ import annotations

import os
import uuid

from rlmath.envs.server.wire import Wire, installed_wire, pack, spoken_wire
from rlmath.errors import InputError, Unavailable


def probe(address: str, *, timeout_s: float) -> Wire:
    """The wire of the server there. Raises `Unavailable` when nobody answers or the verifiers installed here could not
    talk to it, `InputError` for an address that is none."""
    import zmq

    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    try:
        socket.setsockopt(zmq.LINGER, 0)
        try:
            socket.connect(address)
        except zmq.ZMQError as error:
            raise InputError(
                "--probe", f"{address!r} is no address, e.g. tcp://127.0.0.1:5000: {os.strerror(error.errno or 0)}"
            ) from None
        socket.send_multipart([uuid.uuid4().hex.encode(), b"health", pack({})])
        if not socket.poll(round(timeout_s * 1e3)):
            raise Unavailable(f"no environment server answers at {address} within {timeout_s:g} s")
        there = spoken_wire(socket.recv_multipart())
    finally:
        socket.close()
        context.term()
    if there is None:
        raise Unavailable(f"what answers at {address} is no environment server of verifiers")
    here = installed_wire()
    if there != here:
        raise Unavailable(
            f"the server at {address} speaks the wire of verifiers {there.release}, and {here.release} is installed "
            "here: the two cannot talk. Install the same release on both sides"
        )
    return there
