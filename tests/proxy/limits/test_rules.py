"""limits: what is over a limit is told which and until when; what fails lets through."""

import asyncio
import contextlib
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.domain.errors import LimitError
from proxy.domain.types import Caller
from proxy.limits import LimitRule, MemoryLimitStore, RateLimits, find_client_address, parse_networks
from proxy.limits.rules import WindowFull
from proxy.settings import tree

ALICE = Caller("k1", "alice", frozenset())
OFF = {"address_minute": 0, "address_hour": 0, "address_day": 0, "key_minute": 0, "key_concurrent": 0}


def make_limits(now: list[float], **counts: int) -> RateLimits:
    settings = tree.LimitSettings.model_validate(OFF | counts)
    return RateLimits(settings, MemoryLimitStore(table_max=100), clock=lambda: now[0])


async def count_admitted(
    limit: RateLimits, tries: int, caller: Caller = ALICE, address: str = "1.1.1.1"
) -> int:
    """How many of that many requests pass."""
    count = 0
    for _ in range(tries):
        with contextlib.suppress(LimitError):
            async with limit.enter(caller, address):
                count += 1
    return count


@pytest.mark.parametrize(
    ("name", "seconds"),
    [("address_minute", 60), ("address_hour", 3_600), ("address_day", 86_400), ("key_minute", 60)],
)
async def test_a_window_lets_its_count_through_and_refills_bit_by_bit(name: str, seconds: float) -> None:
    now = [1_000_000.0]
    limit = make_limits(now, **{name: 10})
    assert await count_admitted(limit, 50) == 10
    now[0] += seconds / 10 + 0.001
    assert await count_admitted(limit, 50) == 1
    now[0] += seconds
    assert await count_admitted(limit, 50) == 10


async def test_the_error_names_the_limit_and_when_to_come_back() -> None:
    now = [1_000_000.0]
    limit = make_limits(now, address_minute=2)
    await count_admitted(limit, 2)
    with pytest.raises(LimitError, match="address_minute allows 2 in 60 seconds") as caught:
        async with limit.enter(ALICE, "1.1.1.1"):
            pass
    assert (caught.value.limit, round(caught.value.retry_after_s, 3)) == ("address_minute", 30)


async def test_a_refused_request_uses_up_nothing() -> None:
    now = [1_000_000.0]
    limit = make_limits(now, address_hour=100, key_minute=1)
    assert await count_admitted(limit, 90) == 1
    assert await count_admitted(limit, 99, Caller("k2", "", frozenset())) == 1
    assert [await count_admitted(limit, 1, Caller(f"n{n}", "", frozenset())) for n in range(98)] == [1] * 98
    assert await count_admitted(limit, 1, Caller("last", "", frozenset())) == 0


async def test_requests_at_once_are_counted_and_freed_also_by_a_fault() -> None:
    limit = make_limits([0.0], key_concurrent=2)
    async with AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(limit.enter(ALICE, ""))
        assert await count_admitted(limit, 1) == 0
        assert await count_admitted(limit, 1, Caller("k2", "", frozenset())) == 1
    with contextlib.suppress(RuntimeError):
        async with limit.enter(ALICE, ""):
            raise RuntimeError
    assert await count_admitted(limit, 5) == 5


async def test_a_cancelled_request_frees_its_place() -> None:
    limit = make_limits([0.0], key_concurrent=1)
    entered = asyncio.Event()

    async def hold_place() -> None:
        async with limit.enter(ALICE, ""):
            entered.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(hold_place())
    await entered.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await count_admitted(limit, 1) == 1


async def test_zero_turns_a_limit_off() -> None:
    limit = make_limits([0.0])
    assert await count_admitted(limit, 500) == 500
    assert limit.list_rules(ALICE, "1.1.1.1") == ()


async def test_two_hundred_made_up_addresses_do_not_pass_the_limit() -> None:
    limit = make_limits([1_000.0], address_minute=10)
    for trusted, peer, claim in (((), "6.6.6.6", "{}"), (("10.0.0.0/8",), "10.0.0.1", "{}, 7.7.7.7")):
        ours = parse_networks(trusted)
        count = 0
        for number in range(200):
            headers = {"x-forwarded-for": claim.format(f"1.2.3.{number}")}
            count += await count_admitted(limit, 1, address=find_client_address(peer, headers, ours))
        assert count == 10


async def test_the_addresses_of_one_ipv6_network_share_a_limit() -> None:
    limit = make_limits([1_000.0], address_minute=10)
    seen = [find_client_address(f"2001:db8::{number:x}", {}, ()) for number in range(1, 200)]
    assert sum([await count_admitted(limit, 1, address=where) for where in seen]) == 10


async def test_tables_are_bounded_and_the_busy_stay() -> None:
    limit = make_limits([1_000.0], address_minute=5)
    for number in range(1_000):
        await count_admitted(limit, 1, address=f"a{number}")
        await count_admitted(limit, 1, address="busy")
    assert isinstance(limit.store, MemoryLimitStore)
    assert len(limit.store) <= 100
    assert await count_admitted(limit, 1, address="busy") == 0


async def test_a_clock_that_is_put_back_does_not_lock_anyone_out() -> None:
    now = [1_000_000.0]
    limit = make_limits(now, address_minute=10)
    await count_admitted(limit, 10)
    now[0] -= 86_400
    assert await count_admitted(limit, 1) == 1


class BrokenLimitStore:
    """A store that fails, or hangs."""

    def __init__(self, hangs: bool):
        self.hangs = hangs

    async def count_request(self, rules: Sequence[LimitRule], now: float) -> WindowFull | None:
        if self.hangs:
            await asyncio.sleep(60)
        raise OSError("gone")

    async def end_request(self, rules: Sequence[LimitRule]) -> None:
        raise OSError("gone")


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_store_that_is_down_lets_through_and_is_counted(hangs: bool) -> None:
    limit = RateLimits(tree.LimitSettings(), BrokenLimitStore(hangs))
    async with limit.enter(ALICE, "1.1.1.1"):
        pass
    assert limit.failure_count == 1


@given(
    st.integers(1, 20),
    st.lists(st.floats(min_value=0, max_value=30, allow_nan=False), min_size=1, max_size=80),
)
async def test_no_window_ever_sees_more_than_twice_its_count(count: int, gaps: list[float]) -> None:
    """A bucket of `count` that refills `count` a window lets at most 2 × count into any one window."""
    now, times = [1_000.0], []
    limit = make_limits(now, address_minute=count)
    for gap in gaps:
        now[0] += gap
        if await count_admitted(limit, 1):
            times.append(now[0])
    assert all(sum(start <= moment < start + 60 for moment in times) <= 2 * count for start in times)
