"""A folder of files as a source. What is not stated, or stated wrongly, is not indexed, and said so."""

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from indexes.sources import access
from indexes.sources.access import AccessRules, AccessStatement, AlreadyReportedError, UnindexableError
from indexes.sources.front_matter import DocumentMetadata, parse_front_matter
from indexes.sources.readers import READERS, DocumentContent, is_readable, read_content, split_front_matter
from indexes.sources.strict_yaml import YamlFault
from indexes.sources.types import AccessDoubt, EmptySource, Finding, SourceFault, UnreadableFolder
from indexes.types import Document

FILE_BYTES_MAX = 10_000_000
"""Of a file: more is no page that people read."""
SUPERSEDES_HINT = "name a file as seen from this one's folder or from the source's"

FolderLister = Callable[[Path], list[Path]]


@dataclass(frozen=True, slots=True)
class DocumentFolder:
    """Implements `types.DocumentSource` for the files below `root` whose format is known."""

    name: str
    root: Path
    url_base: str = ""
    """Address of the root, for files that state no url."""
    may_widen: bool = False
    """Front matter may allow more than `.access.yaml` does."""
    entries: FolderLister = lambda folder: sorted(folder.iterdir())
    """Lists a folder."""

    def scan(self) -> Iterator[Finding]:
        """Every document below the root, with doubts and faults beside them. Reads all files; blocking."""
        return _FolderScan(self).iterate_findings()


@dataclass(frozen=True, slots=True)
class _SourceFile:
    id: str
    path: str
    """Below the root, with `/`."""
    real_path: Path
    """Where it lies once links are followed."""


class _FolderScan:
    """One pass over a folder. What it has read of access rules is good for this pass alone."""

    def __init__(self, folder: DocumentFolder):
        self._folder = folder
        self._root = folder.root.resolve()
        self._files: dict[str, list[_SourceFile]] = defaultdict(list)
        self._unknown_suffixes: Counter[str] = Counter()
        self._rules: dict[Path, AccessRules | SourceFault | None] = {}
        self._remarks: list[SourceFault] = []

    def iterate_findings(self) -> Iterator[Finding]:
        unreadable = list(self._walk_folder(self._root))
        yield from unreadable
        if not self._files and not unreadable:
            yield EmptySource(
                SourceFault(str(self._root), "holds no document: is it the right folder, and mounted?")
            )
        for files in self._files.values():
            yield self._build_finding(files)
        yield from self._remarks
        yield from self._iterate_rule_faults()
        for suffix, count in sorted(self._unknown_suffixes.items()):
            yield SourceFault(
                str(self._root / f"**/*{suffix}"), f"{count} not read: formats are {' '.join(READERS)}"
            )

    def _walk_folder(self, folder: Path) -> Iterator[UnreadableFolder]:
        try:
            entries = [(entry, entry.is_dir()) for entry in self._folder.entries(folder)]
        except OSError as fault:
            below = "" if folder == self._root else self._make_relative(folder) + "/"
            text = f"cannot be read ({fault.strerror or fault}): what is indexed of it stays as it is"
            yield UnreadableFolder(f"{self._folder.name}/{below}", SourceFault(str(folder), text))
            return
        for entry, is_folder in entries:
            if entry.name.startswith("."):
                continue
            if not _is_utf8_name(entry.name):
                self._remarks.append(
                    SourceFault(ascii(str(entry)), "has a name that is not UTF-8: rename it")
                )
            elif not is_folder:
                self._add_file(entry)
            elif entry.is_symlink():
                self._remarks.append(SourceFault(str(entry), "is a link to a folder: not followed"))
            else:
                yield from self._walk_folder(entry)

    def _add_file(self, entry: Path) -> None:
        if not is_readable(entry.name):
            self._unknown_suffixes[entry.suffix.lower() or entry.name] += 1
            return
        path = self._make_relative(entry)
        id = _normalize_id(f"{self._folder.name}/{path}")
        self._files[id].append(_SourceFile(id, path, entry.resolve() if entry.is_symlink() else entry))

    def _build_finding(self, files: list[_SourceFile]) -> Document | AccessDoubt:
        file = files[0]
        if len(files) > 1:
            names = ", ".join(ascii(self._format_path(file)) for file in files)
            return AccessDoubt(file.id, SourceFault(names, "are one name to a reader: rename all but one"))
        try:
            return self._read_document(file)
        except YamlFault as fault:
            return AccessDoubt(file.id, SourceFault(f"{self._format_path(file)}:{fault.line}", fault.text))
        except AlreadyReportedError:
            return AccessDoubt(file.id, None)
        except UnindexableError as fault:
            reason = str(fault)
        except OSError as fault:
            reason = f"cannot be read ({fault.strerror or fault})"
        except Exception as fault:
            # One file that breaks a reader must not keep what others revoke from holding.
            reason = f"cannot be read ({type(fault).__name__})"
        return AccessDoubt(file.id, SourceFault(self._format_path(file), reason))

    def _read_document(self, file: _SourceFile) -> Document:
        """Raises `YamlFault`, `UnindexableError` or OSError where the file cannot be indexed."""
        folder_statement = self._find_folder_statement(file)
        parts = split_front_matter(_read_utf8(file.real_path))
        meta = parse_front_matter(parts.front_matter)
        content = read_content(file.path, parts.body)
        if not content.text.strip():
            raise UnindexableError("is empty: nothing could be found in it")
        return Document(
            id=file.id,
            source=self._folder.name,
            title=meta.title or content.title or PurePosixPath(file.path).stem,
            text=content.text,
            access=access.combine_access(folder_statement, meta.statement, self._folder.may_widen),
            url=meta.url or self._build_url(file),
            language=_choose_language(meta.statement, folder_statement, content),
            supersedes=self._resolve_predecessor(file, meta),
        )

    def _build_url(self, file: _SourceFile) -> str | None:
        base = self._folder.url_base.rstrip("/")
        return f"{base}/{quote(file.path)}" if base else None

    def _resolve_predecessor(self, file: _SourceFile, meta: DocumentMetadata) -> str | None:
        """The id that `supersedes` means: seen from the file's own folder, else from the root, else an id."""
        if meta.supersedes is None:
            return None
        beside = os.path.normpath(PurePosixPath(file.path).parent / meta.supersedes)
        below = meta.supersedes.lstrip("/")
        ids = [
            _normalize_id(id)
            for id in (f"{self._folder.name}/{beside}", f"{self._folder.name}/{below}", below)
        ]
        present = [id for id in ids if id in self._files]
        if present and present[0] == file.id:
            raise UnindexableError("supersedes itself")
        if not present:
            self._remarks.append(
                SourceFault(
                    self._format_path(file),
                    f"supersedes {meta.supersedes}, which is not there: {SUPERSEDES_HINT}",
                )
            )
        return (present or ids)[0]

    def _find_folder_statement(self, file: _SourceFile) -> AccessStatement | None:
        """What the nearest `.access.yaml` states for a file; None: there is none up to the root.

        Sought from where the file really lies, so that no link carries it under looser rules.
        """
        if not file.real_path.is_relative_to(self._root):
            raise UnindexableError("is a link out of the folder: not followed")
        for folder in file.real_path.parents:
            rules = self._load_rules(folder)
            if isinstance(rules, SourceFault):
                # `_iterate_rule_faults` yields it, once for all files below.
                raise AlreadyReportedError
            if rules is not None:
                return rules.find_statement(file.real_path.relative_to(folder).as_posix())
            if folder == self._root:
                break
        return None

    def _load_rules(self, folder: Path) -> AccessRules | SourceFault | None:
        if folder not in self._rules:
            self._rules[folder] = _read_access_rules(folder / access.ACCESS_FILE_NAME)
        return self._rules[folder]

    def _iterate_rule_faults(self) -> Iterator[SourceFault]:
        for folder, rules in self._rules.items():
            if isinstance(rules, SourceFault):
                yield rules
            elif rules is not None:
                for path in rules.iterate_unused_paths():
                    yield SourceFault(
                        str(folder / access.ACCESS_FILE_NAME), f"the rule for {path} matches no file"
                    )

    def _format_path(self, file: _SourceFile) -> str:
        return str(self._root / file.path)

    def _make_relative(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def _read_access_rules(path: Path) -> AccessRules | SourceFault | None:
    """An `.access.yaml`; None: there is none; a fault: there is one that cannot be used."""
    hidden = "everything that it covers is hidden"
    try:
        return access.parse_access_rules(_read_utf8(path))
    except FileNotFoundError:
        return SourceFault(str(path), f"is a link to nowhere: {hidden}") if path.is_symlink() else None
    except YamlFault as fault:
        return SourceFault(f"{path}:{fault.line}", f"{fault.text}: {hidden}")
    except UnindexableError as fault:
        return SourceFault(str(path), f"{fault}: {hidden}")
    except OSError as fault:
        return SourceFault(str(path), f"cannot be read ({fault.strerror or fault}): {hidden}")


def _read_utf8(path: Path) -> str:
    """Raises `UnindexableError` for what is no UTF-8 text of a bearable size."""
    if path.stat().st_size > FILE_BYTES_MAX:
        raise UnindexableError(f"is larger than {FILE_BYTES_MAX // 1_000_000} MB: split it")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as fault:
        raise UnindexableError(f"is not UTF-8 (byte {fault.start + 1}): save it as UTF-8") from None


def _choose_language(
    front: AccessStatement, folder_statement: AccessStatement | None, content: DocumentContent
) -> str | None:
    """As stated in the file, by the folder, or shown by the format."""
    return front.language or (folder_statement and folder_statement.language) or content.language


def _is_utf8_name(name: str) -> bool:
    """Whether a file's name is UTF-8: bytes that are not come as lone surrogates, which nothing can store."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _normalize_id(id: str) -> str:
    """One id for one visible name: file systems differ in how they write é."""
    return unicodedata.normalize("NFC", id)
