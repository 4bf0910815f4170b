"""proxy.upstream.extractive: quotes what answers the question, word by word, and nothing by chance."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import regex

from proxy.domain.types import Source, UpstreamCall, Usage
from proxy.upstream.extractive import ExtractiveUpstream

PLANS = Source(
    1,
    "1",
    "Plans",
    "# Plans\n\nThe Basic plan costs 12 euros. The Workshop plan costs 29 euros.\n\n"
    "| Plan | Price |\n| --- | --- |\n| Basic | 12 euros |\n| Guest | 2 euros |\n\n```\nplan = basic\n```\n",
)
HOURS = Source(2, "2", "Hours", "- The counter opens at nine.\n- The gate opens at ten.")
ATLAS = Source(1, "book/a", "Atlas", "Atlas\n2022 – 2023\nAn atlas of 38 sheets.", kind="record")
PRISM = Source(2, "book/b", "Prism", "Prism\nA prism.", kind="record")


class QuoteSink:
    """A sink that remembers what it hears."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def push_text(self, piece: str) -> bool:
        self.texts.append(piece)
        return True

    def push_thought(self, piece: str) -> bool:
        raise AssertionError("quoting bills nothing")

    def push_usage(self, usage: Usage) -> None:
        assert usage == Usage(0, 0)

    async def flush(self) -> None:
        return None


def split_at_stops(text: str, language: str) -> Sequence[str]:
    return regex.split(r"(?<=\.)\s+", text)


async def quote_sources(
    *wanted: str,
    sources: tuple[Source, ...] = (PLANS, HOURS),
    overview: bool = False,
    passes: Callable[[str], bool] = lambda text: True,
) -> str:
    sink = QuoteSink()
    base_call = UpstreamCall(
        "m", (), 10, language="en", sources=sources, content_words=wanted, token="TOKEN", would_release=passes
    )
    call = replace(base_call, is_overview=overview)
    assert (await ExtractiveUpstream(split_at_stops).run(call, sink)).finish == "stop"
    return "".join(sink.texts)


async def test_the_sentence_that_shares_most_words_is_quoted_with_its_marker() -> None:
    assert await quote_sources("workshop", "plan") == "The Workshop plan costs 29 euros [1]. "


async def test_another_language_is_quoted_only_where_the_readers_own_says_nothing() -> None:
    english = Source(1, "1", "Plans", "The Kiosk plan costs 9 euros.", language="en")
    spanish = Source(2, "2", "Planes", "El plan Kiosk cuesta 9 euros.", language="es")
    wanted = ("kiosk", "plan", "euros")
    assert await quote_sources(*wanted, sources=(english, spanish)) == "The Kiosk plan costs 9 euros [1]. "
    assert await quote_sources(*wanted, sources=(spanish,)) == "El plan Kiosk cuesta 9 euros [2]. "
    stopped = await quote_sources(*wanted, sources=(english, spanish), passes=lambda text: "[2]" in text)
    assert stopped == "El plan Kiosk cuesta 9 euros [2]. "


async def test_one_word_in_common_is_chance() -> None:
    assert await quote_sources("counter", "vaccine", "tetanus") == "TOKEN"


async def test_a_question_of_one_word_needs_that_word() -> None:
    assert await quote_sources("counter") == "The counter opens at nine [2]. "


async def test_a_question_without_content_words_is_not_answered() -> None:
    assert await quote_sources() == "TOKEN"


async def test_a_row_of_a_table_comes_with_its_head() -> None:
    assert (
        await quote_sources("basic", "price")
        == "| Plan | Price |\n| --- | --- |\n| Basic | 12 euros [1] |\n\n"
    )


async def test_rows_of_one_table_come_under_one_head() -> None:
    got = await quote_sources("price", "euros")
    assert got == "| Plan | Price |\n| --- | --- |\n| Basic | 12 euros [1] |\n| Guest | 2 euros [1] |\n\n"


async def test_code_and_headings_are_not_quoted() -> None:
    assert "```" not in await quote_sources("plan", "basic")
    assert "#" not in await quote_sources("plans")


async def test_what_the_gate_would_stop_is_left_out() -> None:
    assert await quote_sources("workshop", "plan", passes=lambda text: "29" not in text) == "TOKEN"


async def test_an_overview_quotes_every_line_of_every_record() -> None:
    got = await quote_sources(sources=(ATLAS, PRISM), overview=True)
    assert got == "Atlas [1]\n2022 – 2023 [1]\nAn atlas of 38 sheets [1].\n\nPrism [2]\nA prism [2].\n"


async def test_another_form_of_a_word_is_the_word() -> None:
    breaks = Source(1, "1", "Breaks", "Each break of the lifeguards lasts 20 minutes. The pool is warm.")
    assert await quote_sources("long", "break", "lifeguard", sources=(breaks,)) == (
        "Each break of the lifeguards lasts 20 minutes [1]. "
    )
