"""One folder of the keyword index (Tantivy): it holds no text and filters inside the query.

Words are our own tokens, joined by spaces; queries are built from tokens, never parsed from user text.
Their roots stand in a field of their own: a word as written scores in both, another form of it in one.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import tantivy
from tantivy import FieldType, Occur, Query

from indexes.grants import SearchFilter
from indexes.outbox import OutboxBatch, OutboxItem
from indexes.text.roots import find_roots

SCHEMA_VERSION = 2
"""Of the fields below; raise it with any change to them or to what is put into them."""
HEAP_BYTES = 50_000_000
TERMS_MAX = 64
"""Values of a filter that are asked for one by one."""
TITLE_BOOST = 0.5
TOKEN_BYTES_MAX = 250
PROBE = "Déjà-vu 3,14 ЁЖИК می‌خواهم ٢٠٢٤ كتاب الشَّمس कर्मचारियों 员工休假 ＡＢＣ ﬁn naïve Straße a_b x1"
"""Text whose tokens change with the analyser."""

TokenizeFunction = Callable[[str], Sequence[str]]


class KeywordIndexError(Exception):
    """The keyword index does not do what it must; the text says what."""


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Tantivy's faults as ours, its panics too: they come as a `BaseException` that cannot be imported."""
    try:
        yield
    except BaseException as fault:
        if isinstance(fault, ValueError) or type(fault).__module__ == "pyo3_runtime":
            raise KeywordIndexError(str(fault)) from fault
        raise


def build_schema() -> tantivy.Schema:
    """The fields. Numbers are i64: deleting by u64 terms silently deletes nothing."""
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", indexed=True, fast=True)
    builder.add_integer_field("acl", indexed=True)
    builder.add_integer_field("valid_from", indexed=True, fast=True)
    builder.add_integer_field("ends", indexed=True, fast=True)
    builder.add_text_field("source", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("language", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="tokens", index_option="freq")
    builder.add_text_field("body", tokenizer_name="tokens", index_option="freq")
    builder.add_text_field("root", tokenizer_name="tokens", index_option="freq")
    return builder.build()


def compute_index_version(tokenize: TokenizeFunction) -> str:
    """Of schema and analyser: an index of another version is never used."""
    probed = list(tokenize(PROBE))
    return f"{SCHEMA_VERSION}-{sha256(repr((probed, find_roots(probed))).encode()).hexdigest()[:8]}"


class TantivyFolder:
    """One opened folder. Searching releases the GIL; any number of threads may search at once.

    Opening, reading and writing raise `KeywordIndexError` where the files are not what they were.
    """

    def __init__(self, folder: Path, tokenize: TokenizeFunction):
        self.folder = folder
        self._tokenize = tokenize
        self._cached_filters = lru_cache(maxsize=64)(self._build_timeless_filters)
        self._schema = build_schema()
        with _translate_errors():
            self._index = tantivy.Index(self._schema, path=str(folder))
            # Tokenizers are not kept in the folder: without this line every query would fail.
            self._index.register_tokenizer("tokens", _build_analyzer())
            # The default policy would show a commit half a second late.
            self._index.config_reader("manual")
        self.reload()

    def reload(self) -> None:
        """Sees what has been committed, by this process or another."""
        with _translate_errors():
            self._index.reload()
            self._searcher = self._index.searcher()

    def search(self, tokens: Iterable[str], allowed: SearchFilter, limit: int) -> list[int]:
        """Ids of at most `limit` allowed passages with a form of any of `tokens`, best first (BM25, id)."""
        distinct = dict.fromkeys(tokens)
        roots = dict.fromkeys(find_roots(distinct))
        queries = [self._match_token(token) for token in distinct]
        queries += [Query.term_query(self._schema, "root", root, "freq") for root in roots]
        if not queries or not allowed.acls or not allowed.sources:
            return []
        clauses = [(Occur.Must, Query.boolean_query([(Occur.Should, query) for query in queries]))]
        clauses += [(Occur.Must, query) for query in self._build_filters(allowed)]
        searcher = self._searcher
        with _translate_errors():
            hits = searcher.search(Query.boolean_query(clauses), limit, count=False).hits
            ids = searcher.fast_field_values("id", [address for _, address in hits])
        ranked = sorted(zip(hits, ids, strict=True), key=lambda pair: (-pair[0][0], pair[1]))
        return [int(id) for _, id in ranked if id is not None]

    def read_applied(self) -> int:
        """The outbox row up to which this index is complete."""
        try:
            return int((self.folder / "applied").read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return 0

    def mark_applied(self, seq: int) -> None:
        """Says that this index is complete up to `seq`; only after the commit."""
        write_atomically(self.folder / "applied", str(seq))

    def apply(self, batches: Iterable[OutboxBatch]) -> None:
        """Forgets and takes what `batches` say, in one commit. Doing it twice changes nothing."""
        with _translate_errors(), self._open_writer() as writer:
            for batch in batches:
                for id in batch.ids:
                    writer.delete_documents_by_query(self._match_id(id))
                for item in batch.items:
                    writer.add_document(self._build_document(item))
            writer.commit()

    @contextmanager
    def _open_writer(self) -> Iterator[tantivy.IndexWriter]:
        writer = self._index.writer(HEAP_BYTES, 1)
        try:
            yield writer
        except BaseException:
            writer.rollback()
            raise
        finally:
            writer.wait_merging_threads()

    def _match_id(self, id: int) -> Query:
        return Query.term_query(self._schema, "id", id)

    def _match_token(self, token: str) -> Query:
        body = Query.term_query(self._schema, "body", token, "freq")
        title = Query.term_query(self._schema, "title", token, "freq")
        return Query.boolean_query(
            [(Occur.Should, body), (Occur.Should, Query.boost_query(title, TITLE_BOOST))]
        )

    def _build_document(self, item: OutboxItem) -> tantivy.Document:
        document = tantivy.Document()
        for name in ("id", "acl", "valid_from", "ends"):
            document.add_integer(name, getattr(item, name))
        document.add_text("source", item.source)
        if item.language is not None:
            document.add_text("language", item.language)
        document.add_text("title", " ".join(self._tokenize_text(" \n ".join((item.title, *item.headings)))))
        body = self._tokenize_text(item.text)
        document.add_text("body", " ".join(body))
        document.add_text("root", " ".join(find_roots(body)))
        return document

    def _build_filters(self, allowed: SearchFilter) -> Iterator[Query]:
        """What must hold of a hit. Filters only let through; they never score."""
        yield from self._cached_filters(replace(allowed, now=0))
        number = FieldType.Integer
        begun = Query.range_query(self._schema, "valid_from", number, None, allowed.now)
        going = Query.range_query(self._schema, "ends", number, allowed.now, None, include_lower=False)
        yield from (Query.const_score_query(query, 0.0) for query in (begun, going))

    def _build_timeless_filters(self, allowed: SearchFilter) -> tuple[Query, ...]:
        """Filters that stay the same from one query of a viewer to the next."""
        sets = [self._match_any("acl", allowed.acls), self._match_any("source", allowed.sources)]
        if allowed.languages:
            sets.append(self._match_any("language", allowed.languages))
        return tuple(Query.const_score_query(query, 0.0) for query in sets)

    def _match_any(self, name: str, values: Collection[int] | Collection[str]) -> Query:
        """A field that holds any of `values`. A set of many makes an automaton at each search, half a
        millisecond even of one; few are cheaper as terms.
        """
        if len(values) > TERMS_MAX:
            return Query.term_set_query(self._schema, name, list(values))
        terms = (Query.term_query(self._schema, name, value, "basic") for value in values)
        return Query.boolean_query([(Occur.Should, term) for term in terms])

    def _tokenize_text(self, text: str) -> list[str]:
        return [token for token in self._tokenize(text) if len(token.encode()) <= TOKEN_BYTES_MAX]


def verify_deletion(folder: Path) -> None:
    """Adds, finds, deletes in a throw-away index. `KeywordIndexError` if a deletion leaves anything."""
    index = TantivyFolder(folder, str.split)
    everyone = SearchFilter(frozenset({1}), frozenset({"s"}), 0)
    item = OutboxItem(1, 1, "s", 0, 1, None, "", "word", "", ())
    index.apply([OutboxBatch(1, (1, 2), (item, replace(item, id=2)))])
    index.apply([OutboxBatch(2, (1,), ())])
    index.reload()
    if index.search(["word"], everyone, 9) != [2]:
        raise KeywordIndexError(
            "the keyword index does not delete what it must: use a tested version of tantivy"
        )


def _build_analyzer() -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def write_atomically(path: Path, text: str) -> None:
    """Writes a small file so that a reader finds the old text or the new one, never half of it."""
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
