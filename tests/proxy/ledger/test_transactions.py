"""ledger.books: whatever happens in whatever order, no cap is passed and every balance adds up."""

import sqlite3

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from proxy.domain.ports import CostBound, Denial, Hold, Prices, Settled, Spent
from proxy.domain.types import Caller, Usage
from proxy.ledger import audit, prices, transactions
from proxy.ledger.periods import (
    DEPLOYMENT_ACCOUNT,
    DeploymentCaps,
    SpendCap,
    find_period,
    list_capped_accounts,
    load_time_zone,
)
from proxy.ledger.schema import LEDGER_SCHEMA
from proxy.ledger.transactions import Adjustment, Booking, HoldRequest, ReserveTerms

PRICES = Prices(3, 7)
CAPS = DeploymentCaps(
    SpendCap(month_nanousd=9_000, day_nanousd=4_000),
    {"staff": SpendCap(month_nanousd=5_000), "guests": SpendCap(day_nanousd=1_500)},
)
CALLERS = (
    Caller("k1", "", frozenset({"staff"}), cap_nanousd_day=2_000),
    Caller("k2", "", frozenset({"staff", "guests"})),
    Caller("k3", "", frozenset(), cap_nanousd_month=3_000),
)
DAY_S = 86_400
START = 1_795_000_000.0


def open_memory_ledger() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(LEDGER_SCHEMA)
    return connection


def make_terms(owner: str = "a", caps: DeploymentCaps = CAPS) -> ReserveTerms:
    return ReserveTerms(caps, load_time_zone("UTC"), owner, 60)


class SpendingHistory(RuleBasedStateMachine):
    """Requests come, end, are forgotten and heard of again, while days pass and clocks are put back."""

    holds: Bundle[Hold | None] = Bundle("holds")

    def __init__(self) -> None:
        super().__init__()
        self.connection = open_memory_ledger()
        self.now = START

    @rule(
        target=holds,
        caller=st.sampled_from(CALLERS),
        tokens=st.tuples(st.integers(0, 200), st.integers(0, 100)),
        owner=st.sampled_from("ab"),
    )
    def reserve(self, caller: Caller, tokens: tuple[int, int], owner: str) -> Hold | None:
        bound = CostBound(*tokens, prices.compute_cost(*tokens, PRICES))
        answer = transactions.reserve_hold(
            self.connection, make_terms(owner), HoldRequest(caller, "m", bound, PRICES, self.now)
        )
        return answer if isinstance(answer, Hold) else None

    @rule(hold=consumes(holds), share=st.floats(0, 1), said=st.booleans(), again=st.booleans())
    def settle(self, hold: Hold | None, share: float, said: bool, again: bool) -> None:
        if hold is None:
            return
        output = int(hold.output_tokens * share)
        spent = Spent(Usage(int(hold.input_tokens * share), output) if said else Usage(), output)
        booking = Booking(
            hold.id, prices.choose_cost_basis(spent), prices.compute_settled_cost(spent, hold), self.now
        )
        for _ in range(1 + again):
            transactions.settle_hold(self.connection, booking)

    @rule(hold=consumes(holds))
    def settle_unsent(self, hold: Hold | None) -> None:
        if hold is not None:
            transactions.settle_hold(self.connection, Booking(hold.id, "unsent", Settled(0, 0, 0), self.now))

    @rule(owner=st.sampled_from("ab"))
    def kill_owner(self, owner: str) -> None:
        transactions.charge_dead_owner(self.connection, owner, self.now)

    @rule()
    def expire_holds(self) -> None:
        transactions.charge_expired_holds(self.connection, self.now)

    @rule(seconds=st.sampled_from([1.0, 61.0, DAY_S, 20 * DAY_S, -DAY_S, -40.0 * DAY_S]))
    def advance_clock(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def check_balances(self) -> None:
        assert audit.verify_balances(self.connection).faults == ()

    @invariant()
    def check_caps(self) -> None:
        caps = {name: cap for caller in CALLERS for name, cap in list_capped_accounts(caller, CAPS)}
        for size in (7, 10):
            query = "SELECT account, sum(settled + held) FROM balances GROUP BY account, substr(day, 1, ?)"
            for name, total in self.connection.execute(query, (size,)):
                cap = caps.get(name, SpendCap())
                most = cap.month_nanousd if size == 7 else cap.day_nanousd
                assert most is None or total <= most


TestSpending = SpendingHistory.TestCase
TestSpending.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def make_hold_request(now: float = START, caller: Caller = CALLERS[1]) -> HoldRequest:
    return HoldRequest(caller, "m", CostBound(100, 100, 1_000), PRICES, now)


def test_a_period_does_not_go_back_with_the_clock() -> None:
    connection = open_memory_ledger()
    cap = make_terms(caps=DeploymentCaps(SpendCap(day_nanousd=1_000)))
    assert isinstance(transactions.reserve_hold(connection, cap, make_hold_request(START)), Hold)
    assert isinstance(transactions.reserve_hold(connection, cap, make_hold_request(START - DAY_S)), Denial)
    assert isinstance(transactions.reserve_hold(connection, cap, make_hold_request(START + DAY_S)), Hold)


def test_a_hold_made_before_midnight_is_settled_in_its_own_month() -> None:
    connection = open_memory_ledger()
    midnight = 1_796_083_200.0
    assert [find_period(midnight + s, load_time_zone("UTC")).day for s in (-1, 0)] == [
        "2026-11-30",
        "2026-12-01",
    ]
    hold = transactions.reserve_hold(connection, make_terms(), make_hold_request(midnight - 1))
    assert isinstance(hold, Hold)
    transactions.settle_hold(connection, Booking(hold.id, "reported", Settled(1, 1, 10), midnight + 60))
    found = connection.execute(
        "SELECT day, settled, held FROM balances WHERE account = ?", (DEPLOYMENT_ACCOUNT,)
    )
    assert sorted(found) == [("2026-11-30", 10, 0)]


@pytest.mark.parametrize(
    ("name", "day"),
    [("UTC", "2026-11-30"), ("Asia/Tehran", "2026-12-01"), ("America/Los_Angeles", "2026-11-30")],
)
def test_the_day_begins_in_the_named_zone(name: str, day: str) -> None:
    assert find_period(1_796_083_200.0 - 1, load_time_zone(name)).day == day


def test_a_late_word_corrects_what_was_charged_for_silence_once() -> None:
    connection = open_memory_ledger()
    hold = transactions.reserve_hold(connection, make_terms(), make_hold_request())
    assert isinstance(hold, Hold)
    assert transactions.charge_expired_holds(connection, START + 61) == [1_000]
    for _ in range(2):
        transactions.settle_hold(connection, Booking(hold.id, "reported", Settled(7, 7, 70), START + 62))
    proof = audit.verify_balances(connection)
    assert (proof.settled_nanousd, proof.held_nanousd, proof.faults) == (70, 0, ())
    bases = [row[0] for row in connection.execute("SELECT basis FROM entries ORDER BY hold, part")]
    assert bases == ["expired", "late"]


def test_a_renewed_hold_does_not_expire() -> None:
    connection = open_memory_ledger()
    hold = transactions.reserve_hold(connection, make_terms(), make_hold_request())
    assert isinstance(hold, Hold)
    transactions.renew_holds(connection, [hold.id], START + 500)
    assert transactions.charge_expired_holds(connection, START + 499) == []
    assert transactions.charge_expired_holds(connection, START + 501) == [1_000]


def test_the_holds_of_one_owner_are_charged_and_no_others() -> None:
    connection = open_memory_ledger()
    first = transactions.reserve_hold(connection, make_terms("a", DeploymentCaps()), make_hold_request())
    transactions.reserve_hold(connection, make_terms("b", DeploymentCaps()), make_hold_request())
    assert transactions.charge_dead_owner(connection, "b", START) == [1_000]
    assert isinstance(first, Hold)
    assert [hold.id for hold in audit.list_open_holds(connection)] == [first.id]


def test_a_settlement_of_an_unknown_hold_changes_nothing() -> None:
    connection = open_memory_ledger()
    transactions.settle_hold(connection, Booking("unknown", "reported", Settled(1, 1, 10), START))
    assert audit.verify_balances(connection).balances == 0


def test_the_proof_finds_a_balance_that_was_tampered_with() -> None:
    connection = open_memory_ledger()
    transactions.reserve_hold(connection, make_terms(), make_hold_request())
    connection.execute("UPDATE balances SET settled = settled - 1 WHERE account = 'key:k2'")
    faults = audit.verify_balances(connection).faults
    assert [fault.split(":")[:2] for fault in faults] == [["key", "k2 2026-11-18"]]


def test_an_adjustment_without_a_key_is_the_deployments_alone() -> None:
    connection = open_memory_ledger()
    transactions.apply_adjustment(connection, make_terms(), Adjustment(500, "an invoice"), START)
    names = {row[0] for row in connection.execute("SELECT account FROM balances")}
    assert names == {DEPLOYMENT_ACCOUNT}
    assert audit.verify_balances(connection).faults == ()
