"""Marks every sentence of an answer that came with its citations apart (structured mode)."""

from collections.abc import Sequence

from indexes.language import detect
from proxy.guards.gate import markers
from proxy.guards.gate.endings import Ends
from proxy.guards.gate.rules import Rules
from proxy.guards.gate.sentences import Scanner, Unit


def cited(text: str, numbers: Sequence[int], rules: Rules, language: str) -> str:
    """`text` with the markers of `numbers` behind every sentence that has none of its own.

    So the one gate judges both kinds of answer: each value must stand in one of the sources cited.
    """
    marks = "".join(f"[{number}]" for number in numbers)
    ends = Ends(rules.lexicons, language, lambda part, known: detect(part, rules.words, known) or known)
    scanner = Scanner(ends, len(text))
    return "".join(_marked(unit, marks) for unit in (*scanner.feed(text), *scanner.finish()))


def _marked(unit: Unit, marks: str) -> str:
    said = unit.text.rstrip()
    if unit.kind not in ("text", "row") or not said or markers.find(said):
        return unit.text
    return f"{said} {marks}{unit.text[len(said) :]}"
