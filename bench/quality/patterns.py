"""What the benches of layer 1 share: the packs' refuser and router, shares with an interval, a table."""

import math
import tomllib
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any

from bench.resources import read_own_cpu_s
from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.refuser import QuestionRefuser, TopicSelection
from proxy.guards.route import OverviewRouter
from proxy.settings.languages import LANGUAGE_TAGS, load_packs


def build_refuser(off: frozenset[str] = frozenset(), names: Sequence[str] = ()) -> QuestionRefuser:
    """Layer 1 with the patterns of all ten languages, without the topics `off`."""
    return QuestionRefuser(load_packs("refuse", RefusePack), TopicSelection(off=off), names)


def build_router(names: Sequence[str]) -> OverviewRouter:
    """The overview route, about a subject of these names."""
    return OverviewRouter(load_packs("refuse", RefusePack), names)


def load_own_set(name: str) -> dict[str, Any]:
    """A set of our own, in a TOML file beside this module."""
    return tomllib.loads((files("bench") / "quality" / f"{name}.toml").read_text("utf-8"))


def render_share(hits: int, total: int) -> str:
    """Percentage with its count and its 95 % interval (Wilson, 1927)."""
    if not total:
        return "–"
    z, p = 1.96, hits / total
    middle = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    low, high = max(middle - half, 0), min(middle + half, 1)
    return f"{100 * p:.1f} % ({hits}/{total}; {100 * low:.0f}–{100 * high:.0f})"


def render_markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def measure_cpu_ms(call: Callable[[str], object], texts: Sequence[str]) -> tuple[float, float]:
    """Median and 95th percentile of one call, in milliseconds of CPU: a busy machine does not count."""
    costs_ms = []
    for text in texts:
        began_s = read_own_cpu_s()
        call(text)
        costs_ms.append((read_own_cpu_s() - began_s) * 1e3)
    costs_ms.sort()
    return costs_ms[len(costs_ms) // 2], costs_ms[int(len(costs_ms) * 0.95)]


def order_tags(tags: Iterable[str]) -> list[str]:
    """Languages in the order of the packs, unknown ones last."""
    present = set(tags)
    return [tag for tag in LANGUAGE_TAGS if tag in present] + sorted(present - set(LANGUAGE_TAGS))
