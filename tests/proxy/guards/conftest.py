"""The packs and what is built of them, once a session: their examples are run at every building."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from indexes.text.language import WordPack, detect_language
from indexes.text.words import find_content_words
from proxy.guards.followup import FollowupReader
from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.refuser import QuestionRefuser, TopicSelection
from proxy.guards.route import OverviewRouter
from proxy.settings.languages import load_packs

NAMES = ("Ines Marlow", "اینس مارلو", "Инес Марлоу", "إينس مارلو", "इनेस मार्लो", "伊内丝")


@pytest.fixture(scope="session")
def refuse_packs() -> Mapping[str, RefusePack]:
    return load_packs("refuse", RefusePack)


@pytest.fixture(scope="session")
def content() -> Callable[[str], Sequence[str]]:
    """Content words under the stop words of the text's own language."""
    packs = load_packs("words", WordPack)
    return lambda text: find_content_words(text, packs[detect_language(text, packs, "en") or "en"].stop)


@pytest.fixture(scope="session")
def reader(refuse_packs: Mapping[str, RefusePack]) -> FollowupReader:
    return FollowupReader(refuse_packs)


@pytest.fixture(scope="session")
def refuser(
    refuse_packs: Mapping[str, RefusePack], reader: FollowupReader, content: Callable[[str], Sequence[str]]
) -> QuestionRefuser:
    return QuestionRefuser(
        refuse_packs, TopicSelection(), NAMES, lambda question: reader.is_contentless(question, content)
    )


@pytest.fixture(scope="session")
def router(refuse_packs: Mapping[str, RefusePack]) -> OverviewRouter:
    return OverviewRouter(refuse_packs, NAMES)
