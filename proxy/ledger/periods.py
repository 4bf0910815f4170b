"""Which day and month money belongs to, and who may spend how much in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from proxy.domain.errors import ConfigError
from proxy.domain.types import Caller
from proxy.ledger.prices import convert_cap_usd
from proxy.settings import tree

DEPLOYMENT_ACCOUNT = "deployment"


@dataclass(frozen=True, slots=True)
class SpendCap:
    """Nano-dollars a month and a day; None: no cap."""

    month_nanousd: int | None = None
    day_nanousd: int | None = None


@dataclass(frozen=True, slots=True)
class DeploymentCaps:
    """The caps of the configuration. A key's own caps come with its caller."""

    deployment: SpendCap = SpendCap()
    groups: Mapping[str, SpendCap] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Period:
    """A day `2026-11-30` and its month `2026-11`, in the ledger's time zone: text that sorts as time does."""

    day: str
    month: str


def build_caps(settings: tree.LedgerSettings) -> DeploymentCaps:
    """The caps in nano-dollars."""
    groups = {name: _build_spend_cap(cap.usd_month, cap.usd_day) for name, cap in settings.groups.items()}
    return DeploymentCaps(_build_spend_cap(settings.usd_month, settings.usd_day), groups)


def load_time_zone(name: str) -> ZoneInfo:
    """The named time zone. Raises ConfigError for an unknown name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
        raise ConfigError(f"ledger.time_zone: want an IANA name like Europe/Berlin, got {name!r}") from fault


def find_period(now: float, zone: ZoneInfo) -> Period:
    """The period of a moment in Unix seconds, kept by the minute: days begin at whole ones in every zone."""
    return _compute_period(int(now // 60), zone)


@lru_cache(maxsize=8)
def _compute_period(minute: int, zone: ZoneInfo) -> Period:
    day = datetime.fromtimestamp(minute * 60, zone).strftime("%Y-%m-%d")
    return Period(day, day[:7])


def list_accounts(key_id: str, groups: Iterable[str]) -> list[str]:
    """Whose balances a request touches: `deployment`, `key:ID` and a `group:NAME` each."""
    key = [f"key:{key_id}"] if key_id else []
    return [DEPLOYMENT_ACCOUNT, *key, *(f"group:{name}" for name in sorted(groups))]


def list_capped_accounts(caller: Caller, caps: DeploymentCaps) -> list[tuple[str, SpendCap]]:
    """Those accounts of the caller that have a cap, each with its cap."""
    own = SpendCap(caller.cap_nanousd_month, caller.cap_nanousd_day)
    every = [
        (DEPLOYMENT_ACCOUNT, caps.deployment),
        (f"key:{caller.key_id}", own),
        *((f"group:{name}", caps.groups[name]) for name in caller.groups if name in caps.groups),
    ]
    return [(name, cap) for name, cap in every if cap != SpendCap()]


def _build_spend_cap(usd_month: float | None, usd_day: float | None) -> SpendCap:
    return SpendCap(
        None if usd_month is None else convert_cap_usd(usd_month),
        None if usd_day is None else convert_cap_usd(usd_day),
    )
