"""ledger.prices: integers, rounded up, never below what can be charged."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.domain.ports import CostBound, Hold, Prices, Settled, Spent
from proxy.domain.types import Usage
from proxy.ledger import prices

HOLD = Hold("h", 450_000, Prices(150, 600), 1_000, 500)


@pytest.mark.parametrize(
    ("per_million", "nanousd"), [(0.15, 150), (0.0375, 38), (0, 0), (0.0000001, 1), (75, 75_000)]
)
def test_a_price_is_whole_nano_dollars_a_token_rounded_up(per_million: float, nanousd: int) -> None:
    assert prices.convert_token_price(per_million) == nanousd


@given(st.floats(min_value=0, max_value=10_000))
def test_a_price_is_never_below_what_was_written(per_million: float) -> None:
    exact = Fraction(str(per_million)) * 1000
    assert exact <= prices.convert_token_price(per_million) < exact + 1


def test_a_cap_is_never_above_what_was_written() -> None:
    assert prices.convert_cap_usd(0.1) == 100_000_000
    assert prices.convert_cap_usd(0.00000000019) == 0


def test_the_bound_counts_every_byte_both_caps_and_the_template() -> None:
    bound = prices.compute_bound(
        999, template_tokens=201, tokens_per_byte_max=1, output_cap=400, reasoning_cap=100, prices=HOLD.prices
    )
    assert bound == CostBound(1_200, 500, 1_200 * 150 + 500 * 600)


def test_a_factor_for_other_tokenizers_rounds_up() -> None:
    bound = prices.compute_bound(
        3, template_tokens=0, tokens_per_byte_max=1.1, output_cap=0, reasoning_cap=0, prices=HOLD.prices
    )
    assert bound.input_tokens == 4


@pytest.mark.parametrize(
    ("spent", "settled"),
    [
        (Spent(Usage(10, 20), 999), Settled(10, 20, 13_500)),
        (Spent(Usage(0, 0), 999), Settled(0, 0, 0)),
        (Spent(Usage(None, 20), 999), Settled(1_000, 20, 162_000)),
        (Spent(Usage(10, None), 70), Settled(10, 70, 43_500)),
        (Spent(Usage(None, None), 70), Settled(1_000, 70, 192_000)),
        (Spent(Usage(None, None), 10**9), Settled(1_000, 500, 450_000)),
        (Spent(Usage(2_000, 3_000), 1), Settled(2_000, 3_000, 2_100_000)),
        (Spent(Usage(None, None), 0, was_sent=False), Settled(0, 0, 0)),
        (Spent(Usage(None, None), 70, outcome_known=False), Settled(1_000, 500, 450_000)),
        (Spent(Usage(10, 20), 70, outcome_known=False), Settled(10, 20, 13_500)),
        (Spent(Usage(-5, 10**18), 70), Settled(1_000, 70, 192_000)),
    ],
    ids=[
        "reported",
        "zero",
        "no input",
        "no output",
        "nothing",
        "long",
        "above",
        "unsent",
        "unknown",
        "known after all",
        "nonsense",
    ],
)
def test_the_cost_is_as_reported_and_gaps_are_filled_up_to_the_hold(spent: Spent, settled: Settled) -> None:
    assert prices.compute_settled_cost(spent, HOLD) == settled


@given(
    st.one_of(st.none(), st.integers(0, 1_000)),
    st.one_of(st.none(), st.integers(0, 500)),
    st.integers(0, 10**12),
    st.booleans(),
)
def test_within_the_bound_nothing_costs_more_than_the_hold(
    read: int | None, written: int | None, received: int, known: bool
) -> None:
    cost = prices.compute_settled_cost(Spent(Usage(read, written), received, outcome_known=known), HOLD)
    assert 0 <= cost.nanousd <= HOLD.nanousd
