"""A folder of files as a source. What is not stated, or stated wrongly, is not indexed, and said so."""

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from indexes.sources import access
from indexes.sources.access import Denied, Rules, Stated
from indexes.sources.front_matter import Meta, described
from indexes.sources.readers import READERS, Content, read, readable, split
from indexes.sources.strict_yaml import Bad
from indexes.sources.types import Doubt, Empty, Fault, Finding, Unseen
from indexes.types import Document

BYTES_MAX = 10_000_000
"""Of a file: more is no page that people read."""
SEEN_FROM = "name a file as seen from this one's folder or from the source's"

Entries = Callable[[Path], list[Path]]


@dataclass(frozen=True, slots=True)
class Folder:
    """Implements `types.Source` for the files below `root` whose format is known."""

    name: str
    root: Path
    url_base: str = ""
    """Address of the root, for files that state no url."""
    may_widen: bool = False
    """Front matter may allow more than `.access.yaml` does."""
    entries: Entries = lambda folder: sorted(folder.iterdir())
    """Lists a folder."""

    def scan(self) -> Iterator[Finding]:
        """Every document below the root, with doubts and faults beside them. Reads all files; blocking."""
        return _Scan(self).run()


@dataclass(frozen=True, slots=True)
class _File:
    id: str
    path: str
    """Below the root, with `/`."""
    real: Path
    """Where it lies once links are followed."""


class _Scan:
    """One pass over a folder. What it has read of access rules is good for this pass alone."""

    def __init__(self, folder: Folder):
        self._folder = folder
        self._root = folder.root.resolve()
        self._files: dict[str, list[_File]] = defaultdict(list)
        self._strange: Counter[str] = Counter()
        self._rules: dict[Path, Rules | Fault | None] = {}
        self._remarks: list[Fault] = []

    def run(self) -> Iterator[Finding]:
        unseen = list(self._walk(self._root))
        yield from unseen
        if not self._files and not unseen:
            yield Empty(Fault(str(self._root), "holds no document: is it the right folder, and mounted?"))
        for files in self._files.values():
            yield self._finding(files)
        yield from self._remarks
        yield from self._rule_faults()
        for ending, count in sorted(self._strange.items()):
            yield Fault(
                str(self._root / f"**/*{ending}"), f"{count} not read: formats are {' '.join(READERS)}"
            )

    def _walk(self, folder: Path) -> Iterator[Unseen]:
        try:
            entries = [(entry, entry.is_dir()) for entry in self._folder.entries(folder)]
        except OSError as fault:
            below = "" if folder == self._root else self._below(folder) + "/"
            text = f"cannot be read ({fault.strerror or fault}): what is indexed of it stays as it is"
            yield Unseen(f"{self._folder.name}/{below}", Fault(str(folder), text))
            return
        for entry, is_folder in entries:
            if entry.name.startswith("."):
                continue
            if not _is_text(entry.name):
                self._remarks.append(Fault(ascii(str(entry)), "has a name that is not UTF-8: rename it"))
            elif not is_folder:
                self._keep(entry)
            elif entry.is_symlink():
                self._remarks.append(Fault(str(entry), "is a link to a folder: not followed"))
            else:
                yield from self._walk(entry)

    def _keep(self, entry: Path) -> None:
        if not readable(entry.name):
            self._strange[entry.suffix.lower() or entry.name] += 1
            return
        path = self._below(entry)
        id = _composed(f"{self._folder.name}/{path}")
        self._files[id].append(_File(id, path, entry.resolve() if entry.is_symlink() else entry))

    def _finding(self, files: list[_File]) -> Document | Doubt:
        file = files[0]
        if len(files) > 1:
            names = ", ".join(ascii(self._shown(file)) for file in files)
            return Doubt(file.id, Fault(names, "are one name to a reader: rename all but one"))
        try:
            return self._document(file)
        except Bad as fault:
            return Doubt(file.id, Fault(f"{self._shown(file)}:{fault.line}", fault.text))
        except Denied as fault:
            # An empty reason: it is the fault of an .access.yaml, said once for all files below it.
            return Doubt(file.id, Fault(self._shown(file), str(fault)) if str(fault) else None)
        except OSError as fault:
            return Doubt(file.id, Fault(self._shown(file), f"cannot be read ({fault.strerror or fault})"))
        except (
            Exception
        ) as fault:  # one file that breaks a reader must not keep what others revoke from holding
            return Doubt(file.id, Fault(self._shown(file), f"cannot be read ({type(fault).__name__})"))

    def _document(self, file: _File) -> Document:
        """Raises `Bad`, `Denied` or OSError where the file cannot be indexed."""
        outer = self._stated(file)
        parts = split(_text(file.real))
        meta = described(parts.front)
        content = read(file.path, parts.body)
        if not content.text.strip():
            raise Denied("is empty: nothing could be found in it")
        return Document(
            id=file.id,
            source=self._folder.name,
            title=meta.title or content.title or PurePosixPath(file.path).stem,
            text=content.text,
            access=access.combined(outer, meta.stated, self._folder.may_widen),
            url=meta.url or self._address(file),
            language=_language(meta.stated, outer, content),
            supersedes=self._predecessor(file, meta),
        )

    def _address(self, file: _File) -> str | None:
        base = self._folder.url_base.rstrip("/")
        return f"{base}/{quote(file.path)}" if base else None

    def _predecessor(self, file: _File, meta: Meta) -> str | None:
        """The id that `supersedes` means: seen from the file's own folder, else from the root, else an id."""
        if meta.supersedes is None:
            return None
        beside = os.path.normpath(PurePosixPath(file.path).parent / meta.supersedes)
        below = meta.supersedes.lstrip("/")
        ids = [
            _composed(id) for id in (f"{self._folder.name}/{beside}", f"{self._folder.name}/{below}", below)
        ]
        known = [id for id in ids if id in self._files]
        if known and known[0] == file.id:
            raise Denied("supersedes itself")
        if not known:
            self._remarks.append(
                Fault(self._shown(file), f"supersedes {meta.supersedes}, which is not there: {SEEN_FROM}")
            )
        return (known or ids)[0]

    def _stated(self, file: _File) -> Stated | None:
        """What the nearest `.access.yaml` states for a file; None: there is none up to the root.

        Sought from where the file really lies, so that no link carries it under looser rules.
        """
        if not file.real.is_relative_to(self._root):
            raise Denied("is a link out of the folder: not followed")
        for folder in file.real.parents:
            rules = self._read_rules(folder)
            if isinstance(rules, Fault):
                raise Denied
            if rules is not None:
                return rules.of(file.real.relative_to(folder).as_posix())
            if folder == self._root:
                break
        return None

    def _read_rules(self, folder: Path) -> Rules | Fault | None:
        if folder not in self._rules:
            self._rules[folder] = _rules(folder / access.NAME)
        return self._rules[folder]

    def _rule_faults(self) -> Iterator[Fault]:
        for folder, rules in self._rules.items():
            if isinstance(rules, Fault):
                yield rules
            elif rules is not None:
                for path in rules.unused():
                    yield Fault(str(folder / access.NAME), f"the rule for {path} matches no file")

    def _shown(self, file: _File) -> str:
        return str(self._root / file.path)

    def _below(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def _rules(path: Path) -> Rules | Fault | None:
    """An `.access.yaml`; None: there is none; a fault: there is one that cannot be used."""
    hidden = "everything that it covers is hidden"
    try:
        return access.rules(_text(path))
    except FileNotFoundError:
        return Fault(str(path), f"is a link to nowhere: {hidden}") if path.is_symlink() else None
    except Bad as fault:
        return Fault(f"{path}:{fault.line}", f"{fault.text}: {hidden}")
    except Denied as fault:
        return Fault(str(path), f"{fault}: {hidden}")
    except OSError as fault:
        return Fault(str(path), f"cannot be read ({fault.strerror or fault}): {hidden}")


def _text(path: Path) -> str:
    """Raises `Denied` for what is no UTF-8 text of a bearable size."""
    if path.stat().st_size > BYTES_MAX:
        raise Denied(f"is larger than {BYTES_MAX // 1_000_000} MB: split it")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Denied(f"is not UTF-8 (byte {fault.start + 1}): save it as UTF-8") from None


def _language(front: Stated, outer: Stated | None, content: Content) -> str | None:
    """As stated in the file, by the folder, or shown by the format."""
    return front.language or (outer and outer.language) or content.language


def _is_text(name: str) -> bool:
    """Whether a file's name is UTF-8: bytes that are not come as lone surrogates, which nothing can store."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _composed(id: str) -> str:
    """One id for one visible name: file systems differ in how they write é."""
    return unicodedata.normalize("NFC", id)
