"""`rlmath score`: judge one plan for one goal, and explain the verdict stage by stage."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rlmath.commands.files import read_bytes, read_text
from rlmath.commands.kernel import add_kernel_option, chosen_kernel, load_kernel
from rlmath.errors import InputError, Unavailable
from rlmath.types import Budgets, EpisodeResult, GoalSpec, Status

if TYPE_CHECKING:
    from rlmath.commands import Subparsers
    from rlmath.evals.inputs import Recorded
    from rlmath.kernel.select import OwnedKernel
    from rlmath.leaf.config import LeafConfig

EPILOG = """\
examples:
  rlmath score --prop '∀ n : Nat, n + 0 = n' plan.txt
  rlmath score --goal-file goals.jsonl --goal-id add_zero --leaf-file proofs.json - < plan.txt

The plan file is a completion in the wire format:

  #lemma h1 : ∀ n : Nat, 0 + n = n
  #assembly
  exact h1
  #end
"""

BUDGETS = Budgets()


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "score",
        help="judge one plan and explain the verdict",
        description="Judges one completion for one goal. "
        "Exit codes: 0 whatever the verdict, 1 if there is none (status error), 2 bad input.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("plan", metavar="PLAN", help="file with the completion; - for standard input")
    goal = parser.add_argument_group("goal")
    source = goal.add_mutually_exclusive_group(required=True)
    source.add_argument("--prop", metavar="PROP", help="the goal's proposition")
    source.add_argument("--goal-file", metavar="FILE", type=Path, help="JSON or JSONL with the goal")
    goal.add_argument("--goal-id", metavar="ID", help="which goal of the goal file")
    goal.add_argument("--name", metavar="NAME", help="with --prop: the theorem's name (default: goal)")
    goal.add_argument(
        "--context-file", metavar="FILE", type=Path, help="with --prop: Lean declarations that it speaks of"
    )
    leaf = parser.add_argument_group("leaf prover and budgets")
    leaf.add_argument(
        "--leaf-file",
        metavar="FILE",
        type=Path,
        help='JSON {"lemma": "proof"} or {"lemma": ["proof", …]} (default: the tactic ladder)',
    )
    leaf.add_argument("--max-lemmas", type=int, default=BUDGETS.max_lemmas, metavar="N")
    leaf.add_argument("--leaf-attempts-per-lemma", type=int, default=BUDGETS.leaf_attempts_per_lemma, metavar="N")
    leaf.add_argument("--max-total-leaf-attempts", type=int, default=BUDGETS.max_total_leaf_attempts, metavar="N")
    leaf.add_argument(
        "--verify-timeout-s",
        type=float,
        default=BUDGETS.verify_timeout_s,
        metavar="SECONDS",
        help="for each kernel check",
    )
    add_kernel_option(parser)
    parser.add_argument("--cluster", metavar="ADDRESS", help="judge on this Ray cluster instead of in this process")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge the plan and print the result."""
    goal = _goal(arguments)
    completion = read_bytes(Path(arguments.plan), "PLAN")
    budgets = Budgets(
        max_lemmas=arguments.max_lemmas,
        leaf_attempts_per_lemma=arguments.leaf_attempts_per_lemma,
        max_total_leaf_attempts=arguments.max_total_leaf_attempts,
        verify_timeout_s=arguments.verify_timeout_s,
    )
    leaf, recorded = _leaf(arguments.leaf_file)
    try:
        if arguments.cluster is None:
            kernel = chosen_kernel(load_kernel(arguments.kernel))
            result = asyncio.run(_score_here(kernel, goal, completion, budgets, leaf, recorded))
        elif arguments.kernel is not None:
            raise InputError("--kernel", "goes without --cluster: a cluster has its own kernels")
        else:
            result = _score_there(arguments.cluster, goal, completion, budgets, leaf, recorded)
    except Unavailable as error:
        result = EpisodeResult(goal_id=goal.id, status=Status.ERROR, detail=str(error))
    if arguments.json:
        print(json.dumps(result.to_json()))
    else:
        from rlmath.render import render_text

        print(render_text(result))
    return 1 if result.status is Status.ERROR else 0


def _goal(arguments: argparse.Namespace) -> GoalSpec:
    from rlmath.evals.inputs import load_goal_file

    if arguments.goal_file is not None:
        for flag, value in (("--name", arguments.name), ("--context-file", arguments.context_file)):
            if value is not None:
                raise InputError(flag, "goes with --prop; a goal file says it itself")
        return load_goal_file(arguments.goal_file, arguments.goal_id)
    if arguments.goal_id is not None:
        raise InputError("--goal-id", "goes with --goal-file")
    if not arguments.prop.strip():
        raise InputError("--prop", "is empty: give a Lean proposition")
    name = "goal" if arguments.name is None else arguments.name
    context = read_text(arguments.context_file, "--context-file") if arguments.context_file is not None else ""
    return GoalSpec(id=name, prop=arguments.prop, name=name, context=context)


def _leaf(path: Path | None) -> tuple[LeafConfig, Recorded | None]:
    from rlmath.evals.inputs import load_recorded
    from rlmath.leaf.config import RecordedLeaf, TacticsLeaf

    return (TacticsLeaf(), None) if path is None else (RecordedLeaf(), load_recorded(path))


async def _score_here(
    kernel: OwnedKernel,
    goal: GoalSpec,
    completion: bytes,
    budgets: Budgets,
    leaf: LeafConfig,
    recorded: Recorded | None,
) -> EpisodeResult:
    from rlmath.episode import run_episode
    from rlmath.leaf.config import make_prover

    prover = make_prover(leaf, recorded=recorded)
    async with kernel:
        return await run_episode(goal, completion, kernel=kernel, leaf=prover, budgets=budgets)


def _score_there(
    address: str, goal: GoalSpec, completion: bytes, budgets: Budgets, leaf: LeafConfig, recorded: Recorded | None
) -> EpisodeResult:
    from cluster.local import LocalCluster
    from rlmath.validation import renamed

    text = completion.decode(
        "utf-8", "surrogateescape"
    )  # what is not UTF-8 must stay a format error, not become a crash here
    with renamed("address", "--cluster"), LocalCluster(address=address) as cluster:
        return cluster.score(goal, text, budgets=budgets, leaf=leaf, recorded=recorded)
