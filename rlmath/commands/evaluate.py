"""`rlmath eval CONFIG.toml`: judge a file of completions, or a policy's samples, on a cluster."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cluster.api import WarmUp
    from cluster.local import LocalCluster
    from rlmath.commands import Subparsers
    from rlmath.evals.run import EvalPlan, Session
    from rlmath.evals.store import ResultsStore

EPILOG = """\
example of a config file (paths are relative to it, unknown keys are errors):

  goals = "goals.jsonl"              # rows: prop, and id, name, context
  completions = "completions.jsonl"  # rows: id, goal_id, completion, and leaf {lemma: proof text}
  out = "runs/results.jsonl"

  [budgets]
  max_lemmas = 8
  leaf_attempts_per_lemma = 4
  max_total_leaf_attempts = 64
  verify_timeout_s = 120.0

  [leaf]
  type = "tactics"                   # or "recorded", or "openai" with base_url and model

  [kernel]                           # left out: the one that comes with the package (docs/mathlib.md)
  type = "repl"
  project = {type = "local", directory = "my-project"}

  [cluster]                          # left out: a local cluster for the length of the run
  address = "auto"
  max_in_flight = 64

instead of completions, a policy to sample from:

  [policy]
  base_url = "http://localhost:8000/v1"
  model = "my-model"
  api_key_env = "POLICY_API_KEY"
  samples = 4
  temperature = 1.0
  max_tokens = 4096

A run that was stopped in any way, SIGKILL included, goes on where it was when the same command is given again;
only results of status error are judged anew.

exit codes: 0 done, 1 done but some results are of status error, 2 bad input, 130 interrupted
"""


def add_parser(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "eval",
        help="judge a batch of completions on a cluster",
        description="Judges completions on a Ray cluster, appends each result to a file, and ends with a table.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", metavar="CONFIG.toml", type=Path)
    parser.add_argument("--fresh", action="store_true", help="discard the results that an earlier run left in `out`")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object instead of a table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the evaluation; see `rlmath.evals`."""
    from rlmath.evals.config import load_config
    from rlmath.evals.report import dumps, print_summary, summarise
    from rlmath.evals.run import plan_eval
    from rlmath.evals.store import ResultsStore
    from rlmath.types import Status

    plan = plan_eval(load_config(arguments.config))
    with ResultsStore(plan.config.out, plan.identity, fresh=arguments.fresh) as store:
        session, signalled = _run_session(plan, store)
        summary = summarise(store.rows.values())
    done = f"{summary.total} of {len(plan.sought)} results are in {plan.config.out}"
    if signalled is not None:
        print(f"interrupted: {done}; the same command goes on from there", file=sys.stderr)
        return 128 + signalled
    if arguments.json:
        print(dumps(summary))
    else:
        from rich.console import Console

        print_summary(summary, Console())
        print(_told(session))
        print(f"results        {plan.config.out}")
    if session.lost is not None:
        print(f"rlmath: error: {session.lost}; {done}, and the same command goes on from there", file=sys.stderr)
        return 1
    return 1 if summary.counts[Status.ERROR] else 0


def _run_session(plan: EvalPlan, store: ResultsStore) -> tuple[Session, int | None]:
    """Judge what is missing; with the signal that ended it early, if one did."""
    from rlmath.evals.run import Session
    from rlmath.evals.servers import check_servers

    if len(store.rows) == len(plan.sought):
        return Session(judged=0, kept=len(store.rows), wall_s=0.0), None
    check_servers(plan.config)
    from cluster.api import ClusterSettings
    from cluster.autoscale import demand_driven
    from cluster.local import LocalCluster
    from rlmath.validation import renamed

    section = plan.config.cluster
    settings = ClusterSettings(require_isolation=section.require_isolation)
    autoscale = demand_driven(section.slots, section.max_workers, section.idle_s)
    cluster = LocalCluster(
        section.address,
        slots=section.slots,
        progress=_tell,
        settings=settings,
        autoscale=autoscale,
        kernels=(plan.config.kernel,),
    )
    with renamed("address", "cluster.address"), cluster:
        return asyncio.run(_session(plan, store, cluster))


async def _session(plan: EvalPlan, store: ResultsStore, cluster: LocalCluster) -> tuple[Session, int | None]:
    from rlmath.errors import KernelUnavailable
    from rlmath.evals.progress import make_progress
    from rlmath.evals.run import Session, run_unless
    from rlmath.evals.run import run as run_eval
    from rlmath.evals.scorers import check_goals, cluster_score

    stop, caught = asyncio.Event(), list[int]()
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        caught.append(number)
        stop.set()
        # A second one is for those who cannot wait: Python's own handlers, at once.
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    score = cluster_score(cluster.client, plan.config.budgets, plan.config.leaf)
    before = (await cluster.client.status()).checks_done
    wanted = {item.goal.id: item.goal for item in plan.sought if item.id not in store.rows}
    await run_unless(stop, check_goals(cluster.client, wanted.values(), in_flight=plan.config.cluster.max_in_flight))
    if caught:
        return Session(judged=0, kept=len(store.rows), wall_s=0.0), caught[0]
    store.begin()
    session = await run_eval(plan, score, store, make_progress(), stop)
    with contextlib.suppress(KernelUnavailable):
        checks = (await cluster.client.status()).checks_done - before
        if checks >= 0:  # a scheduler that was started again in between counts from 0
            session = replace(session, checks=checks)
    finished = len(store.rows) == len(plan.sought)
    return session, None if finished or not caught else caught[0]


def _tell(warm_up: WarmUp) -> None:
    print(warm_up, file=sys.stderr, flush=True)


def _told(session: Session) -> str:
    """This session in one line: what the table, which is about the whole file, does not say."""
    kept = f"; {session.kept} were there already" if session.kept else ""
    if not session.judged:
        return f"this session   nothing to judge{kept}"
    seconds = session.wall_s
    told = f"this session   {session.judged} results in {seconds:.1f} s ({session.judged / seconds:.1f}/s)"
    if session.checks is not None:
        told += f", {session.checks} kernel checks ({session.checks / seconds:.1f}/s)"
    return told + kept
