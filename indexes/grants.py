"""Groups and validity: who may see what, and when. Pure; the truth decides with the same integers in SQL."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from indexes.types import Access, Viewer

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ALWAYS = EPOCH
"""`valid_from` of what states no beginning."""
FOREVER = 2**63 - 1
"""The instant that never comes, as stored: the end of what has none."""

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What a query may find, as the indexes know it. Empty `acls` or `sources` find nothing.

    `acls` are ids of group sets of which the viewer holds a group; `now` counts microseconds.
    """

    acls: frozenset[int]
    sources: frozenset[str]
    now: int
    languages: frozenset[str] = frozenset()
    """Empty: any, also documents of no stated language."""


def encode_instant(moment: datetime | None) -> int:
    """Microseconds since 1970 UTC, exact; None is `FOREVER`. Raises ValueError for a naive time."""
    if moment is None:
        return FOREVER
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return (moment - EPOCH) // _TICK


def decode_instant(instant: int) -> datetime | None:
    """The time that `encode_instant` made `instant` from."""
    return None if instant == FOREVER else EPOCH + instant * _TICK


def is_visible(access: Access, viewer: Viewer) -> bool:
    """True if the viewer holds a group of `access` and looks within its validity."""
    begun = access.valid_from <= viewer.now
    ended = access.valid_to is not None and viewer.now >= access.valid_to
    return begun and not ended and not access.groups.isdisjoint(viewer.groups)


def intersect_access(outer: Access, inner: Access) -> Access:
    """Both at once: groups common to both, within both validities."""
    ends = [end for end in (outer.valid_to, inner.valid_to) if end is not None]
    return Access(
        groups=outer.groups & inner.groups,
        valid_from=max(outer.valid_from, inner.valid_from),
        valid_to=min(ends, default=None),
    )
