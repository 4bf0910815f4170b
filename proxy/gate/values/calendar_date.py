"""What is known of a date, and under which keys a source holds it."""

from dataclasses import dataclass

from proxy.gate.values.page import ValuePage
from proxy.gate.values.types import Value

_CALENDARS = ("jalali", "hijri")


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """What is known of a date; 0 for a part that is not.

    `calendar` is "" for the Gregorian one, and "other" where it may be either of `_CALENDARS`.
    """

    year: int = 0
    month: int = 0
    day: int = 0
    calendar: str = ""

    @property
    def is_possible(self) -> bool:
        return 0 <= self.month <= 12 and 0 <= self.day <= 31

    @property
    def key(self) -> str:
        """`date:2024-05-01`, `date:2024-05`, `date:--05-01`, `date:--05`."""
        year = f"{self.year:04d}" if self.year else "-"
        day = f"-{self.day:02d}" if self.day else ""
        mark = f"@{self.calendar}" if self.calendar and not self.year else ""
        return f"date:{year}-{self.month:02d}{day}{mark}"

    @property
    def source_keys(self) -> tuple[str, ...]:
        """The date and every less exact form of it, and its year as a number."""
        short = CalendarDate(0, self.month, self.day, self.calendar).key
        month = CalendarDate(0, self.month, 0, self.calendar).key
        if not self.year:
            return (short, month, _format_yearless_key(short), _format_yearless_key(month))
        if self.calendar == "other":  # 1403 may be of either calendar
            named = (
                CalendarDate(0, self.month, day, name).key for day in (self.day, 0) for name in _CALENDARS
            )
            return (self.key, CalendarDate(self.year, self.month).key, *named, f"n:{self.year}")
        return (self.key, CalendarDate(self.year, self.month).key, short, month, f"n:{self.year}")

    @property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """The date; or its day where the source names no year, and its year elsewhere in it."""
        if not self.year:
            return ((self.key,),)
        short = CalendarDate(0, self.month, self.day, self.calendar)
        return ((self.key,), (_format_yearless_key(short.key), f"n:{self.year}"))


def _format_yearless_key(key: str) -> str:
    """The key that only a source without the year holds."""
    return f"yearless {key}"


def build_date_value(page: ValuePage, span: tuple[int, int], dates: list[CalendarDate]) -> Value:
    """A date that may be read in any of the ways `dates`; the first is its key."""
    alternatives = [keys for date in dates for keys in date.alternatives]
    return page.build_value(
        "date",
        dates[0].key,
        span,
        alternatives=alternatives,
        source_keys=[key for date in dates for key in date.source_keys],
    )
