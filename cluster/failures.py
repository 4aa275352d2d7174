"""Which failures are infrastructure, and how people are told of them. The one place for that rule.

A failure of infrastructure is never evidence about a policy: it is tried again (`cluster.retry`) and in the end
reported as `Status.ERROR`.
"""

from __future__ import annotations

from ray.exceptions import ActorDiedError, ActorUnschedulableError, RayError, RayTaskError, TaskCancelledError

from rlmath.errors import Unavailable


def is_infrastructure(error: BaseException) -> bool:
    """True for an `Unavailable` of ours, and for whatever Ray raises when a process, a node or the memory under a call
    is gone.

    False for a cancelled call, and for any other exception inside an actor (`RayTaskError`).
    """
    if isinstance(error, RayTaskError):
        return isinstance(cause_of(error), Unavailable)
    if isinstance(error, TaskCancelledError):
        return False
    return isinstance(error, Unavailable | RayError)


def is_final(error: BaseException) -> bool:
    """True when the actor will not come back under its handle: a new one must be made."""
    return isinstance(error, ActorDiedError | ActorUnschedulableError)


def cause_of(error: BaseException) -> BaseException:
    """What was raised inside the actor, when Ray wrapped it; else the error itself."""
    if isinstance(error, RayTaskError) and isinstance(error.cause, BaseException):
        return error.cause
    return error


def reason_of(error: BaseException) -> str:
    """One line for people."""
    cause = cause_of(error)
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    if isinstance(cause, ActorDiedError) and len(lines) > 1:
        text = f"{text} … {lines[-1]}"  # an actor that could not be made: the exception is at the traceback's end
    return text if isinstance(cause, Unavailable) and text else f"{type(cause).__name__}: {text}".rstrip(": ")
