"""Spelled-out numbers and ordinals, by the small tables of a language: twenty-five, 二十五."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

import regex

from proxy.guards.gate.values.counts import noun_after
from proxy.guards.gate.values.han import NUMERAL, han_number
from proxy.guards.gate.values.numbers import number_key, written
from proxy.guards.gate.values.pack import Tongue, ValuePack, either
from proxy.guards.gate.values.page import TAKEN, WORD, Page, plain_word
from proxy.guards.gate.values.types import Count, Value

_GAP = regex.compile(r"[\s\u200c-]{1,2}")
_NOUN = regex.compile(r"([\s\u200c-])\s?([\p{L}\p{M}]+)")
_MULTIPLIED = regex.compile(rf"(?r){TAKEN}[\s\u200c-]?")
DOZEN = 12
"""The least number that multiplies the figure before it: 48 dozen."""
COUNTING_MAX = 3
"""Up to here answers count on their own."""
COMPOUND_MIN = 8
"""The shortest German number of two parts: vierzehn stands in the table, zweihundert does not."""
_AND = "و"  # written together with the word after it in Arabic


@dataclass(frozen=True, slots=True)
class _Word:
    """A number word and where it stands. `joined`: a hyphen, `and` or glue stands before it."""

    value: int
    start: int
    end: int
    joined: bool = False
    rank: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class _Table:
    """The number words of one pack, ready to look up."""

    values: Mapping[str, int]
    pack: ValuePack
    firsts: frozenset[str]
    pairs: frozenset[str]
    """First words of numbers of two words."""
    part: regex.Pattern[str]
    counted: frozenset[str]
    link: regex.Pattern[str]
    """What may stand between two words of one number."""
    point: regex.Pattern[str]
    """What stands before the decimals."""

    @property
    def compounds(self) -> bool:
        """Whether several words of this language may be written as one."""
        return bool(self.pack.glue) or _AND in self.pack.joins

    def compound(self, word: str) -> bool:
        """Whether a word of several parts may be a number."""
        if word[0] == _AND and _AND in self.pack.joins:
            return word[1:] in self.firsts
        return bool(self.pack.glue) and len(word) >= COMPOUND_MIN

    def word(self, text: str, start: int, joined: bool) -> _Word | None:
        """`text`, a folded word or two, if it is a number."""
        value = self.values.get(text)
        if value is None:
            return None
        pack = self.pack
        return _Word(value, start, start + len(text), joined, text in pack.ranks, text in pack.loose)


@lru_cache(maxsize=64)
def _table(pack: ValuePack) -> _Table:
    values = {**pack.cardinals, **pack.ranks}
    words = either(values)
    glue = regex.escape(pack.glue)
    gap = r"[\s\u200c-]{1,2}"
    return _Table(
        values,
        pack,
        frozenset(word.split()[0] for word in values),
        frozenset(word.split()[0] for word in values if " " in word),
        regex.compile(rf"(?<word>{words})(?:{glue})?"),
        frozenset(pack.counted),
        regex.compile(rf"(?:{gap}(?:(?:{either(pack.joins)}){gap})?|{gap}{_AND}|(?:{glue})?)"),
        regex.compile(rf"\s(?:{either(pack.point)})\s"),
    )


def read_spelled(page: Page, tongue: Tongue, source: bool) -> None:
    """Find the spelled-out numbers of `page`; in an answer only words that can mean nothing else count."""
    packs = tongue.packs if source and not tongue.known else tongue.packs[:1]
    for pack in packs:
        if pack.measures:
            _read_han(page, pack, source)
        elif pack.cardinals:
            _read_words(page, _table(pack), source)


def _read_words(page: Page, table: _Table, source: bool) -> None:
    if not _seen(page.words, table):
        return
    run: list[_Word] = []
    words = _number_words(page.text, table)
    for word in _decimals(page, table, words) if table.pack.point else words:
        if run and not _follows(page.text, run[-1], word, table):
            _close(page, table, run, source)
            run = []
        run.append(word)
    _close(page, table, run, source)


def _seen(words: frozenset[str], table: _Table) -> bool:
    """Whether any of `words` can be a number word: a cheap look before the dear one."""
    if not words.isdisjoint(table.firsts):
        return True
    return table.compounds and any(table.compound(word) and _parts(word, 0, False, table) for word in words)


def _number_words(text: str, table: _Table) -> list[_Word]:
    """The number words of `text` in order, two-word ones first, glued ones apart."""
    tokens = [(word, token.start()) for token in WORD.finditer(text) if (word := plain_word(token[0]))]
    found: list[_Word] = []
    taken = 0
    joined = False
    for (word, start), (after, place) in pairwise([*tokens, ("", 0)]):
        if start >= taken and (word in table.firsts or table.compound(word)):
            pair = table.word(f"{word} {after}", start, joined) if word in table.pairs else None
            if pair is not None and _GAP.fullmatch(text, start + len(word), place):
                taken = place + len(after)
                found.append(replace(pair, end=taken))
            else:
                found.extend(_parts(word, start, joined, table))
        joined = word in table.pack.joins
    return found


def _parts(word: str, start: int, joined: bool, table: _Table) -> list[_Word]:
    """A word as its number words: one, one after a glued "and", or several glued together; [] for none."""
    if (whole := table.word(word, start, joined)) is not None:
        return [whole]
    if word.startswith(_AND) and _AND in table.pack.joins and len(word) > 2:
        rest = table.word(word[1:], start + 1, True)
        return [rest] if rest is not None else []
    parts = list(table.part.finditer(word)) if table.pack.glue else []
    if "".join(part[0] for part in parts) != word or len(parts) < 2:
        return []
    words = [table.word(part["word"], start + part.start(), at > 0) for at, part in enumerate(parts)]
    return [found for found in words if found is not None]


def _follows(text: str, last: _Word, word: _Word, table: _Table) -> bool:
    """Whether two number words may be one number. "Thirty seconds" is none, "thirty-second" is."""
    between = text[last.end : word.start]
    if last.rank or (word.rank and word.loose and between == " "):
        return False
    return table.link.fullmatch(between) is not None


def _close(page: Page, table: _Table, run: list[_Word], source: bool) -> None:
    """Add up a run of number words; what does not add begins the next number."""
    while run:
        taken, number = _sum(run, table.pack)
        words = run[:taken]
        run = run[taken:]
        if source and words[-1].rank:
            page.found.append(_rank(page, number, words))
        first = source and words[-1].rank  # "one" is an article as well, "first" is not
        if number < 2 - first:
            continue
        value = _number(page, Decimal(number), words)
        if source or _certain(page.text, table, words):
            page.found.append(value)
        elif not words[-1].rank and (noun := noun_after(page, value.end)):
            page.counts.append(Count(value, noun))


def _certain(text: str, table: _Table, words: list[_Word]) -> bool:
    """Whether words of an answer can only be a number, and one that says how many.

    Answers count what they list: "Two friends, Ann and Bo". So a lone two or three is a figure only with a
    noun of time, money or measure, or a hyphen ("two-year"), else a `Count`. Measured: bench/README.md. A
    lone hundred or thousand may be any great number, two hundred in one word (doscientos) is none but itself.
    """
    first = words[0]
    if len(words) > 1:
        return True
    if (
        first.value >= DOZEN
        and not first.rank
        and _MULTIPLIED.match(text, max(0, first.start - 3), first.start)
    ):
        return True
    after = _NOUN.match(text, first.end)
    counted = after is not None and plain_word(after[2]) in table.counted
    if first.value >= 100:
        return counted or not (first.loose or first.rank or str(first.value).strip("0") == "1")
    if first.loose or first.value > COUNTING_MAX or after is None:
        return not first.loose and first.value > COUNTING_MAX
    return after[1] == "-" or counted


def _number(page: Page, number: Decimal, words: list[_Word]) -> Value:
    """A number in words: equal to digits, and to digits with a scale word."""
    key, scaled = number_key(number), f"s:{written(number)}"
    return page.value(
        "number", key, (words[0].start, words[-1].end), accepts=[[key], [scaled]], gives=[key, scaled]
    )


def _rank(page: Page, number: int, words: list[_Word]) -> Value:
    """The ordinal in words of a source: it holds the quarter Q4."""
    return page.value("number", f"rank:{number}", (words[0].start, words[-1].end))


def _decimals(page: Page, table: _Table, words: list[_Word]) -> list[_Word]:
    """Find numbers like "twelve point five" among `words`; the words they leave."""
    left: list[_Word] = []
    for word in words:
        if left and not left[-1].rank and table.point.fullmatch(page.text[left[-1].end : word.start]):
            whole = left.pop()
            page.found.append(_number(page, Decimal(f"{whole.value}.{word.value}"), [whole, word]))
        else:
            left.append(word)
    return left


@dataclass(slots=True)
class _Sum:
    """A number under way: `total` of the scales closed so far, `group` below the next one."""

    total: int = 0
    group: int = 0
    scale: int = 0

    def add(self, word: _Word, units_first: bool) -> bool:
        """Add `word` if the number can go on with it."""
        value, rest = word.value, self.group % 100
        if value >= 1000:
            return self._scale(value)
        if value == 100 and 1 < self.group < 10:
            self.group *= 100
            return True
        if value % 100 == 0:
            fits = self.group == 0
        elif value >= 20 and value % 10 == 0:
            fits = rest == 0 or (units_first and word.joined and rest < 10)
        elif value >= 10:
            fits = rest == 0 or (rest in (60, 80) and value < 20)
        else:
            fits = rest == 0 or (rest >= 20 and rest % 10 == 0)
        if fits:
            self.group += value
        return fits

    def _scale(self, value: int) -> bool:
        if self.scale and value >= self.scale:
            if self.group or value == self.scale:
                return False
            self.total *= value  # mil millones
        else:
            self.total += max(self.group, 1) * value
        self.group, self.scale = 0, value
        return True


def _sum(run: list[_Word], pack: ValuePack) -> tuple[int, int]:
    """How many words of `run` make its first number, and the number."""
    state = _Sum()
    for at, word in enumerate(run):
        if not state.add(word, pack.units_first or bool(pack.glue)):
            return max(at, 1), state.total + state.group
    return len(run), state.total + state.group


def _read_han(page: Page, pack: ValuePack, source: bool) -> None:
    """In an answer only before a measure word, after 第 or in a percentage: 三明治 is no three."""
    for match in NUMERAL.finditer(page.text):
        number = han_number(match[0])
        before, after = page.text[max(0, match.start() - 3) : match.start()], page.text[match.end() :]
        counted = before.endswith(("第", "百分之")) or after.startswith(pack.measures)
        first = source and before.endswith("第")
        if number >= 2 - first and (
            source or (counted and number != 100 and len(match[0].strip("百千万萬亿億")))
        ):
            page.found.append(_number(page, Decimal(number), [_Word(number, *match.span())]))
