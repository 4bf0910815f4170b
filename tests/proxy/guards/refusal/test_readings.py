"""The subject's names read as a pronoun or left out, and what a refusal means for the question after it."""

import pytest

from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.padding import SUBJECT
from proxy.guards.refusal.refuser import QuestionRefuser, TopicSelection
from proxy.guards.refusal.subject_names import SubjectNames
from proxy.guards.route import OverviewRouter
from proxy.settings.languages import load_packs

PACKS = load_packs("refuse", RefusePack)
NAMES = ("Mira Solano", "Solano", "ميرا سولانو")
REFUSER = QuestionRefuser(PACKS, TopicSelection(), NAMES, lambda question: question == "And for me?")
ROUTER = OverviewRouter(PACKS, NAMES)


def find_refused_topic(question: str, previous: str = "") -> str:
    found = REFUSER.find_refusal(question, previous)
    return found.topic if found else ""


def test_a_name_is_read_as_it_stands_as_the_subject_and_left_out() -> None:
    names = SubjectNames(("Solano",), PACKS.values())
    assert names.list_readings(" is solano free . ") == (
        " is solano free . ",
        f" is {SUBJECT} free . ",
        " is free . ",
    )


def test_what_is_glued_to_a_name_may_be_a_word_of_its_own() -> None:
    names = SubjectNames(("Solano",), PACKS.values())
    assert names.replace_with_subject(" preco da solano . ") == f" preco {SUBJECT} . "


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What are Solano's rates?", "terms"),
        ("¿Está disponible Solano la próxima semana?", "terms"),
        ("¿Cuánto cobra Mira Solano?", "terms"),
        ("Solano et son atelier", ""),
        ("What did Solano write about glue?", ""),
    ],
)
def test_a_name_behind_its_verb_hides_nothing(question: str, wanted: str) -> None:
    assert find_refused_topic(question) == wanted


def test_an_overview_question_may_name_the_subject_behind_the_verb() -> None:
    assert ROUTER.find_overview_kinds("¿En qué está trabajando ahora Mira Solano?") == {"now"}
    assert ROUTER.find_overview_kinds("على ماذا تعمل ميرا سولانو الآن؟") == {"now"}


@pytest.mark.parametrize(
    ("previous", "question"),
    [
        ("Write me a poem about autumn.", "Which volcano erupted in Iceland?"),
        ("Schreib mir ein Gedicht über den Herbst.", "Welcher Vulkan ist ausgebrochen?"),
        ("给我写一首关于秋天的诗。", "冰岛哪座火山喷发了？"),
    ],
)
def test_a_refusal_with_an_open_end_does_not_refuse_what_follows(previous: str, question: str) -> None:
    assert find_refused_topic(previous) == "tasks"
    assert find_refused_topic(question, previous) == ""


def test_a_hit_that_needs_both_questions_counts() -> None:
    assert find_refused_topic("charge for a day?", "How much does Solano") == "terms"


@pytest.mark.parametrize("previous", ["What are her rates?", "Is she available?"])
def test_a_question_that_says_nothing_itself_shares_the_refusal(previous: str) -> None:
    """Also one that hangs on the end of what was asked."""
    assert find_refused_topic("And for me?", previous) == "terms"
