"""An answer whose citations came apart from it (structured mode): every sentence gets them as markers."""

from collections.abc import Sequence

from indexes.text.language import detect_language
from indexes.text.words import find_content_words, split_words
from proxy.domain.types import Source
from proxy.gate import markers
from proxy.gate.endings import SentenceEndDetector
from proxy.gate.gate import Gate
from proxy.gate.rules import GateRules
from proxy.gate.sentences import SentenceScanner, SentenceSpan
from proxy.gate.types import GateRule, Stop


def append_markers(text: str, numbers: Sequence[int], rules: GateRules, language: str) -> str:
    """`text` with the markers of `numbers` behind every sentence that has none of its own.

    So the one gate judges both kinds of answer: each value must stand in one of the sources cited.
    """
    suffix = "".join(f"[{number}]" for number in numbers)
    end_detector = SentenceEndDetector(
        rules.lexicons, language, lambda part, default: detect_language(part, rules.words, default) or default
    )
    scanner = SentenceScanner(end_detector, len(text))
    return "".join(_mark_sentence(unit, suffix) for unit in (*scanner.feed(text), *scanner.finish()))


def _mark_sentence(unit: SentenceSpan, suffix: str) -> str:
    content = unit.text.rstrip()
    if unit.kind not in ("text", "row") or not content or markers.find_markers(content):
        return unit.text
    return f"{content} {suffix}{unit.text[len(content) :]}"


def is_contentless_reply(text: str, sources: Sequence[Source], rules: GateRules, language: str) -> bool:
    """Whether `text` needs no marker anywhere, and has no content word of `sources`: "ok", "refused".

    Citations given for the whole would otherwise make an answer of what a marker beside it could not.
    """
    gate = Gate(sources, language, rules)
    outputs = [*gate.feed(text), *gate.finish()]
    if not any(isinstance(output, Stop) and output.rule == GateRule.UNCITED for output in outputs):
        return False
    answer_words = frozenset(
        find_content_words(text, rules.words[detect_language(text, rules.words) or language].stop)
    )
    return all(answer_words.isdisjoint(split_words(source.text)) for source in sources)
