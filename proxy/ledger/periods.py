"""Which day and month money belongs to, and who may spend how much in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from proxy.errors import ConfigError
from proxy.ledger.prices import dollars
from proxy.settings import tree
from proxy.types import Caller

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


@dataclass(frozen=True, slots=True)
class Account:
    """One balance: whose, in which day or month, and its cap in nano-dollars."""

    name: str
    period: str
    cap: int | None = None


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
    """The period of a moment in Unix seconds."""
    day = datetime.fromtimestamp(now, where).strftime("%Y-%m-%d")
    return Period(day, day[:7])


def accounts(caller: Caller, limits: Caps, when: Period) -> list[Account]:
    """Every balance that this caller's request touches: deployment, key and groups, by month and by day."""
    key = [(f"key:{caller.key_id}", Cap(caller.cap_nanousd_month, caller.cap_nanousd_day))]
    owners = [
        (DEPLOYMENT, limits.deployment),
        *(key if caller.key_id else []),
        *((f"group:{name}", limits.groups.get(name, Cap())) for name in sorted(caller.groups)),
    ]
    return [
        account
        for name, cap in owners
        for account in (Account(name, when.month, cap.month), Account(name, when.day, cap.day))
    ]


def _cap(usd_month: float | None, usd_day: float | None) -> Cap:
    return Cap(
        None if usd_month is None else dollars(usd_month), None if usd_day is None else dollars(usd_day)
    )
