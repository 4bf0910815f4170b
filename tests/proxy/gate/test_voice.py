"""First person in ten languages, and what only looks like it."""

import statistics
import time

import pytest

from indexes.text.folding import fold_text
from proxy.gate.voice import VoicePack, find_first_person
from proxy.settings.languages import LANGUAGE_TAGS, load_packs
from tests.proxy.gate.first_person_sentences import SPOKEN, UNSPOKEN
from tests.proxy.gate.gate_runs import find_stop_rule, run_gate

PACKS = load_packs("voice", VoicePack)


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in SPOKEN.items() for text in texts])
def test_first_person_is_found(tag: str, text: str) -> None:
    assert find_first_person(text, tag, PACKS, [])


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in UNSPOKEN.items() for text in texts])
def test_what_only_looks_like_it_is_spared(tag: str, text: str) -> None:
    assert find_first_person(text, tag, PACKS, []) == ""


def test_lists_are_never_applied_across_languages() -> None:
    assert find_first_person("الكتاب من المكتبة", "ar", PACKS) == ""
    assert find_first_person("Es por me y mi.", "en", PACKS) == "me"
    assert find_first_person("I think so.", None, PACKS) == ""
    assert find_first_person("I think so.", "xx", PACKS) == ""


def test_a_quoted_title_of_a_cited_source_is_spared() -> None:
    source = "She wrote the book “Where I Was From” in 2003."
    assert find_first_person("She wrote “Where I was from”.", "en", PACKS, [source]) == ""
    assert find_first_person("She wrote “Where I Was From,” then left.", "en", PACKS, [source]) == ""
    assert find_first_person("She wrote “What I Want”.", "en", PACKS, [source]) == "I"
    assert find_first_person("I read “Where I Was From”.", "en", PACKS, [source]) == "I"
    assert find_first_person("She wrote Where I Was From.", "en", PACKS, [source]) == "I"
    assert find_first_person("《我的城市》已出版。", "zh", PACKS, ["出版《我的城市》一书"]) == ""


def test_unseen_characters_hide_nothing() -> None:
    assert find_first_person("m\u200by view", "en", PACKS)
    assert find_first_person("\u2060I\u00ad think", "en", PACKS)


@pytest.mark.parametrize("text", ["Ｉ think", "𝐈 think", "І think", "𝗺𝘆 view"])
def test_letters_in_another_dress_hide_nothing(text: str) -> None:
    assert find_first_person(text, "en", PACKS)


@pytest.mark.parametrize("text", ["&#73; am glad", "w*e* are glad", "**I** am glad", "w&shy;e are glad"])
def test_markup_hides_no_first_person(text: str) -> None:
    assert find_stop_rule(run_gate(f"It costs 12 euros [1]. {text} [1].")) == "voice"


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_folded_entries_are_folded_and_each_is_found(tag: str) -> None:
    pack = PACKS[tag]
    for entry in (*pack.words, *pack.exceptions):
        assert fold_text(entry) == entry
    for entry in pack.words:
        said = entry.replace(" ?", " ").replace("*", "xx" if tag == "en" else "سس" if tag == "fa" else "कर")
        assert find_first_person(f"{said}x" if said.endswith("'") else said, tag, PACKS), entry


@pytest.mark.parametrize("tag", [tag for tag in LANGUAGE_TAGS if PACKS[tag].bounded])
def test_an_entry_is_found_with_its_space_and_without_and_behind_each_prefix(tag: str) -> None:
    pack = PACKS[tag]
    for entry in (word for word in pack.words if "*" not in word and not word.endswith("'")):
        for said in (entry.replace(" ?", " "), entry.replace(" ?", "")):
            assert all(find_first_person(prefix + said, tag, PACKS) for prefix in ("", *pack.prefixes)), said


@pytest.mark.parametrize("text", ["the roof of the house", "a view of it as a model"])
def test_a_few_words_of_an_entry_ask_for_no_dear_look(text: str) -> None:
    assert not PACKS["en"].can_match(text)


def test_a_sentence_is_heard_in_microseconds() -> None:
    text = "The library stays open to students during the summer holidays and on every other Sunday."
    spent = []
    for _ in range(50):
        started = time.thread_time()  # not what neighbours take
        find_first_person(text, "en", PACKS, [])
        spent.append(time.thread_time() - started)
    assert statistics.median(spent) < 500e-6
