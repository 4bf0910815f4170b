"""Phrases over padded words: what they mean, what is refused at load, and that none can fail unseen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.text.folding import fold_text
from proxy.domain.errors import ConfigError
from proxy.guards.refusal.padding import SUBJECT, fold_and_pad, pad_text
from proxy.guards.refusal.patterns import CANARY, Pattern, PatternRule, PatternSet, compile_rule, prove_rules
from proxy.guards.refusal.phrases import PhraseLexicon, parse_pattern

LEXICON = PhraseLexicon(
    classes={"fee": ("rate~", "hourly fee")},
    pronouns={"his": ("his", "your")},
    requests=("could you",),
    leads=("now",),
)


def has_pattern_hit(phrase: str, text: str, lexicon: PhraseLexicon = LEXICON) -> bool:
    part = parse_pattern(phrase, lexicon)
    return bool(
        PatternSet([Pattern(phrase, "t", "en", part.regex, part.needs)]).find_hits(fold_and_pad(text))
    )


@pytest.mark.parametrize(
    ("phrase", "text", "hit"),
    [
        ("how much * charge", "How much would they charge?", True),
        ("how much * charge", "How much? They charge a lot.", False),  # a gap stays in its sentence
        ("how much * charge", "how much a b c d e f g charge", False),  # six words at most
        ("charge", "charged", False),
        ("charge~", "charged", True),
        ("~charge", "surcharge", True),
        ("(my|our own) rate too?", "our own rate", True),
        ("(my|our own) rate too?", "our rate", False),
        ("{his} {fee}", "what are YOUR rates", True),
        ("{his} {fee}", "what is your hourly fee", True),
        ("^write * poem", "Please rest. Write a poem!", True),
        ("^write * poem", "Well, could you write a poem", True),
        ("^write * poem", "Poets write a poem", False),
        ("who is she$", "who is she?", True),
        ("who is she$", "who is she talking to", False),
        ("cuánto cobra", "CUANTO COBRA", True),  # accents do not matter
        ("می‌گیرد", "چقدر میگیرد", True),  # a joiner is a space or nothing
        ("می‌گیرد", "چقدر می گیرد", True),
        ("你 * 收费", "请问你每小时收费多少", True),  # Han needs no boundary
        ("متاح", "هل أنت مُتاح", True),  # harakat do not matter
    ],
)
def test_a_phrase_means_what_its_syntax_says(phrase: str, text: str, hit: bool) -> None:
    assert has_pattern_hit(phrase, text) is hit


def test_a_pronoun_class_also_stands_for_the_subject() -> None:
    part = parse_pattern("{his} {fee}", LEXICON)
    assert PatternSet([Pattern("", "t", "en", part.regex, part.needs)]).find_hits(f" . {SUBJECT} rates . ")


@pytest.mark.parametrize("trap", [r"\bfee", r"\w+", r"\d{3}", r"x\B", r"\s"])
def test_classes_that_know_ascii_only_are_refused_with_the_reason(trap: str) -> None:
    with pytest.raises(ValueError, match="ASCII"):
        parse_pattern(f"regex:{trap}", LEXICON)


@pytest.mark.parametrize(
    ("phrase", "said"),
    [("{nobody} pays", "no class"), ("(a|b", "not closed"), ("!", "no letter"), ("x" * 301, "longer than")],
)
def test_a_phrase_that_cannot_be_read_says_why(phrase: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        compile_rule(PatternRule("t", (phrase,)), "en", LEXICON, "here.toml")


def test_bad_re2_names_the_pattern() -> None:
    with pytest.raises(ConfigError, match=r"\(broken"):
        PatternSet(compile_rule(PatternRule("t", ("regex:(broken",)), "en", LEXICON, "here.toml"))


def test_a_pattern_that_no_example_shows_to_work_fails_at_load() -> None:
    with pytest.raises(ConfigError, match=r"here.toml: terms: pattern 'never said': want a `match`"):
        prove_rules(
            (PatternRule("terms", ("how much", "never said"), ("how much is it",)),),
            "en",
            LEXICON,
            "here.toml",
        )


def test_what_the_proof_compiled_is_not_kept() -> None:
    proven = prove_rules(
        (PatternRule("terms", ("how much",), ("how much is it",)),), "en", LEXICON, "here.toml"
    )
    assert not any("compiled" in vars(pattern) for pattern in proven)
    assert PatternSet(proven).find_hits(fold_and_pad("how much is it")) == list(proven)


def test_a_missed_example_and_a_spare_one_that_hits_are_both_told() -> None:
    rule = PatternRule("terms", ("how much",), ("how much is it", "what price"), ("how much rain fell",))
    with pytest.raises(ConfigError) as fault:
        prove_rules((rule,), "en", LEXICON, "here.toml")
    assert len(fault.value.faults) == 2
    assert "what price" in fault.value.faults[0]
    assert "how much rain fell" in fault.value.faults[1]


def test_a_set_that_runs_out_of_memory_fails_closed() -> None:
    """RE2 sets report nothing then; without the canary among the hits every pattern is run by itself."""

    class ExhaustedLiteralSet:
        def match_text(self, text: bytes) -> None:
            return None

    part = parse_pattern("how much", LEXICON)
    patterns = PatternSet([Pattern("how much", "t", "en", part.regex, part.needs)])
    patterns._literal_set = ExhaustedLiteralSet()  # type: ignore[assignment]
    assert patterns.find_hits(fold_and_pad("how much?"))


def test_a_user_cannot_write_the_signs_that_stand_for_the_subject_and_the_canary() -> None:
    assert SUBJECT not in fold_and_pad(f"a {SUBJECT} b {CANARY}")
    assert CANARY not in fold_and_pad(f"a{CANARY}b")


@given(st.text(alphabet="ab.!? \n،۔؟，。\"'میهяё-ज़ँéß1٣", max_size=40))
@settings(max_examples=100)
def test_word_by_word_gives_the_same_as_all_at_once(text: str) -> None:
    assert fold_and_pad(text) == pad_text(fold_text(text.replace("\n", " ; ")))


@given(st.lists(st.sampled_from(["how", "much", "would", "they", "charge", ".", "a"]), max_size=14))
@settings(max_examples=100)
def test_what_is_skipped_for_want_of_a_word_would_not_have_hit(words: list[str]) -> None:
    part = parse_pattern("how much * (charge|would they)", LEXICON)
    pattern = Pattern("", "t", "en", part.regex, part.needs)
    text = pad_text(" ".join(words))
    assert bool(PatternSet([pattern]).find_hits(text)) == bool(pattern.search(text))
