"""Overview questions go to records by rule, look-alikes do not; what counts as about the subject."""

from collections.abc import Mapping
from typing import Any

import pytest

from bench.quality.patterns import load_own_set
from proxy.guards.refusal.pack import RECORD_KINDS
from proxy.guards.refusal.refuser import QuestionRefuser
from proxy.guards.route import OverviewRouter
from proxy.settings.languages import LANGUAGE_TAGS

SETS: Mapping[str, Any] = load_own_set("overview")


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_overview_questions_reach_the_records_of_their_kind(
    router: OverviewRouter, refuser: QuestionRefuser, tag: str
) -> None:
    """At least ten a language, and none of them is refused by layer 1."""
    asked = SETS[tag]["overview"]
    assert len(asked) >= 10
    for kind, question in asked:
        wanted = set(RECORD_KINDS) if kind == "all" else {kind}
        assert wanted <= router.find_overview_kinds(question), question
        assert refuser.find_refusal(question) is None, question


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_look_alikes_are_left_to_the_search(router: OverviewRouter, tag: str) -> None:
    assert len(SETS[tag]["other"]) >= 10
    assert not [question for question in SETS[tag]["other"] if router.find_overview_kinds(question)]


@pytest.mark.parametrize(
    ("question", "history", "language", "about"),
    [
        ("What did Ines Marlow say in Oslo?", "", "en", True),
        ("What did she say in Oslo?", "Who is Ines Marlow?", "en", True),
        ("What did she say in Oslo?", "", "en", False),  # a pronoun after no name points at anybody
        ("What can you do for me?", "Who is Ines Marlow?", "en", False),  # never "you"
        ("Können Sie mir helfen?", "Wer ist Ines Marlow?", "de", False),
        ("Was sagte sie in Oslo?", "Wer ist Ines Marlow?", "de", True),
        ("¿Cuál es la capital de su país?", "¿Quién es Ines Marlow?", "es", False),
        ("她在奥斯陆说了什么？", "伊内丝是谁？", "zh", True),
        ("Что она сказала?", "Кто такая Инес Марлоу?", "ru", True),
        ("او در اسلو چه گفت؟", "اینس مارلو کیست؟", "fa", True),
    ],
)
def test_about_the_subject_is_a_name_or_a_pronoun_after_one(
    router: OverviewRouter, question: str, history: str, language: str, about: bool
) -> None:
    assert router.is_about_subject(question, history, language) is about
