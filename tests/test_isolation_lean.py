"""Attacks by Lean text that runs native code; such text passes no gate, so that isolation is all that is left."""

from __future__ import annotations

import os
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator

import pytest
from isolation_kit import (
    commands,
    exist,
    family,
    hostile_kernel,
)
from waiting import until

from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Source

pytestmark = pytest.mark.root


@pytest.fixture(scope="module")
async def shut_in() -> AsyncIterator[EmbeddedKernel]:
    """All measures."""
    async with hostile_kernel() as kernel:
        yield kernel


@pytest.fixture(scope="module")
async def defenceless() -> AsyncIterator[EmbeddedKernel]:
    """Nothing holds, so that attacks are seen to be ones."""
    async with hostile_kernel(without=("system_calls", "processes", "ipc", "files", "user")) as kernel:
        yield kernel


NATIVE = """
inductive Result | ok (value : Nat) | error (error : Nat)
instance : Inhabited Result := ⟨.ok 0⟩
@[noinline] def succeeded : Result → Bool | .ok _ => true | .error _ => false
"""
"""A declaration with the name of one that the library has compiled is run as that one."""

WRITE = (
    NATIVE
    + """
@[extern "n"] opaque IO.FS.writeFile : String → String → Nat → Result
theorem t : succeeded (IO.FS.writeFile "FILE" "" 0) = true := by native_decide
"""
)

SPAWN = (
    NATIVE
    + """
inductive Stdio | piped | inherit | null
structure StdioConfig where
  stdin : Stdio
  stdout : Stdio
  stderr : Stdio
structure SpawnArgs extends StdioConfig where
  cmd : String
  args : Array String
  cwd : Option String
  env : Array (Prod String (Option String))
  inheritEnv : Bool
  setsid : Bool
@[extern "n"] opaque Array.push {α : Type} (a : Array α) (v : α) : Array α
@[extern "n"] opaque Array.emptyWithCapacity {α : Type} (c : Nat) : Array α
@[extern "n"] opaque IO.Process.spawn : SpawnArgs → Nat → Result
theorem t : succeeded (IO.Process.spawn {
    stdin := .null, stdout := .null, stderr := .null, cmd := "/bin/sleep",
    args := Array.push (Array.emptyWithCapacity 0) "SECONDS", cwd := .none, env := Array.emptyWithCapacity 0,
    inheritEnv := true, setsid := true } 0) = true := by native_decide
"""
)


def sleeping(seconds: str) -> list[int]:
    return [pid for pid, command in commands() if command == f"/bin/sleep\0{seconds}\0".encode()]


async def test_lean_text_that_runs_native_code_makes_no_file(
    shut_in: EmbeddedKernel, defenceless: EmbeddedKernel
) -> None:
    file = os.path.join(tempfile.gettempdir(), f"rlmath-{secrets.token_hex(8)}")
    source = Source(WRITE.replace("FILE", file))
    refused = await shut_in.check(source, timeout_s=20)
    assert "evaluated that the proposition" in refused.errors[0].text
    assert exist([file]) == []
    assert (await defenceless.check(source, timeout_s=20)).messages == ()
    os.unlink(file)


async def test_lean_text_that_runs_native_code_leaves_no_process(
    shut_in: EmbeddedKernel, defenceless: EmbeddedKernel
) -> None:
    seconds = str(secrets.randbelow(10**6) + 10**6)
    source = Source(SPAWN.replace("SECONDS", seconds))
    refused = await shut_in.check(source, timeout_s=20)
    assert "evaluated that the proposition" in refused.errors[0].text
    assert sleeping(seconds) == []
    # One that is killed with its check, before it has left the check's group, is no proof of anything.
    for _ in range(100):
        assert (await defenceless.check(source, timeout_s=20)).messages == ()
        await until(lambda: sleeping(seconds) or len(family(defenceless)) == 1 + defenceless.slots)
        if left := sleeping(seconds):
            break
    assert left
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not sleeping(seconds))
    async with hostile_kernel(without=("system_calls", "files")) as namespaces:
        assert (await namespaces.check(source, timeout_s=20)).messages == ()
        await until(lambda: not sleeping(seconds))
