"""Parsed JSON of an upstream, whatever it sent: what the dialects read it with."""

import json


def ensure_dict(value: object) -> dict[str, object]:
    """`value` if it is an object, an empty one otherwise: a missing or odd part of an event says nothing."""
    return value if isinstance(value, dict) else {}


def parse_token_count(value: object) -> int | None:
    """A plausible number of tokens, or None."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None


def render_json(value: object) -> str:
    """Any parsed JSON as text again, for the bill and our log; never raises, whatever an upstream sent.

    ASCII, since half surrogate pairs have no bytes.
    """
    try:
        return json.dumps(value, default=str)
    except (ValueError, RecursionError):
        return "(nested too deep to be shown)"
