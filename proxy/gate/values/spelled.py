"""Spelled-out numbers and ordinals, by the small tables of a language: twenty-five, 二十五."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

import regex

from proxy.gate.values.counts import noun_after
from proxy.gate.values.days import day_in_words
from proxy.gate.values.halves import Halves, halves
from proxy.gate.values.han import NUMERAL, han_number
from proxy.gate.values.notations import Notations, notations
from proxy.gate.values.numbers import number_key
from proxy.gate.values.pack import Tongue, ValuePack, either
from proxy.gate.values.page import TAKEN, WORD, Page, plain_word
from proxy.gate.values.sums import DOZEN, Word, add_up
from proxy.gate.values.types import Count

_GAP = regex.compile(r"[\s\u200c-]{1,2}")
_NOUN = regex.compile(r"([\s\u200c-])\s?([\p{L}\p{M}]+)")
_MULTIPLIED = regex.compile(rf"(?r){TAKEN}[\s\u200c-]?")
_ABOUT = regex.compile("(?:[多余餘来來]|[几幾](?=[百千万萬亿億]))(?<scale>[百千万萬亿億]*)")
"""四十多万 is 40万 or so."""
COUNTING_MAX = 3
"""Up to here answers count on their own."""
COMPOUND_MIN = 8
"""The shortest German number of two parts: vierzehn stands in the table, zweihundert does not."""
_AND = "و"  # written together with the word after it in Arabic


@dataclass(frozen=True, slots=True)
class _Table:
    """The number words of one pack, ready to look up."""

    values: Mapping[str, Decimal]
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
    halves: Halves
    notations: Notations

    @property
    def compounds(self) -> bool:
        """Whether several words of this language may be written as one."""
        return bool(self.pack.glue) or _AND in self.pack.joins

    def compound(self, word: str) -> bool:
        """Whether a word of several parts may be a number."""
        if word[0] == _AND and _AND in self.pack.joins:
            return word[1:] in self.firsts
        return bool(self.pack.glue) and len(word) >= COMPOUND_MIN

    def word(self, text: str, start: int, joined: bool) -> Word | None:
        """`text`, a folded word or two, if it is a number."""
        value = self.values.get(text)
        if value is None:
            return None
        pack = self.pack
        return Word(value, start, start + len(text), joined, text in pack.ranks, text in pack.loose)


@lru_cache(maxsize=64)
def _table(pack: ValuePack) -> _Table:
    values = {**pack.cardinals, **{word: Decimal(rank) for word, rank in pack.ranks.items()}}
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
        halves(pack),
        notations(pack),
    )


def read_spelled(page: Page, tongue: Tongue, source: bool) -> None:
    """Find the spelled-out numbers of `page`; in an answer only words that can mean nothing else count."""
    packs = tongue.packs if source and not tongue.known else tongue.packs[:1]
    for pack in packs:
        if pack.measures:
            _read_han(page, _table(pack), source)
        elif pack.cardinals:
            _read_words(page, _table(pack), source)


def _read_words(page: Page, table: _Table, source: bool) -> None:
    if not _seen(page.words, table):
        return
    run: list[Word] = []
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


def _number_words(text: str, table: _Table) -> list[Word]:
    """The number words of `text` in order, two-word ones first, glued ones apart."""
    tokens = [(word, token.start()) for token in WORD.finditer(text) if (word := plain_word(token[0]))]
    found: list[Word] = []
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
    return table.halves.shift(text, found)


def _parts(word: str, start: int, joined: bool, table: _Table) -> list[Word]:
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


def _follows(text: str, last: Word, word: Word, table: _Table) -> bool:
    """Whether two number words may be one number. "Thirty seconds" is none, "thirty-second" is."""
    between = text[last.end : word.start]
    compound = table.pack.units_first and word.rank and word.joined  # الخامس والعشرون
    if (last.rank and not compound) or (word.rank and word.loose and between == " "):
        return False
    return table.link.fullmatch(between) is not None


def _close(page: Page, table: _Table, run: list[Word], source: bool) -> None:
    """Add up a run of number words; what does not add begins the next number."""
    while run:
        taken, number = add_up(run, table.pack)
        words, run = run[:taken], run[taken:]
        if not words[-1].rank and table.notations.below_zero(page.text, words[0].start):
            exact, end = table.halves.apply(page.text, number, (words[0].start, words[-1].end))
            page.found.append(page.value("number", number_key(-exact), (words[0].start, end)))
        else:
            (_hold if source else _say)(page, table, words, number)


def _hold(page: Page, table: _Table, words: list[Word], number: Decimal) -> None:
    """Find what a source holds by `words`, which make `number`."""
    start, end, rank = words[0].start, words[-1].end, words[-1].rank
    if rank:
        page.found.append(page.value("number", f"rank:{number}", (start, end)))  # the quarter Q4
    exact, end = table.halves.apply(page.text, number, (start, end))
    least = 1 if rank else 2  # "one" is an article as well, "first" is not
    if exact >= least or exact % 1 or table.notations.at_clock(page.text, exact, (start, end)):
        page.found.append(table.notations.number(page, exact, (start, end)))


def _say(page: Page, table: _Table, words: list[Word], number: Decimal) -> None:
    """Find what an answer says by `words`, which make `number`: a day, a figure, or a count at most."""
    start, end, rank = words[0].start, words[-1].end, words[-1].rank
    if (number > 1 or rank) and (day := day_in_words(page, table.pack, number, (start, end), rank=rank)):
        page.found.append(day)
        return
    exact, end = table.halves.apply(page.text, number, (start, end))
    clocked = table.notations.at_clock(page.text, exact, (start, end))
    if exact < 2 and exact % 1 == 0 and not clocked:
        return
    value = table.notations.number(page, exact, (start, end))
    if clocked or exact != number or _certain(page.text, table, words):
        page.found.append(value)
    elif not rank and (noun := noun_after(page, end)):
        page.counts.append(Count(value, noun))


def _certain(text: str, table: _Table, words: list[Word]) -> bool:
    """Whether words of an answer can only be a number, and one that says how many.

    Answers count what they list: "Two friends, Ann and Bo". So a lone two or three is a figure only with a
    noun of time, money or measure, or a hyphen ("two-year"), else a `Count`. Measured: bench/README.md. A
    lone hundred or thousand may be any great number, two hundred in one word (doscientos) is none but itself.
    """
    first = words[0]
    if len(words) > 1 or first.value % 1:
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
    if first.loose:
        return counted and not first.rank  # eleven is an elf in German, but elf Euro are money
    if first.value > COUNTING_MAX or after is None:
        return first.value > COUNTING_MAX
    return after[1] == "-" or counted


def _decimals(page: Page, table: _Table, words: list[Word]) -> list[Word]:
    """Find numbers like "twelve point five" among `words`; the words they leave."""
    left: list[Word] = []
    for word in words:
        if left and not left[-1].rank and table.point.fullmatch(page.text[left[-1].end : word.start]):
            whole = left.pop()
            number = Decimal(f"{whole.value}.{word.value}")
            page.found.append(table.notations.number(page, number, (whole.start, word.end)))
        else:
            left.append(word)
    return left


def _read_han(page: Page, table: _Table, source: bool) -> None:
    """In an answer only before a measure word, after 第 or in a fraction: 三明治 is no three."""
    text, measures = page.text, table.pack.measures
    for match in NUMERAL.finditer(text):
        start, end = match.span()
        number = Decimal(han_number(match[0]))
        before = text[max(0, start - 3) : start]
        if number and (about := _ABOUT.match(text, end)):
            number, end = _times(number, about["scale"]), about.end()
        counted = before.endswith(("第", "分之")) or text.startswith((*measures, "分之"), end)
        exact, end = table.halves.apply(text, number, (start, end)) if number else (number, end)
        if exact and table.notations.below_zero(text, start):
            page.found.append(page.value("number", number_key(-exact), (start, end)))
            continue
        certain = counted and len(match[0].strip("百千万萬亿億")) > 0
        first = source and before.endswith("第")
        if (exact != number or number >= 2 - first) and (source or certain):
            page.found.append(table.notations.number(page, exact, (start, end)))


def _times(number: Decimal, scale: str) -> Decimal:
    return number * han_number(scale) if scale else number
