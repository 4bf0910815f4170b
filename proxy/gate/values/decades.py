"""Names of ten years: the 1970s, the 70s, 70年代. A short name may be of any century, a full one not."""

from dataclasses import dataclass

CENTURIES = ("19", "20")
"""What a source that says "the 80s" may be told in full as."""


@dataclass(frozen=True, slots=True)
class DecadeKeys:
    """The keys of a decade; empty: it is none."""

    alternatives: tuple[str, ...] = ()
    """What it asks for in an answer, any one of them."""
    source_keys: tuple[str, ...] = ()
    """What it holds in a source."""


def build_decade_keys(digits: str) -> DecadeKeys:
    """The keys of the ten years from `digits`: 1970 or 70."""
    key, tens = f"n:{digits}", digits[-2:]
    if len(digits) == 2:
        return DecadeKeys((key, f"decade:{tens}"), (key, f"decade:{tens}", f"short:{tens}"))
    short = (f"short:{tens}",) if digits[:-2] in CENTURIES else ()
    return DecadeKeys((key, *short), (key, f"decade:{tens}"))
