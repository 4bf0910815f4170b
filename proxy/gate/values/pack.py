"""`values.toml`: how a language writes numbers, dates and times; and the patterns made from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Literal

import regex

DateOrder = Literal["day", "month", "either"]
NEVER = r"(?!)"
LETTER = r"\p{Latin}\p{Cyrillic}\p{Greek}"
"""Letters that make a code with a digit; those of other scripts stand right beside numbers."""
SPACED = r"\p{Latin}\p{Cyrillic}\p{Arabic}\p{Devanagari}"
"""Scripts whose words end where their letters end; Han words need no end."""
LATIN = regex.compile(r"\p{Latin}")
HAN = regex.compile(r"\p{Han}+")

FOREIGN_CHARS_MIN = 7
"""The shortest Latin scale word that is heeded in other languages too."""
SHIFT_LOOKBACK_CHARS = 20
"""How far before a number a word like साढ़े may begin."""


@dataclass(frozen=True, eq=False)
class ValuePack:
    """`values.toml` of one language. Every word is folded."""

    decimal: Literal[".", ","]
    order: DateOrder
    """Which comes first in 3/10/2024."""
    months: tuple[tuple[str, ...], ...]
    """Twelve rows: the names, cases and abbreviations of each month."""
    month_words: tuple[str, ...] = ()
    """Names of months that are other words without their capital: May, March."""
    spaced: bool = False
    """Plain spaces part the thousands: 12 500."""
    slash: bool = False
    """A stroke may be the decimal sign: ۳/۵."""
    jalali: tuple[tuple[str, ...], ...] = ()
    hijri: tuple[tuple[str, ...], ...] = ()
    of: tuple[str, ...] = ()
    """Words between day, month and year."""
    until: tuple[str, ...] = ()
    """Words of a range: 9 to 17."""
    ordinals: tuple[str, ...] = ()
    """Latin endings glued to a digit: st, er, º."""
    units: tuple[str, ...] = ()
    """Latin units glued to a digit, beside the international ones."""
    decades: tuple[str, ...] = ()
    """Endings that make 1970 the seventies."""
    decade_before: tuple[str, ...] = ()
    decade_after: tuple[str, ...] = ()
    """Words and endings with a hyphen that do the same: años 70, 70-х, 70年代."""
    scales: Mapping[str, int] = field(default_factory=dict)
    """Word → power of ten."""
    minus: tuple[str, ...] = ()
    minus_never: tuple[str, ...] = ()
    """Phrases that end in such a word and make nothing negative: al menos, plus ou moins."""
    clock: tuple[str, ...] = ()
    """Words after an hour that can only mean the time of day."""
    clock_before: tuple[str, ...] = ()
    hours: tuple[str, ...] = ()
    """Words after an hour that may also mean how long."""
    minutes: tuple[str, ...] = ()
    morning: tuple[str, ...] = ()
    evening: tuple[str, ...] = ()
    night: tuple[str, ...] = ()
    """Words that add twelve hours only from six on."""
    cardinals: Mapping[str, Decimal] = field(default_factory=dict)
    """Spelled-out numbers from two, scales too."""
    half: tuple[str, ...] = ()
    """Words that add a half after a number: and a half, y media."""
    halved: tuple[str, ...] = ()
    """Words that halve the scale or dozen after them: half a, demi."""
    shifts: Mapping[str, Decimal] = field(default_factory=dict)
    """Words that add to the number after them: साढ़े, half past, quarter to, halb, половина."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    """Spelled-out ordinals from the second."""
    loose: tuple[str, ...] = ()
    """Words of both tables that also mean something else: read in sources, not in answers."""
    point: tuple[str, ...] = ()
    """Words of the decimal sign: three point five."""
    counted: tuple[str, ...] = ()
    """Nouns of time, money and measure: before one, or joined by a hyphen, even a lone two is a figure."""
    joins: tuple[str, ...] = ()
    """Words inside a spelled-out number: and, y, و."""
    glue: str = ""
    """Joins unit and ten inside one word: und."""
    units_first: bool = False
    """The unit stands before the ten: خمسة وعشرون."""
    measures: tuple[str, ...] = ()
    """Chinese: what must follow a numeral for it to be one."""


@dataclass(frozen=True, eq=False)
class ValueGrammar:
    """The packs that a text is read with: its own first, then English; all of them when it is unknown."""

    packs: tuple[ValuePack, ...]
    is_known: bool
    other_packs: tuple[ValuePack, ...] = ()
    """The other packs: of their words only scales are heeded that mean nothing else here."""

    @property
    def own(self) -> ValuePack:
        """The pack of the text's language; the first of all where that is unknown."""
        return self.packs[0]

    @property
    def decimal(self) -> str:
        """The decimal sign; "" where the language is unknown."""
        return self.own.decimal if self.is_known else ""

    @property
    def has_spaced_groups(self) -> bool:
        """Whether plain spaces certainly part thousands."""
        return self.is_known and self.own.spaced

    def join_words(self, name: str) -> str:
        """The words of one field of all packs as a pattern; the longest first."""
        return build_alternation(word for pack in self.packs for word in getattr(pack, name))

    @cached_property
    def range_pattern(self) -> str:
        """The words between the ends of a range as a pattern, without those that also say "and"."""
        return build_alternation(word for pack in self.packs for word in pack.until if word not in pack.joins)

    @cached_property
    def link_words(self) -> frozenset[str]:
        """Words after a number that are nothing it counts."""
        return frozenset(
            word
            for pack in self.packs
            for word in (*pack.of, *pack.until, *pack.joins, *pack.point, *pack.scales)
        )

    @cached_property
    def number_endings(self) -> frozenset[str]:
        """Latin letters that may be glued to a number and leave it one."""
        return frozenset(word for pack in self.packs for word in (*pack.ordinals, *pack.units, *pack.decades))

    @cached_property
    def ordinal_endings(self) -> frozenset[str]:
        """Endings that make a number an ordinal."""
        return frozenset(word for pack in self.packs for word in pack.ordinals)

    @cached_property
    def decade_endings(self) -> frozenset[str]:
        """Endings that make a number the name of ten years."""
        return frozenset(word for pack in self.packs for word in pack.decades)

    @cached_property
    def decade_before(self) -> regex.Pattern[str]:
        return regex.compile(rf"(?<![{SPACED}])(?:{self.join_words('decade_before')})\p{{M}}*\s?'?$")

    @cached_property
    def decade_after(self) -> regex.Pattern[str]:
        return regex.compile(rf"\s?(?:{self.join_words('decade_after')})(?![{SPACED}])")

    @cached_property
    def shift_before(self) -> regex.Pattern[str]:
        """A word that adds a part to the number whose place it is searched up to: साढ़े 9."""
        return regex.compile(rf"(?<![{SPACED}])({build_alternation(self.own.shifts)})\s$")

    def find_shift(self, text: str, at: int) -> Decimal:
        """What the word before the number at `at` adds to it; 0 for none."""
        match = self.own.shifts and self.shift_before.search(text, max(0, at - SHIFT_LOOKBACK_CHARS), at)
        return self.own.shifts[match[1]] if match else Decimal(0)

    @cached_property
    def scale_powers(self) -> Mapping[str, int]:
        """Scale word → power of ten; the first pack that knows a word says what it means."""
        own = {word: power for pack in reversed(self.packs) for word, power in pack.scales.items()}
        foreign = {word: power for pack in self.other_packs for word, power in pack.scales.items()}
        certain = {word: power for word, power in foreign.items() if _is_international(word)}
        return certain | own

    @cached_property
    def scale_pattern(self) -> str:
        """A scale word as a pattern. Han needs no end, but 千米 is a unit; 45多万 is 45万 or so."""
        han = build_alternation(word for word in self.scale_powers if HAN.fullmatch(word))
        rest = build_alternation(word for word in self.scale_powers if not HAN.fullmatch(word))
        return rf"[多余餘来來几幾]?(?:{han})(?![米克瓦卡焦伏赫帕吨])|(?:{rest})(?![{SPACED}])"

    @cached_property
    def scale_word_pattern(self) -> regex.Pattern[str]:
        return regex.compile(build_alternation(self.scale_powers))


def _is_international(scale: str) -> bool:
    """Whether a scale word means what it means in any language: Milliarden, not mil."""
    return LATIN.search(scale) is None or len(scale) >= FOREIGN_CHARS_MIN


def build_alternation(items: Iterable[str]) -> str:
    """An alternation of literal words, the longest first."""
    unique = sorted(set(items), key=len, reverse=True)
    return "|".join(map(regex.escape, unique)) or NEVER


def build_minus_pattern(packs: Sequence[ValuePack]) -> str:
    """A word that makes the number after it negative, as a pattern; not at the end of a `minus_never`."""
    start = rf"(?<![{SPACED}])"
    words = build_alternation(word for pack in packs for word in pack.minus)
    phrases = build_alternation(phrase for pack in packs for phrase in pack.minus_never)
    return rf"{start}(?:{words})(?<!{start}(?:{phrases}))"


def choose_grammar(language: str | None, packs: Mapping[str, ValuePack]) -> ValueGrammar:
    """The packs for a text in `language`; None or a language without a pack: all of them."""
    if language is not None and language in packs:
        own = (packs[language], packs.get("en", packs[language]))
        return _build_grammar(own, True, tuple(packs.values()))
    return _build_grammar(tuple(packs.values()), False, ())


@lru_cache(maxsize=64)
def _build_grammar(
    packs: tuple[ValuePack, ...], is_known: bool, other_packs: tuple[ValuePack, ...]
) -> ValueGrammar:
    return ValueGrammar(tuple(dict.fromkeys(packs)), is_known, other_packs)
