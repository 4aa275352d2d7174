"""Choosing a kernel: the `[kernel]` section, the commands that take one, and verdicts that say what they are worth."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from kernel_kit import Workspace

from rlmath.cli import main
from rlmath.episode import NOT_AUDITED, run_episode
from rlmath.errors import InputError, KernelUnavailable
from rlmath.evals.config import load_config
from rlmath.evals.run import plan_eval
from rlmath.kernel.config import MATHLIB_HEADER, EmbeddedKernelConfig, LocalProject, ReplKernelConfig, load_kernel_file
from rlmath.kernel.embedded import EmbeddedKernel
from rlmath.kernel.protocol import Certificate, CheckResult, GateVerdict, Source
from rlmath.kernel.repl import make_repl_kernel
from rlmath.kernel.unaudited import UnauditedKernel
from rlmath.leaf.tactics import TacticsProver
from rlmath.source import compose
from rlmath.types import GoalSpec, Plan, StageStatus, Status
from rlmath.verdicts import Accepted, Failure, final_verdict

GOAL = GoalSpec("g", "∀ n : Nat, n + 0 = n ∧ 0 + n = n")
PLAN = "#lemma h1 : ∀ n : Nat, 0 + n = n\n#assembly\nintro n\nexact ⟨rfl, h1 n⟩\n#end\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def kernel_file(path: Path, workspace: Workspace, more: str = "accept_unaudited = true") -> Path:
    return write(
        path,
        f"""[kernel]
type = "repl"
name = "mathlib"
project = {{type = "local", directory = "{workspace.project}"}}
lake = "{workspace.lake}"
repl_path = "{workspace.repl}"
header = "import Init"
spares = 0
{more}
""",
    )


def test_a_section(tmp_path: Path) -> None:
    path = write(tmp_path / "k.toml", '[kernel]\ntype = "repl"\nproject = {type = "local", directory = "judge"}\n')
    config = load_kernel_file(path)
    assert isinstance(config, ReplKernelConfig)
    assert config.project == LocalProject(directory=tmp_path / "judge")
    assert (config.header, config.lake, config.accept_unaudited) == (MATHLIB_HEADER, Path("lake"), False)
    path = write(tmp_path / "k.toml", '[kernel]\ntype = "toolchain"\nproject = "judge"\nlean = "bin/lean"\n')
    config = load_kernel_file(path)
    assert (config.project, config.lean) == (tmp_path / "judge", tmp_path / "bin" / "lean")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("section", "field", "problem"),
    [
        ('type = "mathlib"', "kernel", "'embedded', 'repl', 'kimina', 'toolchain', 'auto'"),
        ("", "kernel", 'missing key "type"'),
        ('type = "repl"', "kernel.project", "missing"),
        ('type = "repl"\nproject = {type = "lake"}', "kernel.project", "'local', 'mathlib', 'git', 'none'"),
        ('type = "embedded"\nheader = ""', "kernel.header", "unknown key"),
        ('type = "embedded"\nname = "a b"', "kernel.name", "letters, digits"),
        ('type = "auto"\naccept_unaudted = true', "kernel.accept_unaudted", "did you mean 'accept_unaudited'"),
        ('type = "kimina"\nbase_url = "localhost"\nlean_version = "4"\nenvironment = "m"', "kernel.base_url", "http"),
    ],
)
def test_a_section_that_is_wrong(tmp_path: Path, section: str, field: str, problem: str) -> None:
    path = write(tmp_path / "k.toml", f"[kernel]\n{section}\n")
    with pytest.raises(InputError) as caught:
        load_kernel_file(path)
    assert caught.value.field == f"{path}: {field}"
    assert problem in caught.value.problem


def test_an_evaluation_is_of_one_kernel(tmp_path: Path) -> None:
    write(tmp_path / "goals.jsonl", '{"id": "g", "prop": "True"}\n')
    write(tmp_path / "completions.jsonl", '{"id": "c", "goal_id": "g", "completion": "x"}\n')
    head = 'goals = "goals.jsonl"\ncompletions = "completions.jsonl"\nout = "out.jsonl"\n'
    plain = load_config(write(tmp_path / "a.toml", head))
    assert plain.kernel == EmbeddedKernelConfig()
    assert "kernel" not in plan_eval(plain).identity
    project = '[kernel]\ntype = "toolchain"\nproject = "judge"\n'
    other = load_config(write(tmp_path / "b.toml", head + project))
    assert other.kernel.project == tmp_path / "judge"  # type: ignore[union-attr]
    assert plan_eval(other).identity["kernel"]["project"] == str(tmp_path / "judge")


# -- what a verdict is worth


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def repl(workspace: Workspace) -> AsyncIterator[UnauditedKernel]:
    async with make_repl_kernel(workspace.config(), slots=2) as kernel:
        yield kernel


async def test_an_unaudited_verdict_says_so(repl: UnauditedKernel, kernel: EmbeddedKernel) -> None:
    """In its kernel, its detail, its stage and its figures; and nothing else of it differs."""
    unaudited = await run_episode(GOAL, PLAN, kernel=repl, leaf=TacticsProver())
    audited = await run_episode(GOAL, PLAN, kernel=kernel, leaf=TacticsProver())
    assert (unaudited.status, audited.status) == (Status.VERIFIED, Status.VERIFIED)
    assert unaudited.kernel is not None
    assert unaudited.kernel.kernel == "repl (unaudited)"
    assert unaudited.detail == NOT_AUDITED
    assert unaudited.stages[-1].detail.startswith(NOT_AUDITED)
    assert (unaudited.audit_constants, audited.detail) == (None, "")
    assert audited.audit_constants is not None
    assert "UNAUDITED" not in str(audited.to_json()).upper()
    for field in ("axioms", "lemma_outcomes", "leaf_attempts_used", "artifact", "plan_stats"):
        assert getattr(unaudited, field) == getattr(audited, field)


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        ("#assembly\nintro n\nexact ⟨rfl, by simp⟩\n#end\n", Status.VERIFIED),
        ("#assembly\nintro n\nexact nowhere\n#end\n", Status.PLAN_INVALID),
        ("#assembly\nexact (sorry)\n#end\n", Status.SANITIZER_REJECTED),
        ("#assembly\ntrivial) (h : True\n#end\n", Status.PLAN_INVALID),
        ("#lemma h1 : nowhere\n#assembly\nexact h1\n#end\n", Status.STATEMENT_ILL_FORMED),
        ("#lemma h1 : 1 = 2\n#assembly\nexact absurd h1 (by decide)\n#end\n", Status.LEAF_FAILED),
    ],
)
async def test_verdicts_of_the_pipeline(
    repl: UnauditedKernel, kernel: EmbeddedKernel, completion: str, status: Status
) -> None:
    ours = await run_episode(GOAL, completion, kernel=repl, leaf=TacticsProver())
    theirs = await run_episode(GOAL, completion, kernel=kernel, leaf=TacticsProver())
    assert (ours.status, theirs.status) == (status, status)


class Forger:
    """A kernel whose word on axioms is not to be taken: the last rule is the pipeline's own."""

    def __init__(self, kernel: UnauditedKernel) -> None:
        self.identity = kernel.identity
        self._kernel = kernel

    async def check(self, source: Source, *, timeout_s: float) -> CheckResult:
        return await self._kernel.check(source, timeout_s=timeout_s)

    async def certify(self, source: Source, reference: Source, *, timeout_s: float) -> Certificate:
        certificate = await self._kernel.certify(source, reference, timeout_s=timeout_s)
        return replace(certificate, unaudited=("propext", "cheat"))


async def test_a_foreign_axiom_is_refused_by_the_pipeline_too(repl: UnauditedKernel) -> None:
    result = await run_episode(GOAL, PLAN, kernel=Forger(repl), leaf=TacticsProver())
    assert result.status is Status.SANITIZER_REJECTED
    assert result.stages[-1].status is StageStatus.FAILED
    assert "cheat" in result.detail


def test_no_audit_and_no_leave_to_do_without_is_no_verdict() -> None:
    source = compose(GOAL, Plan((), "trivial"), {})
    check = CheckResult(gate=GateVerdict(True))
    with pytest.raises(KernelUnavailable, match="no audit"):
        final_verdict(GOAL, source, Certificate(check, None), lemmas=False)
    assert final_verdict(GOAL, source, Certificate(check, None, unaudited=()), lemmas=False) == Accepted((), None)
    failed = final_verdict(GOAL, source, Certificate(check, None, unaudited=("sorryAx",)), lemmas=False)
    assert isinstance(failed, Failure)


# -- the commands


def test_score_and_check(tmp_path: Path, workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = str(kernel_file(tmp_path / "kernel.toml", workspace))
    plan = str(write(tmp_path / "plan.txt", "#assembly\nrfl\n#end\n"))
    assert main(["score", "--prop", "2 + 2 = 4", "--kernel", kernel, "--json", plan]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["kernel"]["kernel"]) == ("verified", "repl (unaudited)")
    assert main(["score", "--prop", "2 + 2 = 4", "--kernel", kernel, plan]) == 0
    assert "NOT AUDITED" in capsys.readouterr().out
    lean = write(tmp_path / "a.lean", "import Init.Data.Nat\n\ntheorem t : 2 + 2 = 5 := rfl\n")
    assert main(["check", "--kernel", kernel, str(lean)]) == 1
    assert f"{lean}:3:25: error: " in capsys.readouterr().out
    lean.write_text("import Mathlib\n")
    assert main(["check", "--kernel", kernel, str(lean)]) == 2
    assert "the kernel's header imports Init" in capsys.readouterr().err
    assert main(["score", "--prop", "True", "--kernel", kernel, "--cluster", "auto", plan]) == 2
    assert "--kernel" in capsys.readouterr().err


def test_a_plan_without_leave_is_no_verdict(
    tmp_path: Path, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = str(kernel_file(tmp_path / "kernel.toml", workspace, more=""))
    plan = str(write(tmp_path / "plan.txt", "#assembly\nrfl\n#end\n"))
    assert main(["score", "--prop", "2 + 2 = 4", "--kernel", kernel, "--json", plan]) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["reward"]) == ("error", None)
    assert "accept_unaudited" in result["detail"]


def test_doctor(tmp_path: Path, workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = str(kernel_file(tmp_path / "kernel.toml", workspace))
    assert main(["doctor", "--checks", "1", "--json", "--kernel", kernel]) == 0
    findings = {finding["name"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["kernel mathlib"]["text"].startswith("repl (unaudited) Lean 4.35.0 mathlib@0123456789ab+")
    assert findings["audit"]["state"] == "absent"
    broken = str(kernel_file(tmp_path / "kernel.toml", workspace, more='lean_version = "x"'))
    assert main(["doctor", "--kernel", broken]) == 2
    no_lake = kernel_file(tmp_path / "kernel.toml", workspace)
    no_lake.write_text(no_lake.read_text().replace(str(workspace.lake), "/nowhere/lake"))
    assert main(["doctor", "--checks", "1", "--json", "--kernel", str(no_lake)]) == 1
