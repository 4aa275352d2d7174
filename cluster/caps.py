"""Hard caps: what a client and a run may use, what they have used, and what work under way may still use.

Before work begins, the most that it may use is held on all its accounts; when it ends, what it did use is charged
and the rest let go. `spent + held` never exceeds a cap, so neither does `spent`, whatever runs at the same time.
Amounts are whole numbers (kernel time in microseconds): nothing is lost in sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from rlmath.errors import CapReached, InputError

MICRO = 1_000_000


class Resource(StrEnum):
    """What is counted. The names are those of the fields of `Caps`."""

    LEAF_ATTEMPTS = "leaf_attempts"
    KERNEL = "kernel_s"
    MODEL_TOKENS = "model_tokens"


@dataclass(frozen=True)
class Caps:
    """Most that may be used; None: no cap."""

    leaf_attempts: int | None = None
    """As the episodes count them: `EpisodeResult.leaf_attempts_used`."""
    kernel_s: float | None = None
    """Seconds of all checks and audits that gave a result. A verdict that was known already costs none."""
    model_tokens: int | None = None
    """Prompt and completion tokens that leaf models were paid for."""
    wall_s: float | None = None
    """Seconds from the opening of the account: then everything of it ends."""

    def __post_init__(self) -> None:
        for name in ("leaf_attempts", "model_tokens"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise InputError(f"caps.{name}", f"must be a whole number of at least 0, got {value!r}")
        for name in ("kernel_s", "wall_s"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf
            ):
                raise InputError(f"caps.{name}", f"must be seconds of at least 0, got {value!r}")

    def amount(self, resource: Resource) -> int | None:
        """The cap in whole units."""
        if resource is Resource.KERNEL:
            return None if self.kernel_s is None else math.floor(self.kernel_s * MICRO)
        return self.leaf_attempts if resource is Resource.LEAF_ATTEMPTS else self.model_tokens


@dataclass(frozen=True)
class Spend:
    """What was used."""

    leaf_attempts: int = 0
    kernel_us: int = 0
    """Microseconds."""
    model_tokens: int = 0

    @property
    def kernel_s(self) -> float:
        """Seconds."""
        return self.kernel_us / MICRO

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.leaf_attempts + other.leaf_attempts,
            self.kernel_us + other.kernel_us,
            self.model_tokens + other.model_tokens,
        )

    def amount(self, resource: Resource) -> int:
        """In whole units."""
        if resource is Resource.KERNEL:
            return self.kernel_us
        return self.leaf_attempts if resource is Resource.LEAF_ATTEMPTS else self.model_tokens

    @classmethod
    def of(cls, resource: Resource, amount: int) -> Spend:
        """So much of one resource."""
        match resource:
            case Resource.LEAF_ATTEMPTS:
                return cls(leaf_attempts=amount)
            case Resource.KERNEL:
                return cls(kernel_us=amount)
            case Resource.MODEL_TOKENS:
                return cls(model_tokens=amount)


@dataclass(frozen=True, order=True)
class AccountKey:
    """A client's account, or that of one of its runs."""

    client: str
    run: str | None = None

    def __str__(self) -> str:
        of = f"client {self.client}" if self.client else "the client"
        return of if self.run is None else f"run {self.run} of {of}"


@dataclass(frozen=True)
class AccountStatus:
    """One account at a moment."""

    client: str
    run: str | None
    caps: Caps
    spent: Spend
    held: Spend
    """The most that work under way may use."""
    opened_at: float
    """Unix time."""
    closed: bool = False

    def left(self, now: float) -> Caps:
        """What may still be begun at the time `now`; None where there is no cap."""

        def less(resource: Resource) -> int | None:
            cap = self.caps.amount(resource)
            return None if cap is None else cap - self.spent.amount(resource) - self.held.amount(resource)

        kernel_us = less(Resource.KERNEL)
        wall_s = self.caps.wall_s
        return Caps(
            leaf_attempts=less(Resource.LEAF_ATTEMPTS),
            kernel_s=None if kernel_us is None else kernel_us / MICRO,
            model_tokens=less(Resource.MODEL_TOKENS),
            wall_s=None if wall_s is None else max(0.0, self.opened_at + wall_s - now),
        )


@dataclass(frozen=True, slots=True)
class Hold:
    """So much of a resource held on some accounts."""

    keys: tuple[AccountKey, ...]
    resource: Resource
    amount: int


@dataclass
class _Account:
    caps: Caps
    opened_at: float
    closed: bool
    spent: dict[Resource, int] = field(default_factory=lambda: dict.fromkeys(Resource, 0))
    held: dict[Resource, int] = field(default_factory=lambda: dict.fromkeys(Resource, 0))


class Accounts:
    """All accounts. No clock: who asks says what time it is."""

    def __init__(self) -> None:
        self._accounts: dict[AccountKey, _Account] = {}

    def open(
        self, key: AccountKey, caps: Caps, opened_at: float, spent: Spend | None = None, *, closed: bool = False
    ) -> None:
        """Open an account, or set the caps of one that is open: what it spent stays, and so does its time of opening.

        `spent`: of an account that is taken over from an earlier life.
        """
        known = self._accounts.get(key)
        if known is not None:
            known.caps, known.closed = caps, closed
            return
        account = self._accounts[key] = _Account(caps, opened_at, closed)
        if spent is not None:
            for resource in Resource:
                account.spent[resource] = spent.amount(resource)

    def close(self, key: AccountKey) -> None:
        """Let nothing more begin on it; its figures stay. KeyError when it is unknown."""
        self._accounts[key].closed = True

    def forget(self, key: AccountKey) -> None:
        """Drop a closed account with nothing under way."""
        account = self._accounts.get(key)
        if account is not None and account.closed and not any(account.held.values()):
            del self._accounts[key]

    def __contains__(self, key: AccountKey) -> bool:
        return key in self._accounts

    def is_open(self, key: AccountKey) -> bool:
        """Whether work may begin on it."""
        account = self._accounts.get(key)
        return account is not None and not account.closed

    def ends_at(self, keys: Iterable[AccountKey]) -> tuple[float, AccountKey] | None:
        """When the first of these accounts' wall time is over, and whose; None: never."""
        ends = [
            (a.opened_at + a.caps.wall_s, key) for key in keys if (a := self._accounts[key]).caps.wall_s is not None
        ]
        return min(ends, default=None)

    def wall_refusal(self, key: AccountKey) -> CapReached:
        """What is said when an account's wall time is over."""
        limit = self._accounts[key].caps.wall_s or 0.0
        return CapReached(str(key), "wall_s", limit, limit)

    def refusal(self, keys: Iterable[AccountKey], resource: Resource, amount: int) -> CapReached | None:
        """Why so much can never be held on these accounts, even when nothing else is under way."""
        for key in keys:
            account = self._accounts[key]
            cap, spent = account.caps.amount(resource), account.spent[resource]
            if cap is not None and spent + amount > cap:
                unit = MICRO if resource is Resource.KERNEL else 1
                return CapReached(str(key), resource.value, cap / unit, spent / unit)
        return None

    def hold(self, keys: tuple[AccountKey, ...], resource: Resource, amount: int) -> Hold | AccountKey | CapReached:
        """Hold the most that some work may use: on all accounts, or on none.

        An account's key in return means: not now, but when enough of what others hold there is let go.
        """
        if (refusal := self.refusal(keys, resource, amount)) is not None:
            return refusal
        for key in keys:
            account = self._accounts[key]
            cap = account.caps.amount(resource)
            if cap is not None and account.spent[resource] + account.held[resource] + amount > cap:
                return key
        for key in keys:
            self._accounts[key].held[resource] += amount
        return Hold(keys, resource, amount)

    def settle(self, hold: Hold, used: int) -> int:
        """The work is over and used so much. Charges it, and never more than was held; returns the charge."""
        charge = min(max(used, 0), hold.amount)
        for key in hold.keys:
            account = self._accounts[key]
            account.held[hold.resource] -= hold.amount
            account.spent[hold.resource] += charge
        return charge

    def status(self, key: AccountKey) -> AccountStatus:
        """KeyError when there is no such account."""
        account = self._accounts[key]

        def spend(of: dict[Resource, int]) -> Spend:
            return Spend(of[Resource.LEAF_ATTEMPTS], of[Resource.KERNEL], of[Resource.MODEL_TOKENS])

        return AccountStatus(
            key.client, key.run, account.caps, spend(account.spent), spend(account.held), account.opened_at,
            account.closed,
        )  # fmt: skip

    def keys(self) -> Sequence[AccountKey]:
        """Of all accounts."""
        return tuple(self._accounts)
