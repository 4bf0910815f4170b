"""When an upstream that has failed is asked again: bounded, jittered, as the upstream itself asks."""

import math
import random
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from proxy.domain.types import UpstreamEnd

RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""529: overloaded, at Anthropic."""

FIRST_PAUSE_S = 0.5
PAUSE_S_MAX = 10.0  # a reader waits behind it: who asks for more gets an error now


def compute_pause_s(
    end: UpstreamEnd, attempt: int, draw_random: Callable[[], float] = random.random
) -> float | None:
    """Seconds to wait after attempt number `attempt` (from 1), or None: do not ask again.

    Only where no byte of an answer came; how many attempts there are is the caller's business, each has
    its own hold. Waits double from half a second, shortened by up to a half at random, so that many
    requests that failed together do not come back together.
    """
    if end.finish != "failed" or not _is_retryable(end):
        return None
    if end.retry_after_s is None:
        return min(FIRST_PAUSE_S * 2.0 ** (attempt - 1), PAUSE_S_MAX) * (1 - draw_random() / 2)
    if end.retry_after_s > PAUSE_S_MAX:
        return None
    return end.retry_after_s + draw_random() * FIRST_PAUSE_S


def _is_retryable(end: UpstreamEnd) -> bool:
    if end.status is None:
        return not end.was_silent
    return end.status in RETRYABLE_STATUSES


def parse_retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """What `Retry-After` (seconds or a date) or `Retry-After-Ms` asks for; `now` in Unix seconds."""
    try:
        if "retry-after-ms" in headers:
            wait_s = float(headers["retry-after-ms"]) / 1000
            return wait_s if 0 <= wait_s < math.inf else None
        value = headers.get("retry-after", "")
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None
