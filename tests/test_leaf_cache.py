"""The attempt cache: what is paid for is kept, in one file, for many callers and many processes."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai_stub import OpenAIStub, Step
from waiting import until

from rlmath.errors import InputError, LeafUnavailable
from rlmath.leaf.cache import AttemptCache, CachedProver
from rlmath.leaf.config import OpenAILeaf, make_prover
from rlmath.leaf.protocol import LeafAttempt, LeafTask

TASK = LeafTask("∀ n : Nat, n + 0 = n", context="def k := 1", name="h1")
ROOT = Path(__file__).parents[1]


def numbered(request: dict[str, Any], number: int) -> str:
    return f"```lean4\nexact p{number}\n```"


@asynccontextmanager
async def prover(stub: OpenAIStub, cache: Path, **settings: Any) -> AsyncIterator[CachedProver]:
    config = OpenAILeaf(
        **{"base_url": stub.base_url, "model": "m", "max_retries": 0, "timeout_s": 20.0, "cache": cache, **settings}
    )
    made = make_prover(config)
    assert isinstance(made, CachedProver)
    try:
        yield made
    finally:
        await made.aclose()


async def test_a_top_up_generates_exactly_what_is_missing(tmp_path: Path) -> None:
    with OpenAIStub(numbered) as stub:
        async with prover(stub, tmp_path / "a.sqlite") as leaf:
            four = await leaf.attempts(TASK, range(4))
            assert stub.generations == 4
            assert not any(a.cached for a in four)
        async with prover(stub, tmp_path / "a.sqlite") as leaf:
            eight = await leaf.attempts(TASK, range(8))
            assert stub.generations == 8, "k = 4 to k = 8: exactly four more"
            again = await leaf.attempts(TASK, [7, 0])
    assert stub.generations == 8
    assert [request.body["n"] for request in stub.requests] == [4, 4]
    assert list(eight[:4]) == list(four)
    assert [a.cached for a in eight] == [True] * 4 + [False] * 4
    assert [a.completion_tokens for a in eight[:4]] == [a.completion_tokens for a in four], (
        "a cached attempt keeps its tokens"
    )
    assert list(again) == [eight[7], eight[0]]


async def test_a_spent_attempt_without_a_proof_is_kept_and_a_failure_is_not(tmp_path: Path) -> None:
    with OpenAIStub("I cannot.", [Step(status=500), Step()]) as stub:
        async with prover(stub, tmp_path / "a.sqlite") as leaf:
            with pytest.raises(LeafUnavailable):
                await leaf.attempts(TASK, [0])
            (first,) = await leaf.attempts(TASK, [0])
            (second,) = await leaf.attempts(TASK, [0])
    assert first == second == LeafAttempt(0, None, "the reply has no Lean proof")
    assert [first.cached, second.cached] == [False, True]
    assert stub.generations == 1


async def test_the_key_is_the_statement_and_all_that_shapes_the_distribution(tmp_path: Path) -> None:
    other: list[tuple[LeafTask, dict[str, Any]]] = [
        (replace(TASK, prop="True"), {}),
        (replace(TASK, context=""), {}),
        (TASK, {"temperature": 0.5}),
        (TASK, {"template": "kimina-prover"}),
        (TASK, {"model": "n"}),
    ]
    same: list[tuple[LeafTask, dict[str, Any]]] = [
        (replace(TASK, name="another"), {}),
        (TASK, {"max_retries": 3}),
        (TASK, {"max_in_flight": 1}),
        (TASK, {"max_requests_per_minute": 600.0}),
    ]
    with OpenAIStub(numbered) as stub:
        for number, (task, settings) in enumerate([(TASK, {}), *other], 1):
            async with prover(stub, tmp_path / "a.sqlite", **settings) as leaf:
                await leaf.attempts(task, [0])
            assert stub.generations == number
        for task, settings in same:
            async with prover(stub, tmp_path / "a.sqlite", **settings) as leaf:
                assert (await leaf.attempts(task, [0]))[0].cached
    assert stub.generations == 1 + len(other)


async def test_equal_calls_at_the_same_time_generate_once(tmp_path: Path) -> None:
    with OpenAIStub(numbered, [Step(delay_s=0.1)] * 3) as stub:
        async with prover(stub, tmp_path / "a.sqlite") as leaf:
            calls = [[0, 1], [1, 2], [0, 1, 2, 3], [3, 0]]
            results = await asyncio.gather(*(leaf.attempts(TASK, call) for call in calls))
    texts = {a.index: a.proof for result in results for a in result}
    assert all(a.proof == texts[a.index] for result in results for a in result)
    assert [[a.index for a in result] for result in results] == calls
    assert stub.generations == 4
    assert sum(not a.cached for result in results for a in result) == 4, "each generation is paid for by one caller"


async def test_a_cancelled_caller_stops_the_generation_only_when_nobody_else_wants_it(tmp_path: Path) -> None:
    with OpenAIStub(numbered, [Step(delay_s=1.5), Step(hang=True), Step()]) as stub:
        async with prover(stub, tmp_path / "a.sqlite") as leaf:
            first, second = (asyncio.create_task(leaf.attempts(TASK, [0])) for _ in range(2))
            await until(lambda: stub.in_flight == 1)
            first.cancel()
            assert (await second)[0].proof == "exact p0"
            assert first.cancelled()
            lonely = asyncio.create_task(leaf.attempts(TASK, [1]))
            await until(lambda: len(stub.requests) == 2)
            lonely.cancel()
            # A caller that comes while the cancelled generation is still winding up gets one of its own.
            await asyncio.sleep(0)
            assert (await leaf.attempts(TASK, [1]))[0].proof == "exact p1"
            await until(lambda: stub.disconnects == 1)


async def test_a_shared_failure_reaches_every_caller_and_is_forgotten(tmp_path: Path) -> None:
    with OpenAIStub(numbered, [Step(delay_s=0.1, status=500)]) as stub:
        async with prover(stub, tmp_path / "a.sqlite") as leaf:
            failed = await asyncio.gather(*(leaf.attempts(TASK, [0]) for _ in range(3)), return_exceptions=True)
            assert [type(error) for error in failed] == [LeafUnavailable] * 3
            assert (await leaf.attempts(TASK, [0]))[0].proof == "exact p0"


async def test_the_first_text_stored_wins_and_the_loser_says_so(tmp_path: Path) -> None:
    """Two provers with a cache object each stand for two processes: neither sees the other's generation under way."""
    with OpenAIStub(numbered, [Step(delay_s=1.5), Step()]) as stub:
        async with prover(stub, tmp_path / "a.sqlite") as slow, prover(stub, tmp_path / "a.sqlite") as quick:
            pending = asyncio.create_task(slow.attempts(TASK, [0]))
            await until(lambda: stub.in_flight == 1)
            (won,) = await quick.attempts(TASK, [0])
            (lost,) = await pending
    assert stub.generations == 2
    assert won == lost
    assert not lost.cached, "its generation was paid for, though another's text counts"


RACER = """
import asyncio, json, os, sys
from pathlib import Path
from rlmath.leaf.cache import AttemptCache
from rlmath.leaf.protocol import LeafAttempt

async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    cache = AttemptCache(Path(sys.argv[1]))
    kept = []
    for number in range(150):
        made = [LeafAttempt(index, f"exact p{os.getpid()}_{number}_{index}") for index in range(4)]
        kept.append([attempt.proof for attempt in (await cache.put(f"key {number}", made)).values()])
    print(json.dumps(kept))
    cache.close()

asyncio.run(main())
"""


def started_together(script: str, argument: Path, count: int) -> list[str]:
    """What `count` processes of a script print, that all begin when each of them is ready to."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(argument)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * count
    return said


def test_processes_that_race_agree_on_every_text(tmp_path: Path) -> None:
    answers = [json.loads(answer) for answer in started_together(RACER, tmp_path / "new" / "a.sqlite", 4)]
    assert answers[1:] == answers[:-1], "each was told what is stored, not what it had made"
    assert all(len({text.split("_")[0] for text in kept}) == 1 for kept in answers[0]), "a put is one transaction"


OPENER = """
import sys
from pathlib import Path
from rlmath.leaf.cache import AttemptCache

print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    AttemptCache(Path(sys.argv[1]) / f"{number}.sqlite").close()
"""


def test_many_processes_may_create_a_file_at_the_same_time(tmp_path: Path) -> None:
    assert started_together(OPENER, tmp_path, 4) == [""] * 4


@pytest.mark.parametrize(
    "content",
    [b"this is no database, but long enough to be one " * 40, b"SQLite format 3\0" + b"\xff" * 4096],
    ids=["text", "broken"],
)
def test_a_file_that_is_no_database_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=r"leaf\.cache: .*a\.sqlite cannot be used as an attempt cache .*: move it away"
    ):
        AttemptCache(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE attempts (x)")
    with pytest.raises(InputError, match="some other program's database"):
        AttemptCache(path)
    AttemptCache(tmp_path / "b.sqlite").close()
    with sqlite3.connect(tmp_path / "b.sqlite") as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="another version of rlmath"):
        AttemptCache(tmp_path / "b.sqlite")


@pytest.mark.parametrize(
    "make", [Path.mkdir, lambda path: path.parent.joinpath("file").write_text("")], ids=["directory", "under-a-file"]
)
def test_a_path_that_cannot_be_a_file_is_an_input_error(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "a.sqlite"
    make(path)
    with pytest.raises(InputError, match=r"leaf\.cache"):
        AttemptCache(path if path.exists() else tmp_path / "file" / "a.sqlite")


async def test_damage_that_shows_later_is_unavailable_and_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    cache = AttemptCache(path)
    await cache.put("k", [LeafAttempt(i, f"exact {'x' * 500}{i}") for i in range(100)])
    cache.close()
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xab" * (len(data) - 8192)
    path.write_bytes(data)
    cache = AttemptCache(path)
    try:
        with pytest.raises(LeafUnavailable, match=r"attempt cache .*a\.sqlite: .*malformed"):
            await cache.get("k", range(100))
    finally:
        cache.close()


def test_what_is_stored_survives_a_kill(tmp_path: Path) -> None:
    writer = textwrap.dedent(
        """
        import asyncio, os, signal, sys
        from pathlib import Path
        from rlmath.leaf.cache import AttemptCache
        from rlmath.leaf.protocol import LeafAttempt

        async def main():
            attempts = [LeafAttempt(0, "omega", "", 3, 4), LeafAttempt(1, None, "empty")]
            await AttemptCache(Path(sys.argv[1])).put("k", attempts)
            os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
        """
    )
    killed = subprocess.run(
        [sys.executable, "-c", writer, str(tmp_path / "a.sqlite")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=60,
    )
    assert killed.returncode == -9
    cache = AttemptCache(tmp_path / "a.sqlite")
    found = asyncio.run(cache.get("k", [0, 1, 2]))
    cache.close()
    assert found == {0: LeafAttempt(0, "omega"), 1: LeafAttempt(1, None, "empty")}
    assert (found[0].prompt_tokens, found[0].completion_tokens, found[0].cached) == (3, 4, True)
