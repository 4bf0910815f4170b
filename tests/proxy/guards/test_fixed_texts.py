"""Fixed texts: complete in ten languages, never to be taken for a marker, the operator's wording first."""

import pytest
import regex

from proxy.guards.fixed_texts import REFUSAL_TOPICS, FixedTexts, TextPack
from proxy.settings.languages import LANGUAGE_TAGS, load_packs

PACKS = load_packs("texts", TextPack)


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_every_pack_has_every_text(tag: str) -> None:
    flat = PACKS[tag].flatten_texts()
    assert set(PACKS[tag].refused) == set(REFUSAL_TOPICS)
    assert all(text.strip() for text in flat.values())
    assert "{sources}" in PACKS[tag].looked_in


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_no_text_holds_a_digit_or_a_bracket(tag: str) -> None:
    for key, text in PACKS[tag].flatten_texts().items():
        assert not regex.search(r"[\p{N}\[\]［］【】()]", text), key


@pytest.mark.parametrize("tag", [tag for tag in LANGUAGE_TAGS if tag != "en"])
def test_every_text_is_written_in_its_own_language(tag: str) -> None:
    english = PACKS["en"].flatten_texts()
    same = {key for key, text in PACKS[tag].flatten_texts().items() if text == english[key]}
    assert same <= {"sources"}  # French says it the same way


def test_the_operators_wording_wins_and_the_rest_is_the_packs() -> None:
    texts = FixedTexts(PACKS, {"es": {"stopped": "Hasta aquí."}})
    assert texts.render_text("withheld_rest", "es") == "Hasta aquí."
    assert texts.render_text("withheld_rest", "pt") == PACKS["pt"].withheld_rest


def test_a_text_that_is_missing_is_never_another_one() -> None:
    with pytest.raises(KeyError):
        FixedTexts(PACKS).render_text("withheld_rest", "xx")
    with pytest.raises(KeyError):
        FixedTexts(PACKS).render_text("refused.unheard", "en")


def test_a_topic_of_ones_own_has_its_text_or_the_general_one() -> None:
    texts = FixedTexts(PACKS, {"en": {"refused.deal": "Not that."}}, ("deal", "other"))
    assert texts.render_text("refused.deal", "en") == "Not that."
    assert texts.render_text("refused.deal", "de") == "Not that."
    assert texts.render_text("refused.other", "de") == PACKS["de"].refused["own"]


def test_an_unknown_key_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError):
        FixedTexts(PACKS).render_text("nonsense", "en")


def test_where_it_looked_is_filled_with_names() -> None:
    assert FixedTexts(PACKS).render_text("looked_in", "en", sources="Handbook") == "Searched: Handbook."
