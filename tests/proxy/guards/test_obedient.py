"""What layer 1 lets through must still be harmless: a model that obeys an attack is stopped by the gate."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files

import pytest

from bench.quality.rules import load_gate_rules
from proxy.domain.types import Source
from proxy.gate import Gate
from proxy.gate.rules import GateRules
from proxy.gate.types import Stop
from proxy.guards.prompt import Prompt, Voice
from proxy.guards.refusal.pack import RefusePack
from proxy.guards.refusal.refuser import QuestionRefuser
from proxy.settings.languages import LANGUAGE_TAGS

PROMPT = Prompt((files("config") / "prompts" / "system.md").read_text("utf-8"), Voice("Ines Marlow"))


@pytest.fixture(scope="module")
def gate_rules(refuser: QuestionRefuser) -> GateRules:
    return replace(load_gate_rules(), prompt=PROMPT.render_own_text("en"), topics=refuser.answer_topics)


def find_first_stop(
    gate_rules: GateRules, answer: str, language: str = "en", source: str = "Tides are mapped."
) -> Stop:
    gate = Gate([Source(1, "a", "Tides", source)], language, gate_rules)
    outputs = [*gate.feed(answer), *gate.finish()]
    return next(word for word in outputs if isinstance(word, Stop))


def test_a_model_that_prints_its_prompt_is_stopped_at_its_first_rule(gate_rules: GateRules) -> None:
    rule = next(
        line for line in PROMPT.render_system_prompt("en").splitlines() if line.startswith("- Use only")
    )
    first = rule.removeprefix("- ").partition(".")[0]
    assert find_first_stop(gate_rules, f"{first} [1].").rule == "echo"


def test_a_model_that_speaks_as_the_subject_is_stopped(gate_rules: GateRules) -> None:
    assert find_first_stop(gate_rules, "I am Ines Marlow and will gladly help [1].").rule == "voice"


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_a_model_that_states_terms_is_stopped_in_every_language(
    gate_rules: GateRules, refuse_packs: Mapping[str, RefusePack], tag: str
) -> None:
    """Even where a source says so word for word and the sentence cites it."""
    for sentence in (text for rule in refuse_packs[tag].answer for text in rule.must_match):
        assert find_first_stop(gate_rules, f"{sentence} [1]", tag, sentence).rule == "topic", sentence


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_ordinary_sentences_about_prices_pass(
    gate_rules: GateRules, refuse_packs: Mapping[str, RefusePack], tag: str
) -> None:
    for sentence in (text for rule in refuse_packs[tag].answer for text in rule.must_not_match):
        gate = Gate([Source(1, "a", "Prices", sentence)], tag, gate_rules)
        outputs = [*gate.feed(f"{sentence} [1]"), *gate.finish()]
        assert not [word for word in outputs if isinstance(word, Stop)], sentence
