"""An answer that came with its citations apart (structured mode): every sentence gets them as markers."""

from collections.abc import Sequence

from indexes.text.language import detect_language
from indexes.text.words import find_content_words, split_words
from proxy.domain.types import Source
from proxy.gate import markers
from proxy.gate.endings import Ends
from proxy.gate.gate import Gate
from proxy.gate.rules import Rules
from proxy.gate.sentences import Scanner, Unit
from proxy.gate.types import Stop


def cited(text: str, numbers: Sequence[int], rules: Rules, language: str) -> str:
    """`text` with the markers of `numbers` behind every sentence that has none of its own.

    So the one gate judges both kinds of answer: each value must stand in one of the sources cited.
    """
    marks = "".join(f"[{number}]" for number in numbers)
    ends = Ends(
        rules.lexicons, language, lambda part, known: detect_language(part, rules.words, known) or known
    )
    scanner = Scanner(ends, len(text))
    return "".join(_marked(unit, marks) for unit in (*scanner.feed(text), *scanner.finish()))


def _marked(unit: Unit, marks: str) -> str:
    said = unit.text.rstrip()
    if unit.kind not in ("text", "row") or not said or markers.find(said):
        return unit.text
    return f"{said} {marks}{unit.text[len(said) :]}"


def scrap(text: str, sources: Sequence[Source], rules: Rules, language: str) -> bool:
    """Whether `text` needs no marker anywhere, and has no content word of `sources`: "ok", "refused".

    Citations given for the whole would otherwise make an answer of what a marker beside it could not.
    """
    gate = Gate(sources, language, rules)
    judged = [*gate.feed(text), *gate.finish()]
    if not any(isinstance(said, Stop) and said.rule == "uncited" for said in judged):
        return False
    own = frozenset(
        find_content_words(text, rules.words[detect_language(text, rules.words) or language].stop)
    )
    return all(own.isdisjoint(split_words(source.text)) for source in sources)
