"""The packs and what is built of them, once a session: their examples are run at every building."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from indexes.text.language import WordPack, detect_language
from indexes.text.words import find_content_words
from proxy.guards.followup import Reader
from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.refuser import Refuser, Topics
from proxy.guards.route import Router
from proxy.settings.languages import parts

NAMES = ("Ines Marlow", "اینس مارلو", "Инес Марлоу", "إينس مارلو", "इनेस मार्लो", "伊内丝")


@pytest.fixture(scope="session")
def refuse_packs() -> Mapping[str, RefusePack]:
    return parts("refuse", RefusePack)


@pytest.fixture(scope="session")
def content() -> Callable[[str], Sequence[str]]:
    """Content words under the stop words of the text's own language."""
    packs = parts("words", WordPack)
    return lambda text: find_content_words(text, packs[detect_language(text, packs, "en") or "en"].stop)


@pytest.fixture(scope="session")
def reader(refuse_packs: Mapping[str, RefusePack]) -> Reader:
    return Reader(refuse_packs)


@pytest.fixture(scope="session")
def refuser(
    refuse_packs: Mapping[str, RefusePack], reader: Reader, content: Callable[[str], Sequence[str]]
) -> Refuser:
    return Refuser(refuse_packs, Topics(), NAMES, lambda question: reader.contentless(question, content))


@pytest.fixture(scope="session")
def router(refuse_packs: Mapping[str, RefusePack]) -> Router:
    return Router(refuse_packs, NAMES)
