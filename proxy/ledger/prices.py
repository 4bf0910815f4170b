"""What an attempt can cost at most, and what it did cost: integers in nano-dollars, always rounded up.

Floats never meet money: a configured price goes through its decimal text, so `0.15` is exactly 150.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from proxy.domain.ports import CostBound, Hold, Prices, Settled, Spent

TOKENS_MAX = 10**10
"""More than any model can read or write: a report above it is nonsense and counts as none."""


def convert_token_price(usd_per_million: float) -> int:
    """Nano-dollars per token of a price in US dollars per million tokens, rounded up."""
    return int((Decimal(str(usd_per_million)) * 1000).to_integral_value(ROUND_CEILING))


def convert_cap_usd(amount_usd: float) -> int:
    """Nano-dollars of a cap in US dollars, rounded down: a cap is never wider than written."""
    return int((Decimal(str(amount_usd)) * 10**9).to_integral_value(ROUND_FLOOR))


def compute_bound(
    body_bytes: int,
    *,
    template_tokens: int,
    tokens_per_byte_max: float,
    output_cap: int,
    reasoning_cap: int,
    prices: Prices,
) -> CostBound:
    """Upper bound of one attempt: no byte-level tokenizer makes more than one token of a byte.

    `tokens_per_byte_max` is 1, or the configured factor for a tokenizer that is not byte-level. Every byte of
    the upstream body counts, JSON punctuation included, which leaves room for what the upstream's own
    template adds beyond `template_tokens`.
    """
    factor = Decimal(str(tokens_per_byte_max))
    input_tokens = int((body_bytes * factor).to_integral_value(ROUND_CEILING)) + template_tokens
    output_tokens = output_cap + reasoning_cap
    return CostBound(input_tokens, output_tokens, compute_cost(input_tokens, output_tokens, prices))


def compute_cost(input_tokens: int, output_tokens: int, prices: Prices) -> int:
    """Nano-dollars of that many tokens."""
    return input_tokens * prices.input_nanousd + output_tokens * prices.output_nanousd


def compute_settled_cost(spent: Spent, hold: Hold) -> Settled:
    """The cost to book: as reported, gaps filled with what was received, unknown outcomes at the bound.

    Reported figures are exact even above the hold; only what is filled in is capped at it.
    """
    if not spent.was_sent:
        return Settled(0, 0, 0)
    input_tokens, output_tokens = (
        _validate_token_count(spent.usage.input),
        _validate_token_count(spent.usage.output),
    )
    if input_tokens is None:
        input_tokens = hold.input_tokens
    if output_tokens is None:
        output_tokens = (
            min(spent.received_bytes, hold.output_tokens) if spent.outcome_known else hold.output_tokens
        )
    return Settled(input_tokens, output_tokens, compute_cost(input_tokens, output_tokens, hold.prices))


def choose_cost_basis(spent: Spent) -> str:
    """What a booked cost rests on, for the books: `unsent`, `reported`, `bound` or `filled`."""
    if not spent.was_sent:
        return "unsent"
    if (
        _validate_token_count(spent.usage.input) is not None
        and _validate_token_count(spent.usage.output) is not None
    ):
        return "reported"
    return "filled" if spent.outcome_known else "bound"


def _validate_token_count(tokens: int | None) -> int | None:
    """A reported count if it can be one; anything else counts as not reported."""
    return tokens if tokens is not None and 0 <= tokens <= TOKENS_MAX else None
