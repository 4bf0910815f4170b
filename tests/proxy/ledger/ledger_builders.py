"""What the ledger's tests share: prices, callers, a ledger that is quick to open."""

from pathlib import Path

from proxy.domain.ports import CostBound, Denial, Hold, Prices, Spent
from proxy.domain.types import Caller, Usage
from proxy.ledger.periods import DeploymentCaps, SpendCap
from proxy.ledger.sqlite import SqliteLedger

PRICES = Prices(150, 600)
BOUND = CostBound(1_000, 500, 450_000)
ALICE = Caller("k1", "alice", frozenset({"public", "staff"}))
BOB = Caller("k2", "bob", frozenset({"public"}))


def open_ledger(folder: Path, covers: float = 1_000, **settings: object) -> SqliteLedger:
    """A ledger whose monthly cap covers that many requests of `BOUND`."""
    caps = settings.pop("caps", DeploymentCaps(SpendCap(month_nanousd=int(BOUND.nanousd * covers))))
    return SqliteLedger(folder / "ledger.db", caps, **settings)  # type: ignore[arg-type]


async def require_hold(
    ledger: SqliteLedger, caller: Caller = ALICE, model: str = "m", bound: CostBound = BOUND
) -> Hold:
    """A hold that must be granted."""
    answer = await ledger.reserve(caller, model, bound, PRICES)
    assert isinstance(answer, Hold), answer
    return answer


async def require_denial(ledger: SqliteLedger, caller: Caller = ALICE, model: str = "m") -> Denial:
    """A denial that must come."""
    answer = await ledger.reserve(caller, model, BOUND, PRICES)
    assert isinstance(answer, Denial), answer
    return answer


def make_spent(input: int | None = None, output: int | None = None, received: int = 0) -> Spent:
    """What an attempt used."""
    return Spent(Usage(input, output), received)


async def run_pragma(ledger: SqliteLedger, pragma: str) -> None:
    """Brings the ledger's own connection into a state that a disk would."""
    connection = ledger._database._connection
    assert connection is not None
    await connection.execute(f"PRAGMA {pragma}")
