"""Which day and month money belongs to, and who may spend how much in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from proxy.domain.errors import ConfigError
from proxy.domain.types import Caller
from proxy.ledger.prices import dollars
from proxy.settings import tree

DEPLOYMENT = "deployment"


@dataclass(frozen=True, slots=True)
class Cap:
    """Nano-dollars a month and a day; None: no cap."""

    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Caps:
    """The caps of the configuration. A key's own caps come with its caller."""

    deployment: Cap = Cap()
    groups: Mapping[str, Cap] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Period:
    """A day `2026-11-30` and its month `2026-11`, in the ledger's time zone: text that sorts as time does."""

    day: str
    month: str


def caps(settings: tree.Ledger) -> Caps:
    """The caps in nano-dollars."""
    groups = {name: _cap(cap.usd_month, cap.usd_day) for name, cap in settings.groups.items()}
    return Caps(_cap(settings.usd_month, settings.usd_day), groups)


def zone(name: str) -> ZoneInfo:
    """The named time zone. Raises ConfigError for an unknown name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
        raise ConfigError(f"ledger.time_zone: want an IANA name like Europe/Berlin, got {name!r}") from fault


def period(now: float, where: ZoneInfo) -> Period:
    """The period of a moment in Unix seconds. Days begin at whole minutes in every zone: one is kept."""
    return _period(int(now // 60), where)


@lru_cache(maxsize=8)
def _period(minute: int, where: ZoneInfo) -> Period:
    day = datetime.fromtimestamp(minute * 60, where).strftime("%Y-%m-%d")
    return Period(day, day[:7])


def accounts(key_id: str, groups: Iterable[str]) -> list[str]:
    """Whose balances a request touches: `deployment`, `key:ID` and a `group:NAME` each."""
    key = [f"key:{key_id}"] if key_id else []
    return [DEPLOYMENT, *key, *(f"group:{name}" for name in sorted(groups))]


def capped(caller: Caller, limits: Caps) -> list[tuple[str, Cap]]:
    """Those of them that have a cap."""
    own = Cap(caller.cap_nanousd_month, caller.cap_nanousd_day)
    every = [
        (DEPLOYMENT, limits.deployment),
        (f"key:{caller.key_id}", own),
        *((f"group:{name}", limits.groups[name]) for name in caller.groups if name in limits.groups),
    ]
    return [(name, cap) for name, cap in every if cap != Cap()]


def _cap(usd_month: float | None, usd_day: float | None) -> Cap:
    return Cap(
        None if usd_month is None else dollars(usd_month), None if usd_day is None else dollars(usd_day)
    )
