"""Waiting for what must come, however busy the machine is: sleeping for long enough is a guess."""

import asyncio
from collections.abc import Awaitable, Callable


async def wait_until(condition: Callable[[], bool | Awaitable[bool]], within_s: float = 60) -> None:
    """Returns once `true()` is; raises TimeoutError if that takes longer than anything may."""
    async with asyncio.timeout(within_s):
        while not await _evaluate_condition(condition()):  # noqa: ASYNC110 - whatever is asked has no event
            await asyncio.sleep(0.01)


async def _evaluate_condition(answer: bool | Awaitable[bool]) -> bool:
    return answer if isinstance(answer, bool) else await answer
