"""The gate: text in, released sentences out, until one fails. No I/O, clock, logging or async."""

from collections.abc import Sequence
from typing import Literal

from indexes.text.folding import fold_text
from proxy.domain.types import Source
from proxy.gate import markers
from proxy.gate.boundary import tail
from proxy.gate.checks import CHECKS, CODE_CHECKS, Sentence, valued
from proxy.gate.echo import tokens
from proxy.gate.endings import Ends
from proxy.gate.evidence import Evidence
from proxy.gate.listing import Listing
from proxy.gate.rules import Rules
from proxy.gate.sentence_language import BEGINNING_LEAD, tongue
from proxy.gate.sentences import Scanner, Unit
from proxy.gate.types import Release, Stop
from proxy.gate.values import Values

Said = list[Release | Stop]


class Gate:
    """One answer's gate over the sources handed to the model.

    `feed` and `finish` give what may be sent now; a `Stop` is the last word, and everything after it is
    dropped. Given and verdict depend on the text alone, never on the pieces in which it came.
    """

    def __init__(self, sources: Sequence[Source], language: str, rules: Rules) -> None:
        self._evidence = {source.number: Evidence(source, rules) for source in sources}
        self._language = language
        self._rules = rules
        self._scanner = Scanner(Ends(rules.lexicons, language, self._begun), rules.sentence_chars_max)
        self._listing = Listing(rules.months)
        self._leading: list[Release] | None = []
        self._leading_chars = 0
        self._lead: tuple[int, ...] = ()
        self._fenced = False
        self._before: Sequence[str] = ()
        self._tail = ""
        self._cap = rules.output_cap
        self._events = 0
        self._bytes_left = _bytes(rules)
        self._stopped = False

    def feed(self, text: str) -> Said:
        """What `text`, one content event of the upstream, lets out."""
        if self._stopped or not text:
            return []
        if self._cap is not None:
            self._events += 1
            if self._events > self._cap:
                return self._stop(Stop("cap", "truncated", detail="more content events than the output cap"))
            within = self._within(text)
            if len(within) < len(text):
                return self._cut(self._feed(within))
        return self._feed(text)

    def finish(self, ending: Literal["stop", "length", "cut"] = "stop") -> Said:
        """The upstream is done. After `length` and `cut` the unfinished sentence is dropped."""
        if self._stopped:
            return []
        if ending != "stop":
            return self._stop(Stop("length", "truncated", detail=f"the upstream ended by {ending}"))
        said = self._judge_all(self._scanner.finish())
        if not self._stopped and self._leading is not None:
            said += self._stop(Stop("uncited", "not_in_sources", detail="no sentence of it is cited"))
        self._stopped = True
        return said

    def _feed(self, text: str) -> Said:
        units = self._scanner.feed(text)
        said = self._judge_all(units) if units else []
        if self._stopped or not (self._leading == [] or self._scanner.overlong):
            return said
        held = self._scanner.held
        if self._leading == [] and len(held) - len(text) <= self._rules.token_end_max and self._begins(held):
            return self._stop(self._token(held))
        if self._scanner.overlong:
            said += self._stop(self._long(held))
        return said

    def _begins(self, held: str) -> bool:
        """Whether the answer begins with the fixed token, certainly whole: so it need not be waited out."""
        m = self._rules.token_first.match(held)
        return m is not None and m.end() < len(held)

    def _cut(self, said: Said) -> Said:
        if self._stopped:
            return said
        return said + self._stop(Stop("cap", "truncated", detail="more bytes than the output cap allows"))

    def _judge_all(self, units: Sequence[Unit]) -> Said:
        said: Said = []
        for unit in units:
            said += self._judge(unit)
            if self._stopped:
                break
        return said

    def _judge(self, unit: Unit) -> Said:
        if len(unit.text) > self._rules.sentence_chars_max:
            return self._stop(self._long(unit.text))
        if self._rules.says_token(unit.text):
            return self._stop(self._token(unit.text))
        sentence = self._read(unit)
        if strange := [n for n in sentence.cites if n not in self._evidence]:
            return self._stop(sentence.stop("range", f"[{strange[0]}]", "points at no source handed over"))
        for check in CODE_CHECKS if unit.kind in ("code", "fence") else CHECKS:
            if fault := check(sentence):
                return self._stop(fault)
        return self._release(unit, sentence)

    def _read(self, unit: Unit) -> Sentence:
        code = unit.kind in ("code", "fence")
        found = () if code else markers.find(unit.text)
        cites = self._lead if code else tuple(dict.fromkeys(n for m in found for n in m.numbers))
        text = markers.strip(unit.text, found)
        folded = fold_text(text)
        language = tongue(text, self._language, self._rules.words)
        listed = self._listing.plain(text, unit.opens)
        return Sentence(
            text=text,
            kind=unit.kind,
            cites=cites,
            cited=tuple(self._evidence[n] for n in cites if n in self._evidence),
            language=language,
            listed=listed,
            values=Values() if code else valued(listed, language, self._rules),
            folded=folded,
            said=[*self._before, *tokens(folded)],
            new=len(self._before),
            tail=self._tail,
            rules=self._rules,
        )

    def _release(self, unit: Unit, sentence: Sentence) -> Said:
        self._before = sentence.said[-self._rules.echo.tail :]
        self._tail = tail(sentence.text, self._tail)
        self._lead_in(unit, sentence.cites)
        release = Release(sentence.text, sentence.cites)
        if self._leading is None:
            return [release]
        self._leading.append(release)
        if sentence.cites and sentence.length and unit.kind in ("text", "head", "row"):
            said: Said = [*self._leading]
            self._leading = None
            return said
        self._leading_chars += len(release.text)
        if self._leading_chars > self._rules.sentence_chars_max:
            return self._stop(Stop("uncited", "not_in_sources", detail="no sentence of it is cited so far"))
        return []

    def _lead_in(self, unit: Unit, cites: tuple[int, ...]) -> None:
        """Keeps the sources of the line under way, in case a block of code follows it."""
        if unit.kind == "fence":
            self._fenced = not self._fenced
            self._lead = self._lead if self._fenced else ()
        elif unit.kind != "code" and unit.text.strip():
            self._lead = cites if unit.opens else tuple(dict.fromkeys((*self._lead, *cites)))

    def _begun(self, text: str, default: str) -> str:
        """Language of a sentence that is not all there yet."""
        return tongue(text, default, self._rules.words, BEGINNING_LEAD)

    def _within(self, text: str) -> str:
        """The beginning of `text` that the cap on bytes still allows."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if size <= self._bytes_left:
            self._bytes_left -= size
            return text
        kept = text.encode("utf-8", "surrogatepass")[: self._bytes_left]
        self._bytes_left = 0
        return kept.decode("utf-8", "ignore")

    def _token(self, text: str) -> Stop:
        first = self._leading == [] and self._rules.token_first.match(text)
        return Stop("token", "not_in_sources" if first else "stopped", self._rules.token)

    def _long(self, text: str) -> Stop:
        return Stop("long", "stopped", text[:80], detail=f"above {self._rules.sentence_chars_max} characters")

    def _stop(self, stop: Stop) -> Said:
        self._stopped = True
        self._leading = None
        self._scanner.held = ""
        return [stop]


def _bytes(rules: Rules) -> int:
    return (rules.output_cap or 0) * rules.output_bytes_per_token_max
