"""Which question is asked where: the cases of `bench quality refusal`.

Answerable questions are asked in the same collection as the others: `off_corpus` is about something else,
`article_removed` had its article taken out, `unanswerable_in_passage` has a passage that does not say.
`near_miss` has a pool of passages of its own that are on the subject and do not answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.quality.sets import Question, Text, chosen, parsed, questions, rows, texts

Place = Literal["main", "pool"]
PLACES: tuple[Place, ...] = ("main", "pool")


@dataclass(frozen=True, slots=True)
class Case:
    """A question, the collection it is asked in, and the data sets open to it there."""

    question: Question
    place: Place
    sources: frozenset[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases, and the texts of both collections (every language)."""

    cases: tuple[Case, ...]
    corpora: dict[Place, list[Text]]
    told: str = ""
    """Language of the texts; empty: the questions' own."""

    def over(self, language: str) -> "Plan":
        """The questions of other languages asked in the texts of this one.

        Answerable are those whose article stands in both; of the others only those about something else are
        asked, and none that a single data set is meant for.
        """
        main = [text for text in self.corpora["main"] if text.language == language]
        articles, datasets = {text.group for text in main}, _datasets(self.corpora["main"])
        cases = tuple(
            case
            for case in self.cases
            if case.place == "main" and case.question.language != language and case.sources == datasets
            if case.question.reason == "off_corpus" or _answered(case.question, articles)
        )
        return Plan(cases, {"main": main, "pool": []}, language)

    def asked(self, language: str, place: Place) -> list[Case]:
        """Cases of one collection."""
        return [case for case in self.cases if (case.question.language, case.place) == (language, place)]

    def corpus(self, language: str, place: Place) -> list[Text]:
        """Texts of one collection; of the pools only those that an asked question has."""
        told = [text for text in self.corpora[place] if text.language == (self.told or language)]
        if place == "main":
            return told
        wanted = {id for case in self.asked(language, place) for id in case.question.gold}
        return [text for text in told if text.id in wanted]


def plan(data: Path, languages: Sequence[str] | None, sample: int | None) -> Plan:
    """Reads the sets under `data`; `sample` thins each kind of question by language and data set."""
    removed = frozenset(parsed(data / "refusal" / "removed_groups.json"))
    corpora: dict[Place, list[Text]] = {
        "main": [text for text in texts(data / "retrieval" / "corpus.jsonl") if text.group not in removed],
        "pool": texts(data / "refusal" / "near_miss_corpus.jsonl"),
    }
    held = {text.id for text in corpora["main"]}
    open_to = {"main": _datasets(corpora["main"]), "pool": _datasets(corpora["pool"])}
    only = _limits(data / "refusal" / "off_corpus.jsonl")
    cases = [
        Case(question, place, only.get(question.id, open_to[place]))
        for place, kind in _kinds(data, removed, held)
        for question in chosen(kind, languages, sample)
    ]
    return Plan(tuple(cases), corpora)


def _kinds(data: Path, removed: frozenset[str], held: set[str]) -> list[tuple[Place, list[Question]]]:
    folder = data / "refusal"
    answerable = questions(data / "retrieval" / "queries.jsonl")
    near = questions(folder / "near_miss_queries.jsonl")
    passages = {row["id"]: row.get("passage_id") for row in rows(folder / "unanswerable.jsonl")}
    unanswerable = questions(folder / "unanswerable.jsonl")
    return [
        ("main", [question for question in answerable if question.group not in removed]),
        ("main", questions(folder / "off_corpus.jsonl")),
        ("main", questions(folder / "article_removed.jsonl")),
        ("main", [question for question in unanswerable if passages[question.id] in held]),
        ("pool", [question for question in near if question.reason is None]),
        ("pool", [question for question in near if question.reason is not None]),
    ]


def _limits(path: Path) -> dict[str, frozenset[str]]:
    """The one data set that some questions are to be asked in, by question: it stands in their `against`."""
    marked = ((row["id"], row["against"].partition("dataset=")[2]) for row in rows(path))
    return {id: frozenset({after.split()[0]}) for id, after in marked if after}


def _answered(question: Question, articles: set[str]) -> bool:
    return question.reason is None and question.group in articles


def _datasets(corpus: Sequence[Text]) -> frozenset[str]:
    return frozenset(text.dataset for text in corpus)
