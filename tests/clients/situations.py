"""The four situations that every client is put into, and what it must have shown in each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.clients.environments import ClientAnswer


@dataclass(frozen=True, slots=True)
class ClientSituation:
    """One question to one model under one key, and what its answer must and must not hold."""

    model: str
    key: str
    question: str
    holds: str
    lacks: str = r"\[\d+\]"


BASIC = "What does the Basic plan cost a month?"
RATES = "What are Darya Quintanar's rates for a restoration?"

SITUATIONS: Mapping[str, ClientSituation] = {
    "answered": ClientSituation("help", "public", BASIC, r"12\.50 euros[\s\S]*https://tolva"),
    "refused": ClientSituation("person", "public", RATES, r"\w{4}"),
    "stopped": ClientSituation(
        "help-lying", "public", "What does the Workshop plan cost?", r"29 euros", r"36|coffee|\[\d+\]"
    ),
    "over budget": ClientSituation("help", "empty", BASIC, r"\w{4}", r"12\.50"),
}


def find_client_faults(seen: ClientAnswer, reference: Mapping[str, str]) -> list[str]:
    """What is wrong with what a client showed; `reference`: the texts as they are on the wire."""
    if seen.error:
        return [f"error: {seen.error[:200]}"]
    situation = SITUATIONS[seen.question]
    found = []
    if not re.search(situation.holds, seen.text):
        found.append(f"lacks {situation.holds!r}: {seen.text[:80]!r}")
    if match := re.search(situation.lacks, seen.text):
        found.append(f"shows {match.group()!r}")
    if seen.text != reference[seen.question]:
        found.append("text differs from the wire")
    if seen.finish != "stop":
        found.append(f"finish {seen.finish!r}")
    if seen.usage is None:
        found.append("no usage")
    return found
