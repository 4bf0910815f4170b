"""Faithful sentences with every value altered: all must stop; unaltered, in every notation, all must pass.

`python -m bench quality mutations [--data DIR] [--list]`: our own sentences in ten languages; with `--data`
also the faithful labelled answers of `DIR/gate/*.jsonl`, each digit of which is altered in turn.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click
import regex

from bench.quality import slips
from bench.quality.facts import AMOUNTS, DAYS, FACTS, HOURS, SHARES, Facts
from bench.quality.gate import items
from bench.quality.rules import rules
from proxy.domain.types import Source
from proxy.gate import Gate, Stop

MOVED = "1999"
"""A value of the source that is not cited."""
_NUMBER = regex.compile(
    r"(?<![\p{L}\p{N}.,:/-])\p{Nd}{1,3}(?:,\p{Nd}{3})*(?:\.\p{Nd}+)?(?![\p{L}\p{N}/:-]|[.,]\p{N})"
)


@dataclass(frozen=True, slots=True)
class Trial:
    """A sentence that cites the source below; `right` says whether it must pass."""

    kind: str
    source: str
    said: str
    right: bool


def passes(trial: Trial, language: str) -> str:
    """Rule that stops the sentence; "" if it is released."""
    other = Source(2, "b", "", MOVED, language=language)
    gate = Gate([Source(1, "a", "", trial.source, language=language), other], language, rules())
    for out in [*gate.feed(f"{trial.said} [1]\n"), *gate.finish()]:
        if isinstance(out, Stop):
            return out.rule
    return ""


def trials(language: str, facts: Facts) -> Iterator[Trial]:
    """Every sentence of a language, right in each notation and wrong in each way."""
    months = rules().values[language].months
    for form in facts.amount:
        for whole in AMOUNTS:
            wrong = slips.wrong_amounts(whole, facts, list(rules().values[language].scales))
            yield from _trials("number", form, slips.amounts(whole, facts), wrong)
        yield from _trials("spelled", form, slips.amounts(1250, facts)[:1], _spelled(language))
    for form in facts.share:
        for number in SHARES:
            yield from _trials(
                "decimal", form, slips.shares(number, facts), slips.wrong_shares(number, facts)
            )
    for form in facts.day:
        for day in (date(*parts) for parts in DAYS):
            right, wrong = slips.dates(day, facts, months), slips.wrong_dates(day, facts, months)
            yield from _trials("date", form, right, wrong)
    for hour, minute in HOURS:
        right, wrong = slips.times(hour, minute, facts), slips.wrong_times(hour, minute, facts)
        yield from _trials("time", facts.hour, right, wrong)
    yield from _trials("url", facts.page, slips.pages(), slips.wrong_pages())
    yield from _trials("mail", facts.post, slips.posts(), slips.wrong_posts())
    yield from _moved(facts)


def _trials(kind: str, form: str, right: list[str], wrong: Iterator[str]) -> Iterator[Trial]:
    source = form.format(right[0]) + "."
    yield from (Trial(kind, source, form.format(value), True) for value in right)
    yield from (Trial(kind, source, form.format(value), False) for value in wrong)


def _spelled(language: str) -> Iterator[str]:
    """Numbers in words, of those words that can mean nothing else."""
    pack = rules().values[language]
    if pack.measures:
        yield from ("三十五", "四百二十", "九千零五", "两万")
        return
    yield from [word for word, n in pack.cardinals.items() if n > 12 and word not in pack.loose][:12]


def _moved(facts: Facts) -> Iterator[Trial]:
    """A value that another source holds, but not the one cited."""
    for form in (*facts.amount, *facts.share):
        yield Trial("moved", form.format("7"), form.format(MOVED), False)


def altered(text: str) -> Iterator[str]:
    """`text` with one digit of one number altered, for each digit; list numbers are left alone."""
    for m in _NUMBER.finditer(text):
        if m.end() - m.start() < 3 and (text[m.end() :] == "." or text[m.end() : m.end() + 1] == ")"):
            continue
        for i in range(m.start(), m.end()):
            if text[i].isdigit():
                yield text[:i] + str((int(text[i]) + 1) % 10) + text[i + 1 :]


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--list", "listing", is_flag=True, help="Each altered sentence that passes, each right one that stops."
)
def _command(data: Path | None, listing: bool) -> int:
    missed = 0
    print(f"{'':4} altered, stopped   unaltered, released")
    for language, facts in FACTS.items():
        counts: Counter[str] = Counter()
        for trial in trials(language, facts):
            good = (passes(trial, language) == "") == trial.right
            counts.update({f"{trial.right}": 1, f"{trial.right} good": good})
            if listing and not good:
                fate = "stopped" if trial.right else "passed"
                print(f"  {trial.kind} {fate}: {trial.said!r} ({trial.source!r})")
        print(
            f"{language:4} {counts['False good']:5}/{counts['False']:<5}         "
            f"{counts['True good']:5}/{counts['True']:<5}"
        )
        missed += counts["False"] + counts["True"] - counts["False good"] - counts["True good"]
    if data:
        missed += _labelled(data, listing)
    return 1 if missed else 0


def _labelled(data: Path, listing: bool) -> int:
    """Faithful answers that pass as they are, with each digit altered in turn."""
    counts: Counter[str] = Counter()
    for item in items(data):
        if not item["faithful"] or item["dataset"].endswith("xling"):
            continue
        for sentence in (s.strip() for s in regex.split(r"(?<=[.!?])\s+", item["response"])):
            for wrong in altered(sentence):
                if _known(wrong, sentence, item["sources"]):
                    continue
                trial = Trial("labelled", "\n\n".join(item["sources"]), wrong, False)
                stopped = passes(trial, item["lang"]) != ""
                counts.update(n=1, good=stopped)
                if listing and not stopped:
                    print(f"  labelled passed: {wrong!r} for {sentence!r}")
    print(f"labelled answers: {counts['good']}/{counts['n']} altered digits stopped")
    return counts["n"] - counts["good"]


def _known(wrong: str, right: str, sources: list[str]) -> bool:
    """Whether an alteration makes a number that a source happens to hold as well."""
    strange = set(_NUMBER.findall(wrong)) - set(_NUMBER.findall(right))
    plain = "".join(sources).replace(",", "")
    return all(
        regex.search(rf"(?<!\d){number.replace(',', '').rstrip('.')}(?!\d)", plain) for number in strange
    )


def run(arguments: list[str]) -> int:
    """Exit 1 if an altered sentence passes or a right one stops."""
    return int(_command.main(arguments, standalone_mode=False) or 0)
