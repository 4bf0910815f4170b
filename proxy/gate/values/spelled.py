"""Spelled-out numbers and ordinals, by the small tables of a language: twenty-five, 二十五."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

import regex

from proxy.gate.values.counts import find_noun_after
from proxy.gate.values.days import read_day_in_words
from proxy.gate.values.decimals import format_number_key
from proxy.gate.values.halves import HalfWords, compile_half_words
from proxy.gate.values.han import HAN_NUMERAL, parse_han_number
from proxy.gate.values.notations import NumberContext, compile_number_context
from proxy.gate.values.pack import ValueGrammar, ValuePack, build_alternation
from proxy.gate.values.page import PLACEHOLDER, WORD, ValuePage, normalize_word
from proxy.gate.values.sums import DOZEN, NumberWord, add_up_words
from proxy.gate.values.types import CountedNumber

_GAP = regex.compile(r"[\s\u200c-]{1,2}")
_NOUN = regex.compile(r"([\s\u200c-])\s?([\p{L}\p{M}]+)")
_MULTIPLIED = regex.compile(rf"(?r){PLACEHOLDER}[\s\u200c-]?")
_ABOUT = regex.compile("(?:[多余餘来來]|[几幾](?=[百千万萬亿億]))(?<scale>[百千万萬亿億]*)")
"""四十多万 is 40万 or so."""
COUNTING_MAX = 3
"""Up to here answers count on their own."""
COMPOUND_MIN = 8
"""The shortest German number of two parts: vierzehn stands in the table, zweihundert does not."""
_AND = "و"  # written together with the word after it in Arabic


@dataclass(frozen=True, slots=True)
class _NumberWordTable:
    """The number words of one pack, ready to look up."""

    values: Mapping[str, Decimal]
    pack: ValuePack
    first_words: frozenset[str]
    pair_starts: frozenset[str]
    """First words of numbers of two words."""
    part_pattern: regex.Pattern[str]
    counted_nouns: frozenset[str]
    link_pattern: regex.Pattern[str]
    """What may stand between two words of one number."""
    point_pattern: regex.Pattern[str]
    """What stands before the decimals."""
    half_words: HalfWords
    number_context: NumberContext

    @property
    def has_compounds(self) -> bool:
        """Whether several words of this language may be written as one."""
        return bool(self.pack.glue) or _AND in self.pack.joins

    def may_be_compound(self, word: str) -> bool:
        """Whether a word of several parts may be a number."""
        if word[0] == _AND and _AND in self.pack.joins:
            return word[1:] in self.first_words
        return bool(self.pack.glue) and len(word) >= COMPOUND_MIN

    def match_word(self, text: str, start: int, is_joined: bool) -> NumberWord | None:
        """`text`, a folded word or two, if it is a number."""
        value = self.values.get(text)
        if value is None:
            return None
        pack = self.pack
        return NumberWord(value, start, start + len(text), is_joined, text in pack.ranks, text in pack.loose)


@lru_cache(maxsize=64)
def _build_word_table(pack: ValuePack) -> _NumberWordTable:
    values = {**pack.cardinals, **{word: Decimal(rank) for word, rank in pack.ranks.items()}}
    words = build_alternation(values)
    glue = regex.escape(pack.glue)
    gap = r"[\s\u200c-]{1,2}"
    return _NumberWordTable(
        values,
        pack,
        frozenset(word.split()[0] for word in values),
        frozenset(word.split()[0] for word in values if " " in word),
        regex.compile(rf"(?<word>{words})(?:{glue})?"),
        frozenset(pack.counted),
        regex.compile(rf"(?:{gap}(?:(?:{build_alternation(pack.joins)}){gap})?|{gap}{_AND}|(?:{glue})?)"),
        regex.compile(rf"\s(?:{build_alternation(pack.point)})\s"),
        compile_half_words(pack),
        compile_number_context(pack),
    )


def read_spelled_numbers(page: ValuePage, grammar: ValueGrammar, is_source: bool) -> None:
    """Add the spelled-out numbers to the values of `page`; in an answer only what can mean nothing else."""
    packs = grammar.packs if is_source and not grammar.is_known else grammar.packs[:1]
    for pack in packs:
        if pack.measures:
            _read_han_numbers(page, _build_word_table(pack), is_source)
        elif pack.cardinals:
            _read_word_numbers(page, _build_word_table(pack), is_source)


def _read_word_numbers(page: ValuePage, table: _NumberWordTable, is_source: bool) -> None:
    if not _has_number_word(page.words, table):
        return
    run: list[NumberWord] = []
    words = _find_number_words(page.text, table)
    for word in _take_decimals(page, table, words) if table.pack.point else words:
        if run and not _can_follow(page.text, run[-1], word, table):
            _finish_run(page, table, run, is_source)
            run = []
        run.append(word)
    _finish_run(page, table, run, is_source)


def _has_number_word(words: frozenset[str], table: _NumberWordTable) -> bool:
    """Whether any of `words` can be a number word: a cheap look before the dear one."""
    if not words.isdisjoint(table.first_words):
        return True
    return table.has_compounds and any(
        table.may_be_compound(word) and _split_number_word(word, 0, False, table) for word in words
    )


def _find_number_words(text: str, table: _NumberWordTable) -> list[NumberWord]:
    """The number words of `text` in order, two-word ones first, glued ones apart."""
    tokens = [(word, token.start()) for token in WORD.finditer(text) if (word := normalize_word(token[0]))]
    words: list[NumberWord] = []
    taken = 0
    is_joined = False
    for (word, start), (next_word, next_start) in pairwise([*tokens, ("", 0)]):
        if start >= taken and (word in table.first_words or table.may_be_compound(word)):
            pair = None
            if word in table.pair_starts:
                pair = table.match_word(f"{word} {next_word}", start, is_joined)
            if pair is not None and _GAP.fullmatch(text, start + len(word), next_start):
                taken = next_start + len(next_word)
                words.append(replace(pair, end=taken))
            else:
                words.extend(_split_number_word(word, start, is_joined, table))
        is_joined = word in table.pack.joins
    return table.half_words.add_shifts(text, words)


def _split_number_word(word: str, start: int, is_joined: bool, table: _NumberWordTable) -> list[NumberWord]:
    """A word as its number words: one, one after a glued "and", or several glued together; [] for none."""
    if (whole := table.match_word(word, start, is_joined)) is not None:
        return [whole]
    if word.startswith(_AND) and _AND in table.pack.joins and len(word) > 2:
        rest = table.match_word(word[1:], start + 1, True)
        return [rest] if rest is not None else []
    parts = list(table.part_pattern.finditer(word)) if table.pack.glue else []
    if "".join(part[0] for part in parts) != word or len(parts) < 2:
        return []
    matches = [table.match_word(part["word"], start + part.start(), n > 0) for n, part in enumerate(parts)]
    return [match for match in matches if match is not None]


def _can_follow(text: str, last: NumberWord, word: NumberWord, table: _NumberWordTable) -> bool:
    """Whether two number words may be one number. "Thirty seconds" is none, "thirty-second" is."""
    between = text[last.end : word.start]
    is_compound = table.pack.units_first and word.is_ordinal and word.is_joined  # الخامس والعشرون
    if (last.is_ordinal and not is_compound) or (word.is_ordinal and word.is_loose and between == " "):
        return False
    return table.link_pattern.fullmatch(between) is not None


def _finish_run(page: ValuePage, table: _NumberWordTable, run: list[NumberWord], is_source: bool) -> None:
    """Add up a run of number words; what does not add begins the next number."""
    while run:
        taken, number = add_up_words(run, table.pack)
        words, run = run[:taken], run[taken:]
        if not words[-1].is_ordinal and table.number_context.is_negative(page.text, words[0].start):
            exact, end = table.half_words.apply_half(page.text, number, (words[0].start, words[-1].end))
            page.values.append(page.build_value("number", format_number_key(-exact), (words[0].start, end)))
        else:
            (_add_source_number if is_source else _add_answer_number)(page, table, words, number)


def _add_source_number(
    page: ValuePage, table: _NumberWordTable, words: list[NumberWord], number: Decimal
) -> None:
    """Add what a source holds by `words`, which make `number`."""
    start, end, rank = words[0].start, words[-1].end, words[-1].is_ordinal
    if rank:
        page.values.append(page.build_value("number", f"rank:{number}", (start, end)))  # the quarter Q4
    exact, end = table.half_words.apply_half(page.text, number, (start, end))
    least = 1 if rank else 2  # "one" is an article as well, "first" is not
    if exact >= least or exact % 1 or table.number_context.is_time_of_day(page.text, exact, (start, end)):
        page.values.append(table.number_context.build_number(page, exact, (start, end)))


def _add_answer_number(
    page: ValuePage, table: _NumberWordTable, words: list[NumberWord], number: Decimal
) -> None:
    """Add what an answer says by `words`, which make `number`: a day, a figure, or a count at most."""
    start, end, rank = words[0].start, words[-1].end, words[-1].is_ordinal
    if (number > 1 or rank) and (
        day := read_day_in_words(page, table.pack, number, (start, end), is_ordinal=rank)
    ):
        page.values.append(day)
        return
    exact, end = table.half_words.apply_half(page.text, number, (start, end))
    is_time = table.number_context.is_time_of_day(page.text, exact, (start, end))
    if exact < 2 and exact % 1 == 0 and not is_time:
        return
    value = table.number_context.build_number(page, exact, (start, end))
    if is_time or exact != number or _is_certain_number(page.text, table, words):
        page.values.append(value)
    elif not rank and (noun := find_noun_after(page, end)):
        page.counts.append(CountedNumber(value, noun))


def _is_certain_number(text: str, table: _NumberWordTable, words: list[NumberWord]) -> bool:
    """Whether words of an answer can only be a number, and one that says how many.

    Answers count what they list: "Two friends, Ann and Bo". So a lone two or three is a figure only with a
    noun of time, money or measure, or a hyphen ("two-year"), else a `CountedNumber` (measured:
    bench/README.md). A lone hundred or thousand may be any great number, two hundred in one word
    (doscientos) is none but itself.
    """
    first = words[0]
    if len(words) > 1 or first.value % 1:
        return True
    if (
        first.value >= DOZEN
        and not first.is_ordinal
        and _MULTIPLIED.match(text, max(0, first.start - 3), first.start)
    ):
        return True
    after = _NOUN.match(text, first.end)
    is_counted = after is not None and normalize_word(after[2]) in table.counted_nouns
    if first.value >= 100:
        return is_counted or not (first.is_loose or first.is_ordinal or str(first.value).strip("0") == "1")
    if first.is_loose:
        return is_counted and not first.is_ordinal  # eleven is an elf in German, but elf Euro are money
    if first.value > COUNTING_MAX or after is None:
        return first.value > COUNTING_MAX
    return after[1] == "-" or is_counted


def _take_decimals(page: ValuePage, table: _NumberWordTable, words: list[NumberWord]) -> list[NumberWord]:
    """Add numbers like "twelve point five" among `words`; gives the words they leave."""
    rest: list[NumberWord] = []
    for word in words:
        if (
            rest
            and not rest[-1].is_ordinal
            and table.point_pattern.fullmatch(page.text[rest[-1].end : word.start])
        ):
            whole = rest.pop()
            number = Decimal(f"{whole.value}.{word.value}")
            page.values.append(table.number_context.build_number(page, number, (whole.start, word.end)))
        else:
            rest.append(word)
    return rest


def _read_han_numbers(page: ValuePage, table: _NumberWordTable, is_source: bool) -> None:
    """In an answer only before a measure word, after 第 or in a fraction: 三明治 is no three."""
    text, measures = page.text, table.pack.measures
    for match in HAN_NUMERAL.finditer(text):
        start, end = match.span()
        number = Decimal(parse_han_number(match[0]))
        before = text[max(0, start - 3) : start]
        if number and (about := _ABOUT.match(text, end)):
            number, end = _multiply_by_scale(number, about["scale"]), about.end()
        is_counted = before.endswith(("第", "分之")) or text.startswith((*measures, "分之"), end)
        exact, end = table.half_words.apply_half(text, number, (start, end)) if number else (number, end)
        if exact and table.number_context.is_negative(text, start):
            page.values.append(page.build_value("number", format_number_key(-exact), (start, end)))
            continue
        is_certain = is_counted and len(match[0].strip("百千万萬亿億")) > 0
        least = 1 if is_source and before.endswith("第") else 2
        if (exact != number or number >= least) and (is_source or is_certain):
            page.values.append(table.number_context.build_number(page, exact, (start, end)))


def _multiply_by_scale(number: Decimal, scale: str) -> Decimal:
    return number * parse_han_number(scale) if scale else number
