"""Running checks and attempts side by side, with results that do not depend on which came first.

All tasks live in a task group: whatever happens, nothing runs on after these functions have returned or raised, and an
exception comes out as itself, not in an exception group.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from rlmath.accounting import Attempt, Instructions, LeafAccount, LeafAccounting
from rlmath.errors import Unavailable

Answer = TypeVar("Answer")
Result = TypeVar("Result")


class Tried(NamedTuple):
    """An attempt's outcome: was it accepted, and if not, why."""

    accepted: bool
    detail: str


async def first_answer(checks: Sequence[Callable[[], Awaitable[Answer | None]]], *, parallel: bool) -> Answer | None:
    """The answer of the earliest check in the sequence that has one; None when none has.

    In parallel, checks after that one are cancelled and what they would have said does not matter. The last check is
    started first: it is the longest (the assembly's), and begun last it would keep the others' end waiting. An
    exception of any check that is still running ends all.
    """
    if not parallel:
        for check in checks:
            answer = await check()
            if answer is not None:
                return answer
        return None
    with single_exception():
        async with asyncio.TaskGroup() as group:
            last = [group.create_task(_await(check)) for check in checks[-1:]]
            tasks = [group.create_task(_await(check)) for check in checks[:-1]] + last
            for position, task in enumerate(tasks):
                answer = await task
                if answer is not None:
                    for other in tasks[position + 1 :]:
                        other.cancel()
                    return answer
    return None


async def together(calls: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results of all calls, run at the same time; if one fails, or this call is cancelled, none is left running."""
    if len(calls) == 1:
        return [await calls[0]]
    with single_exception():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    return [task.result() for task in tasks]


async def run_attempts(accounting: LeafAccounting, attempt: Callable[[Attempt], Awaitable[Tried]]) -> LeafAccount:
    """Do what the accounting asks for until it is settled."""
    running: dict[Attempt, asyncio.Task[Tried]] = {}

    def obey(instructions: Instructions) -> None:
        for number in instructions.cancel:
            running.pop(number).cancel()
        for number in instructions.begin:
            running[number] = group.create_task(_await(partial(attempt, number)))

    with single_exception():
        async with asyncio.TaskGroup() as group:
            obey(accounting.start())
            while not accounting.settled:
                await asyncio.wait(running.values(), return_when=asyncio.FIRST_COMPLETED)
                for number in [number for number, task in running.items() if task.done()]:
                    # An outcome that was handled before it, in this round, may have made this one superfluous.
                    if number in running:
                        tried = running.pop(number).result()
                        obey(accounting.finished(number, tried.accepted, tried.detail))
    return accounting.account()


@contextmanager
def single_exception() -> Iterator[None]:
    """Raise the cause of an exception group in its stead: one that is no `Unavailable` if there is one."""
    try:
        yield
    except BaseExceptionGroup as group:
        causes = list(_leaves(group))
        raise next((cause for cause in causes if not isinstance(cause, Unavailable)), causes[0]) from None


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for cause in group.exceptions:
        if isinstance(cause, BaseExceptionGroup):
            yield from _leaves(cause)
        else:
            yield cause


async def _await(call: Callable[[], Awaitable[Result]]) -> Result:
    return await call()
