"""The gate: text in, released sentences out, until one fails. No I/O, clock, logging or async."""

from collections.abc import Sequence
from typing import Literal

from indexes.text.folding import fold_text
from proxy.domain.types import Source
from proxy.gate import markers
from proxy.gate.boundary import extract_tail
from proxy.gate.checks import CHECKS, CODE_CHECKS, AnswerSentence, read_sentence_values
from proxy.gate.echo import split_tokens
from proxy.gate.endings import SentenceEndDetector
from proxy.gate.evidence import SourceText
from proxy.gate.listing import ListNumberParser
from proxy.gate.rules import GateRules
from proxy.gate.sentence_language import BEGINNING_LEAD_POINTS, detect_sentence_language
from proxy.gate.sentences import SentenceScanner, SentenceSpan
from proxy.gate.types import GateRule, Release, Stop
from proxy.gate.values import TextValues

GateOutputs = list[Release | Stop]


class Gate:
    """One answer's gate over the sources handed to the model.

    `feed` and `finish` give what may be sent now; a `Stop` is the last word, and everything after it is
    dropped. What is given and the verdict depend on the text alone, never on the pieces in which it came.
    """

    def __init__(self, sources: Sequence[Source], language: str, rules: GateRules) -> None:
        self._source_texts = {source.number: SourceText(source, rules) for source in sources}
        self._language = language
        self._rules = rules
        self._scanner = SentenceScanner(
            SentenceEndDetector(rules.lexicons, language, self._detect_partial_language),
            rules.sentence_chars_max,
        )
        self._list_parser = ListNumberParser(rules.months)
        self._leading_releases: list[Release] | None = []
        """Held until one of them is cited; empty: nothing has passed yet, None: one was cited."""
        self._leading_chars = 0
        self._lead_numbers: tuple[int, ...] = ()
        """Numbers that the line before a block of code points at."""
        self._is_in_fence = False
        self._recent_words: Sequence[str] = ()
        """The last words that passed, in which an echo may begin."""
        self._tail = ""
        """The end of the text that passed, with which the next sentence may fuse."""
        self._events_max = rules.output_cap
        self._event_count = 0
        self._bytes_left = _compute_bytes_max(rules)
        self._is_stopped = False

    def feed(self, text: str) -> GateOutputs:
        """What `text`, one content event of the upstream, lets out."""
        if self._is_stopped or not text:
            return []
        if self._events_max is not None:
            self._event_count += 1
            if self._event_count > self._events_max:
                return self._stop_answer(
                    Stop(GateRule.CAP, "truncated", detail="more content events than the output cap")
                )
            allowed_text = self._clip_to_cap(text)
            if len(allowed_text) < len(text):
                return self._stop_at_cap(self._scan_text(allowed_text))
        return self._scan_text(text)

    def finish(self, ending: Literal["stop", "length", "cut"] = "stop") -> GateOutputs:
        """The upstream is done. After `length` and `cut` the unfinished sentence is dropped."""
        if self._is_stopped:
            return []
        if ending != "stop":
            return self._stop_answer(
                Stop(GateRule.LENGTH, "truncated", detail=f"the upstream ended by {ending}")
            )
        outputs = self._judge_units(self._scanner.finish())
        if not self._is_stopped and self._leading_releases is not None:
            outputs += self._stop_answer(
                Stop(GateRule.UNCITED, "not_in_sources", detail="no sentence of it is cited")
            )
        self._is_stopped = True
        return outputs

    def _scan_text(self, text: str) -> GateOutputs:
        units = self._scanner.feed(text)
        outputs = self._judge_units(units) if units else []
        if self._is_stopped or not (self._leading_releases == [] or self._scanner.is_overlong):
            return outputs
        pending = self._scanner.pending_text
        if (
            self._leading_releases == []
            and len(pending) - len(text) <= self._rules.token_end_max
            and self._has_leading_token(pending)
        ):
            return self._stop_answer(self._build_token_stop(pending))
        if self._scanner.is_overlong:
            outputs += self._stop_answer(self._build_overlong_stop(pending))
        return outputs

    def _has_leading_token(self, pending: str) -> bool:
        """Whether the answer begins with the fixed token, certainly whole: so it need not be waited out."""
        m = self._rules.leading_token_pattern.match(pending)
        return m is not None and m.end() < len(pending)

    def _stop_at_cap(self, outputs: GateOutputs) -> GateOutputs:
        if self._is_stopped:
            return outputs
        return outputs + self._stop_answer(
            Stop(GateRule.CAP, "truncated", detail="more bytes than the output cap allows")
        )

    def _judge_units(self, units: Sequence[SentenceSpan]) -> GateOutputs:
        outputs: GateOutputs = []
        for unit in units:
            outputs += self._judge_unit(unit)
            if self._is_stopped:
                break
        return outputs

    def _judge_unit(self, unit: SentenceSpan) -> GateOutputs:
        if len(unit.text) > self._rules.sentence_chars_max:
            return self._stop_answer(self._build_overlong_stop(unit.text))
        if self._rules.has_token(unit.text):
            return self._stop_answer(self._build_token_stop(unit.text))
        sentence = self._read_sentence(unit)
        if unknown_numbers := [n for n in sentence.source_numbers if n not in self._source_texts]:
            return self._stop_answer(
                sentence.build_stop(
                    GateRule.RANGE, f"[{unknown_numbers[0]}]", "points at no source handed over"
                )
            )
        for check in CODE_CHECKS if unit.kind in ("code", "fence") else CHECKS:
            if stop := check(sentence):
                return self._stop_answer(stop)
        return self._release_sentence(unit, sentence)

    def _read_sentence(self, unit: SentenceSpan) -> AnswerSentence:
        """The sentence as the checks see it: the numbers of its markers read, the markers themselves gone."""
        is_code = unit.kind in ("code", "fence")
        found_markers = () if is_code else markers.find_markers(unit.text)
        source_numbers = (
            self._lead_numbers
            if is_code
            else tuple(dict.fromkeys(n for marker in found_markers for n in marker.numbers))
        )
        text = markers.strip_markers(unit.text, found_markers)
        folded = fold_text(text)
        language = detect_sentence_language(text, self._language, self._rules.words)
        unnumbered_text = self._list_parser.strip_list_number(text, unit.is_line_start)
        return AnswerSentence(
            text=text,
            kind=unit.kind,
            source_numbers=source_numbers,
            sources=tuple(self._source_texts[n] for n in source_numbers if n in self._source_texts),
            language=language,
            unnumbered_text=unnumbered_text,
            values=TextValues() if is_code else read_sentence_values(unnumbered_text, language, self._rules),
            folded=folded,
            words=[*self._recent_words, *split_tokens(folded)],
            own_start=len(self._recent_words),
            tail=self._tail,
            rules=self._rules,
        )

    def _release_sentence(self, unit: SentenceSpan, sentence: AnswerSentence) -> GateOutputs:
        self._recent_words = sentence.words[-self._rules.echo.tail_words_max :]
        self._tail = extract_tail(sentence.text, self._tail)
        self._keep_lead_numbers(unit, sentence.source_numbers)
        release = Release(sentence.text, sentence.source_numbers)
        if self._leading_releases is None:
            return [release]
        self._leading_releases.append(release)
        if sentence.source_numbers and sentence.word_count and unit.kind in ("text", "head", "row"):
            outputs: GateOutputs = [*self._leading_releases]
            self._leading_releases = None
            return outputs
        self._leading_chars += len(release.text)
        if self._leading_chars > self._rules.sentence_chars_max:
            return self._stop_answer(
                Stop(GateRule.UNCITED, "not_in_sources", detail="no sentence of it is cited so far")
            )
        return []

    def _keep_lead_numbers(self, unit: SentenceSpan, source_numbers: tuple[int, ...]) -> None:
        """Keeps the sources of the line under way, in case a block of code follows it."""
        if unit.kind == "fence":
            self._is_in_fence = not self._is_in_fence
            self._lead_numbers = self._lead_numbers if self._is_in_fence else ()
        elif unit.kind != "code" and unit.text.strip():
            self._lead_numbers = (
                source_numbers
                if unit.is_line_start
                else tuple(dict.fromkeys((*self._lead_numbers, *source_numbers)))
            )

    def _detect_partial_language(self, text: str, default: str) -> str:
        """Language of a sentence that is not all there yet."""
        return detect_sentence_language(text, default, self._rules.words, BEGINNING_LEAD_POINTS)

    def _clip_to_cap(self, text: str) -> str:
        """The beginning of `text` that the cap on bytes still allows."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if size <= self._bytes_left:
            self._bytes_left -= size
            return text
        kept = text.encode("utf-8", "surrogatepass")[: self._bytes_left]
        self._bytes_left = 0
        return kept.decode("utf-8", "ignore")

    def _build_token_stop(self, text: str) -> Stop:
        is_first = self._leading_releases == [] and self._rules.leading_token_pattern.match(text)
        return Stop(GateRule.TOKEN, "not_in_sources" if is_first else "stopped", self._rules.token)

    def _build_overlong_stop(self, text: str) -> Stop:
        return Stop(
            GateRule.LONG, "stopped", text[:80], detail=f"above {self._rules.sentence_chars_max} characters"
        )

    def _stop_answer(self, stop: Stop) -> GateOutputs:
        self._is_stopped = True
        self._leading_releases = None
        self._scanner.pending_text = ""
        return [stop]


def _compute_bytes_max(rules: GateRules) -> int:
    return (rules.output_cap or 0) * rules.output_bytes_per_token_max
