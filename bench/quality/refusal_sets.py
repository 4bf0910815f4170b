"""Which question is asked where: the cases of `bench quality refusal`.

Answerable questions are asked in the same collection as the others: `off_corpus` is about something else,
`article_removed` had its article taken out, `unanswerable_in_passage` has a passage that does not say.
`near_miss` has a pool of passages of its own that are on the subject and do not answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.quality.sets import (
    LabelledQuestion,
    LabelledText,
    choose_sample,
    read_json,
    read_json_lines,
    read_questions,
    read_texts,
)

CollectionKind = Literal["main", "pool"]
"""`main` is the collection that all but the near misses are asked in, `pool` theirs."""
COLLECTION_KINDS: tuple[CollectionKind, ...] = ("main", "pool")


@dataclass(frozen=True, slots=True)
class RefusalCase:
    """A question, the collection it is asked in, and the data sets open to it there."""

    question: LabelledQuestion
    collection_kind: CollectionKind
    sources: frozenset[str]


@dataclass(frozen=True, slots=True)
class RefusalPlan:
    """All cases, and the texts of both collections (every language)."""

    cases: tuple[RefusalCase, ...]
    corpora: dict[CollectionKind, list[LabelledText]]
    corpus_language: str = ""
    """Language of the texts; empty: the questions' own."""

    def build_cross_plan(self, language: str) -> "RefusalPlan":
        """The questions of other languages asked in the texts of this one.

        Answerable are those whose article stands in both; of the others only those about something else are
        asked, and none that a single data set is meant for.
        """
        main = [text for text in self.corpora["main"] if text.language == language]
        articles, datasets = {text.group for text in main}, _collect_datasets(self.corpora["main"])
        cases = tuple(
            case
            for case in self.cases
            if case.collection_kind == "main"
            and case.question.language != language
            and case.sources == datasets
            if case.question.reason == "off_corpus" or _is_answerable(case.question, articles)
        )
        return RefusalPlan(cases, {"main": main, "pool": []}, language)

    def list_cases(self, language: str, collection_kind: CollectionKind) -> list[RefusalCase]:
        """Cases of one collection whose question is in `language`."""
        return [
            case
            for case in self.cases
            if (case.question.language, case.collection_kind) == (language, collection_kind)
        ]

    def select_corpus(self, language: str, collection_kind: CollectionKind) -> list[LabelledText]:
        """Texts of one collection; of the pool only those that a question asked in it has."""
        texts = [
            text
            for text in self.corpora[collection_kind]
            if text.language == (self.corpus_language or language)
        ]
        if collection_kind == "main":
            return texts
        wanted = {id for case in self.list_cases(language, collection_kind) for id in case.question.gold}
        return [text for text in texts if text.id in wanted]


def read_plan(data: Path, languages: Sequence[str] | None, sample: int | None) -> RefusalPlan:
    """Reads the sets under `data`; `sample` thins each kind of question by language and data set."""
    removed = frozenset(read_json(data / "refusal" / "removed_groups.json"))
    corpora: dict[CollectionKind, list[LabelledText]] = {
        "main": [
            text for text in read_texts(data / "retrieval" / "corpus.jsonl") if text.group not in removed
        ],
        "pool": read_texts(data / "refusal" / "near_miss_corpus.jsonl"),
    }
    main_ids = {text.id for text in corpora["main"]}
    datasets = {"main": _collect_datasets(corpora["main"]), "pool": _collect_datasets(corpora["pool"])}
    limits = _read_dataset_limits(data / "refusal" / "off_corpus.jsonl")
    cases = [
        RefusalCase(question, collection_kind, limits.get(question.id, datasets[collection_kind]))
        for collection_kind, questions in _read_question_kinds(data, removed, main_ids)
        for question in choose_sample(questions, languages, sample)
    ]
    return RefusalPlan(tuple(cases), corpora)


def _read_question_kinds(
    data: Path, removed: frozenset[str], main_ids: set[str]
) -> list[tuple[CollectionKind, list[LabelledQuestion]]]:
    """Questions of each kind, with the collection that they are asked in."""
    folder = data / "refusal"
    answerable = read_questions(data / "retrieval" / "queries.jsonl")
    near = read_questions(folder / "near_miss_queries.jsonl")
    passages = {row["id"]: row.get("passage_id") for row in read_json_lines(folder / "unanswerable.jsonl")}
    unanswerable = read_questions(folder / "unanswerable.jsonl")
    return [
        ("main", [question for question in answerable if question.group not in removed]),
        ("main", read_questions(folder / "off_corpus.jsonl")),
        ("main", read_questions(folder / "article_removed.jsonl")),
        ("main", [question for question in unanswerable if passages[question.id] in main_ids]),
        ("pool", [question for question in near if question.reason is None]),
        ("pool", [question for question in near if question.reason is not None]),
    ]


def _read_dataset_limits(path: Path) -> dict[str, frozenset[str]]:
    """The one data set that some questions are to be asked in, by question: `dataset=` in their `against`."""
    limits = ((row["id"], row["against"].partition("dataset=")[2]) for row in read_json_lines(path))
    return {id: frozenset({limit.split()[0]}) for id, limit in limits if limit}


def _is_answerable(question: LabelledQuestion, articles: set[str]) -> bool:
    return question.reason is None and question.group in articles


def _collect_datasets(corpus: Sequence[LabelledText]) -> frozenset[str]:
    return frozenset(text.dataset for text in corpus)
