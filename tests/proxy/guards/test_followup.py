"""Follow-ups are understood without doubt or not at all: positions, lists, bare turns, in ten languages."""

from collections.abc import Callable, Sequence

import pytest

from proxy.domain.types import ChatRequest, Turn
from proxy.guards.followup import FollowupReader, list_items

TITLES = ("Blue Harbour", "Tide Atlas", "Salt Marsh Survey", "Blue")
ANSWER = "She led three projects: Blue Harbour, Tide Atlas and Salt Marsh Survey."
ASKED = "Which projects has she led?"
Content = Callable[[str], Sequence[str]]


def make_conversation(question: str, *before: str) -> ChatRequest:
    turns = tuple(Turn("assistant" if n % 2 else "user", text) for n, text in enumerate(before))
    return ChatRequest("m", question, turns)


@pytest.mark.parametrize(
    "question",
    [
        "Tell me more about the second one",
        "Cuéntame más sobre el segundo",
        "Fale mais sobre o segundo",
        "Parlez-moi du deuxième",
        "Erzähl mir mehr über das zweite",
        "Расскажи подробнее о втором",
        "دربارهٔ دومی بیشتر بگو",
        "أخبرني المزيد عن الثاني",
        "दूसरे के बारे में और बताओ",
        "再说说第二个",
    ],
)
def test_a_bare_position_is_read_in_every_language(
    reader: FollowupReader, content: Content, question: str
) -> None:
    """Its own text has no content word, so the item's title is what coverage is taken of."""
    followup = reader.read_followup(make_conversation(question, ASKED, ANSWER), TITLES, content)
    assert followup.item == "Tide Atlas"
    assert followup.is_bare
    assert followup.texts[0] == "Tide Atlas"


def test_a_position_with_a_question_of_its_own_keeps_it(reader: FollowupReader, content: Content) -> None:
    followup = reader.read_followup(
        make_conversation("How long did the third one take?", ASKED, ANSWER), TITLES, content
    )
    assert followup.item == "Salt Marsh Survey"
    assert followup.texts[0] == "How long did the third one take?"
    assert "Salt Marsh Survey" in followup.texts[1]


@pytest.mark.parametrize(
    "question", ["And the first and the second?", "What about the fifth one?", "Tell me about the fourth"]
)
def test_a_position_in_doubt_gets_the_beginning_of_the_answer_instead(
    reader: FollowupReader, content: Content, question: str
) -> None:
    followup = reader.read_followup(make_conversation(question, ASKED, ANSWER), TITLES, content)
    assert followup.item == ""
    assert ANSWER in followup.texts[-1]


def test_an_ordinal_that_is_no_position_is_none(reader: FollowupReader, content: Content) -> None:
    followup = reader.read_followup(
        make_conversation("Was the harbour used in the second world war?", ASKED, ANSWER), TITLES, content
    )
    assert followup.item == ""
    assert followup.texts[1] == f"{ASKED}\nWas the harbour used in the second world war?"


def test_the_other_one_is_the_one_not_spoken_of(reader: FollowupReader, content: Content) -> None:
    request = make_conversation(
        "And the other one?",
        "Which maps are there?",
        "Two: Blue Harbour and Tide Atlas.",
        "Tell me about the first one",
        "Blue Harbour shows the old quays.",
    )
    assert reader.read_followup(request, TITLES, content).item == "Tide Atlas"


@pytest.mark.parametrize(
    "more", ["yes", "Go on!", "sí", "sim", "oui", "ja", "да", "بله", "نعم", "हाँ", "继续", "ادامه بده"]
)
def test_yes_and_go_on_mean_the_question_before(reader: FollowupReader, content: Content, more: str) -> None:
    followup = reader.read_followup(make_conversation(more, ASKED, ANSWER), TITLES, content)
    assert followup.is_bare
    assert followup.texts == (ASKED,)


def test_yes_twice_still_means_the_last_question_with_content(
    reader: FollowupReader, content: Content
) -> None:
    followup = reader.read_followup(
        make_conversation("go on", ASKED, ANSWER, "yes", "It also holds maps."), TITLES, content
    )
    assert followup.texts == (ASKED,)


def test_a_first_turn_is_searched_as_it_is(reader: FollowupReader, content: Content) -> None:
    assert reader.read_followup(make_conversation("Tell me about the second one"), TITLES, content).texts == (
        "Tell me about the second one",
    )


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ANSWER, ["Blue Harbour", "Tide Atlas", "Salt Marsh Survey"]),  # "Blue" is no mention of its own
        ("«Uno» y después «Dos».", ["Uno", "Dos"]),  # no title of the site: what it quotes
        ("1. Tide Atlas (2019)\n2. Blue Harbour\n", ["Tide Atlas", "Blue Harbour"]),
        ("1. Tide Atlas\n2. something else\n3. Blue Harbour", []),  # an item that cannot be named: doubt
        ("《潮》和《盐》", ["潮", "盐"]),
        (f"«{'long ' * 70}» and «Dos»", []),  # whole paragraphs are no names, and counting without them errs
        ("- Tide Atlas\n" * 51, []),
    ],
)
def test_a_list_is_read_by_titles_or_by_quotes(answer: str, found: list[str]) -> None:
    assert list_items(answer, TITLES) == found


def test_what_is_tested_for_refusal_is_what_is_searched(reader: FollowupReader, content: Content) -> None:
    """Else a "yes" in between would part "and for me?" from the forbidden question that it speaks on of."""
    request = make_conversation("and for me?", ASKED, "Well.", "yes", "Well.")
    assert reader.find_previous_question(request, content) == ASKED
    assert reader.read_followup(request, TITLES, content).texts[-1].startswith(ASKED)
    assert reader.find_previous_question(make_conversation("and for me?", ASKED, ANSWER), content) == ASKED
