"""Faithful sentences with every value altered: all must stop; unaltered, in every notation, all must pass.

`python -m bench quality mutations [--data DIR] [--list]`: our own sentences in ten languages; with `--data`
also the faithful labelled answers of `DIR/gate/*.jsonl`, each digit of which is altered in turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click
import regex

from bench.quality import slips
from bench.quality.facts import AMOUNTS, DAYS, DECIMALS, FACTS, TIMES_OF_DAY, LanguageFacts
from bench.quality.figures import HitCount
from bench.quality.gate import read_labelled_answers
from bench.quality.rules import load_gate_rules
from proxy.domain.types import Source
from proxy.gate import Gate, Stop

UNCITED_VALUE = "1999"
"""All that the second source holds, which no sentence cites."""
_NUMBER = regex.compile(
    r"(?<![\p{L}\p{N}.,:/-])\p{Nd}{1,3}(?:,\p{Nd}{3})*(?:\.\p{Nd}+)?(?![\p{L}\p{N}/:-]|[.,]\p{N})"
)


@dataclass(frozen=True, slots=True)
class MutationTrial:
    """A sentence that cites `source`, and whether the gate must let it pass."""

    kind: str
    source: str
    sentence: str
    must_pass: bool


def find_stopping_rule(trial: MutationTrial, language: str) -> str:
    """Rule that stops the sentence; "" if it is released whole."""
    other = Source(2, "b", "", UNCITED_VALUE, language=language)
    gate = Gate([Source(1, "a", "", trial.source, language=language), other], language, load_gate_rules())
    for out in [*gate.feed(f"{trial.sentence} [1]\n"), *gate.finish()]:
        if isinstance(out, Stop):
            return out.rule
    return ""


def iterate_trials(language: str, facts: LanguageFacts) -> Iterator[MutationTrial]:
    """Every sentence of a language, right in each notation and wrong in each way."""
    yield from _build_number_trials(language, facts)
    yield from _build_date_trials(language, facts)
    for hour, minute in TIMES_OF_DAY:
        right, wrong = slips.format_times(hour, minute, facts), slips.iterate_wrong_times(hour, minute, facts)
        yield from _build_trials("time", facts.time_sentence, right, wrong)
    yield from _build_trials("url", facts.url_sentence, slips.list_urls(), slips.iterate_wrong_urls())
    yield from _build_trials("mail", facts.mail_sentence, slips.list_mails(), slips.iterate_wrong_mails())
    yield from _build_uncited_trials(facts)


def _build_number_trials(language: str, facts: LanguageFacts) -> Iterator[MutationTrial]:
    """Whole numbers, numbers in words in their place, and decimals."""
    scales = list(load_gate_rules().values[language].scales)
    for form in facts.amount_sentences:
        for whole in AMOUNTS:
            wrong = slips.iterate_wrong_amounts(whole, facts, scales)
            yield from _build_trials("number", form, slips.format_amounts(whole, facts), wrong)
        plain = slips.format_amounts(AMOUNTS[0], facts)[:1]
        yield from _build_trials("spelled", form, plain, _iterate_number_words(language))
    for form in facts.decimal_sentences:
        for number in DECIMALS:
            right = slips.format_decimals(number, facts)
            yield from _build_trials("decimal", form, right, slips.iterate_wrong_decimals(number, facts))


def _build_date_trials(language: str, facts: LanguageFacts) -> Iterator[MutationTrial]:
    months = load_gate_rules().values[language].months
    for form in facts.date_sentences:
        for day in (date(*parts) for parts in DAYS):
            right = slips.format_dates(day, facts, months)
            yield from _build_trials("date", form, right, slips.iterate_wrong_dates(day, facts, months))


def _build_trials(kind: str, form: str, right: list[str], wrong: Iterator[str]) -> Iterator[MutationTrial]:
    """The source says the first of `right` in the words of `form`."""
    source = form.format(right[0]) + "."
    yield from (MutationTrial(kind, source, form.format(value), True) for value in right)
    yield from (MutationTrial(kind, source, form.format(value), False) for value in wrong)


def _iterate_number_words(language: str) -> Iterator[str]:
    """Numbers in words, of those words that can mean nothing else."""
    pack = load_gate_rules().values[language]
    if pack.measures:
        yield from ("三十五", "四百二十", "九千零五", "两万")
        return
    yield from [word for word, n in pack.cardinals.items() if n > 12 and word not in pack.loose][:12]


def _build_uncited_trials(facts: LanguageFacts) -> Iterator[MutationTrial]:
    """A value that another source holds, but not the one cited."""
    for form in (*facts.amount_sentences, *facts.decimal_sentences):
        yield MutationTrial("moved", form.format("7"), form.format(UNCITED_VALUE), False)


def alter_digits(text: str) -> Iterator[str]:
    """`text` with one digit of one number altered, for each digit; list numbers are left alone."""
    for match in _NUMBER.finditer(text):
        rest = text[match.end() :]
        if match.end() - match.start() < 3 and (rest == "." or rest.startswith(")")):
            continue
        for i in range(match.start(), match.end()):
            if text[i].isdigit():
                yield text[:i] + str((int(text[i]) + 1) % 10) + text[i + 1 :]


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--list", "listing", is_flag=True, help="Each altered sentence that passes, each right one that stops."
)
def _measure_mutations(data: Path | None, listing: bool) -> int:
    missed = 0
    print(f"{'':4} altered, stopped   unaltered, released")
    for language, facts in FACTS.items():
        altered, unaltered = HitCount(), HitCount()
        for trial in iterate_trials(language, facts):
            is_right = (find_stopping_rule(trial, language) == "") == trial.must_pass
            (unaltered if trial.must_pass else altered).add(is_right)
            if listing and not is_right:
                fate = "stopped" if trial.must_pass else "passed"
                print(f"  {trial.kind} {fate}: {trial.sentence!r} ({trial.source!r})")
        print(
            f"{language:4} {altered.hits:5}/{altered.total:<5}         "
            f"{unaltered.hits:5}/{unaltered.total:<5}"
        )
        missed += altered.misses + unaltered.misses
    if data:
        missed += _count_missed_digits(data, listing)
    return 1 if missed else 0


def _count_missed_digits(data: Path, listing: bool) -> int:
    """The sentences of faithful answers with each digit altered in turn; how many of these pass."""
    altered = HitCount()
    for item in read_labelled_answers(data):
        if not item["faithful"] or item["dataset"].endswith("xling"):
            continue
        for sentence in (s.strip() for s in regex.split(r"(?<=[.!?])\s+", item["response"])):
            for wrong in alter_digits(sentence):
                if _has_source_numbers(wrong, sentence, item["sources"]):
                    continue
                trial = MutationTrial("labelled", "\n\n".join(item["sources"]), wrong, False)
                is_stopped = find_stopping_rule(trial, item["lang"]) != ""
                altered.add(is_stopped)
                if listing and not is_stopped:
                    print(f"  labelled passed: {wrong!r} for {sentence!r}")
    print(f"labelled answers: {altered.hits}/{altered.total} altered digits stopped")
    return altered.misses


def _has_source_numbers(wrong: str, right: str, sources: list[str]) -> bool:
    """Whether an alteration makes a number that a source happens to hold as well."""
    new_numbers = set(_NUMBER.findall(wrong)) - set(_NUMBER.findall(right))
    plain = "".join(sources).replace(",", "")
    return all(
        regex.search(rf"(?<!\d){number.replace(',', '').rstrip('.')}(?!\d)", plain) for number in new_numbers
    )


def run(arguments: list[str]) -> int:
    """Exit 1 if an altered sentence passes or a right one stops."""
    return int(_measure_mutations.main(arguments, standalone_mode=False) or 0)
