"""The kernel time of runs (state.py): held before a run first goes, charged once it has a result, let go when it gets
none.
"""

from __future__ import annotations

from collections.abc import Sequence

from cluster.caps import MICRO, AccountKey, Accounts, Hold, Resource
from cluster.events import Charge, CheckJob, Instruction
from cluster.fleet import Run
from cluster.verdict_cache import Outcome, kernel_seconds
from rlmath.errors import CapReached


class Billing:
    """What runs hold on accounts, and which jobs wait for room there."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._parked: dict[AccountKey, list[int]] = {}
        """Jobs that had their turn when others held what they need of an account."""

    def begin(self, run: Run, job: CheckJob) -> AccountKey | CapReached | None:
        """Hold the most that the run may cost on the accounts of the job whose turn it is.

        None: held, and the job pays. An account: the job is parked until there is room on it (`unpark`). `CapReached`:
        there will be none.
        """
        if job.accounts:
            held = self._accounts.hold(job.accounts, Resource.KERNEL, job.most_us)
            if isinstance(held, AccountKey):
                self._parked.setdefault(held, []).append(job.id)
                return held
            if isinstance(held, CapReached):
                return held
            run.hold = held
        run.payer = job
        return None

    def end(self, run: Run, result: Outcome | None, out: list[Instruction]) -> Sequence[AccountKey]:
        """The run is over: charge what it cost, and let go what was held. Without a result nothing is charged.

        Returns the accounts on which there is room again.
        """
        hold, payer = run.hold, run.payer
        if not isinstance(hold, Hold) or payer is None:
            return ()
        run.hold = None
        charged = self._accounts.settle(hold, 0 if result is None else round(kernel_seconds(result) * MICRO))
        if charged:
            out.append(Charge(payer.order, payer.accounts, charged))
        return hold.keys

    def unpark(self, key: AccountKey) -> Sequence[int]:
        """Jobs that waited for room on this account: each has its turn again."""
        return self._parked.pop(key, ())

    @property
    def crowded(self) -> Sequence[AccountKey]:
        """Accounts for whose room jobs wait."""
        return tuple(self._parked)
