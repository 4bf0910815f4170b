"""JSON read strictly: what two parsers could read differently is refused, not guessed."""

import json
import re
from collections.abc import Iterator

from proxy.domain.errors import RequestError

DEPTH_MAX = 64
INTEGER_DIGITS_MAX = 20  # enough for every 64-bit number; Python itself would read thousands

_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(body: bytes) -> object:
    """The value in `body`.

    Raises `RequestError` (400) for anything but UTF-8, duplicate keys at any depth, NaN and infinities,
    over-long integers, deep nesting and lone surrogates: `json.loads` alone accepts all of these.
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_build_object,
            parse_int=_parse_integer,
            parse_float=_parse_float,
            parse_constant=_reject_constant,
        )
    except UnicodeDecodeError as fault:
        raise _build_json_error(f"is not UTF-8 (byte {fault.start})") from fault
    except json.JSONDecodeError as fault:
        raise _build_json_error(
            f"is not JSON: {fault.msg} at line {fault.lineno}, column {fault.colno}"
        ) from fault
    except RecursionError as fault:
        raise _build_json_error(f"is nested deeper than {DEPTH_MAX} levels") from fault
    _check_value(value)
    return value


def _build_json_error(what: str) -> RequestError:
    return RequestError(f"The request body {what}.", code="invalid_json")


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for name, value in pairs:
        if name in result:
            raise _build_json_error(f"says the key {name[:40]!r} twice; which one counts is not guessed")
        result[name] = value
    return result


def _parse_integer(text: str) -> int:
    if len(text) > INTEGER_DIGITS_MAX:
        raise _build_json_error(f"holds an integer of {len(text)} characters")
    return int(text)


def _parse_float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _build_json_error("holds a number too large for a 64-bit float")
    return value


def _reject_constant(text: str) -> float:
    raise _build_json_error(f"holds {text}, which is no JSON number")


def _check_value(value: object) -> None:
    """Depth and surrogates, without recursion: `value` is what we defend against."""
    level, depth = [value], 0
    while level:
        if any(isinstance(item, str) and _SURROGATE.search(item) for item in level):
            raise _build_json_error("holds half of a surrogate pair: a character was cut in two")
        if depth >= DEPTH_MAX and any(isinstance(item, dict | list) for item in level):
            raise _build_json_error(f"is nested deeper than {DEPTH_MAX} levels")
        level, depth = [child for item in level for child in _iterate_children(item)], depth + 1


def _iterate_children(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list):
        yield from value
