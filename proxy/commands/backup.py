"""`fiador backup` and `fiador restore`: what cannot be made again, in one archive, also while it serves."""

import json
import re
import shutil
import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from indexes.progress import show_progress
from indexes.storage.file_checksums import hash_file
from indexes.store import Store, StoreFileError
from proxy.app import DataPaths, build_data_paths
from proxy.commands.root import load_context_settings
from proxy.domain.errors import ConfigError, StoreError
from proxy.ledger import spool
from proxy.settings.tree import Settings

MANIFEST = "manifest.json"
FORMAT_VERSION = 1
MANIFEST_BYTES_MAX = 1_000_000
CHUNK_BYTES = 1 << 20
MEMBER_NAMES = re.compile(r"(?:truth|ledger|keys|decisions)\.db|ledger\.db\.spool/[\w~-]+\.jsonl")
"""What an archive may hold beside the manifest: `app.Paths`, and settlements that wait to be booked."""


def write_backup(settings: Settings, file: Path) -> list[str]:
    """Writes the archive whole or not at all, never over another file; the names of what is in it.

    The keyword index, the counts of the limits and the model are left out: they are made again.
    """
    if file.exists():
        raise ConfigError(f"{file}: exists already; `fiador backup` writes over nothing")
    home = file.resolve().parent
    if not home.is_dir():
        raise ConfigError(f"{home}: want a folder, got none")
    with TemporaryDirectory(prefix=".fiador-", dir=home) as folder:
        work = Path(folder)
        names = [*_copy_files(build_data_paths(settings), work)]
        if not names:
            raise ConfigError(f"{settings.server.data_dir}: holds nothing to back up")
        _write_archive(work, names)
        (work / "archive").rename(file)
    return names


async def restore_backup(settings: Settings, file: Path) -> list[str]:
    """Puts the files of an archive into a data folder that has none of them; the names of what was in it."""
    data_paths = build_data_paths(settings)
    if existing := [
        path
        for path in (*_list_databases(data_paths), spool.find_spool_folder(data_paths.ledger))
        if path.exists()
    ]:
        raise ConfigError(*(f"{path}: is there; `fiador restore` writes over nothing" for path in existing))
    home = settings.server.data_dir
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".fiador-", dir=home) as folder:
        work = Path(folder)
        try:
            names = _extract_archive(file, work)
            await _verify_databases(work, names)
        except (tarfile.TarError, zlib.error, EOFError, ValueError, sqlite3.Error, StoreFileError) as fault:
            raise ConfigError(f"{file}: no whole backup of this program: {fault}") from fault
        for name in names:
            (home / name).parent.mkdir(exist_ok=True)
            (work / name).rename(home / name)
    return names


def _list_databases(data_paths: DataPaths) -> tuple[Path, ...]:
    return data_paths.store, data_paths.ledger, data_paths.keys, data_paths.decisions


def _copy_files(data_paths: DataPaths, work: Path) -> Iterator[str]:
    """Copies each file as it is at one moment.

    What waits to be booked comes before the books: booked meanwhile it is there twice and counts once.
    """
    for path in sorted(spool.find_spool_folder(data_paths.ledger).glob("*.jsonl")):
        name = f"{path.parent.name}/{path.name}"
        (work / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, work / name)
        yield name
    with show_progress() as bar:
        for path in filter(Path.exists, _list_databases(data_paths)):
            bar(f"copying {path.name}", 0)
            _copy_database(path, work / path.name)
            yield path.name


def _copy_database(path: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as fault:
        raise StoreError("A store cannot be copied.", detail=f"{path}: {fault}") from fault


def _write_archive(work: Path, names: list[str]) -> None:
    """The archive, for its owner's eyes alone: what it is first, so that reading it can check the rest."""
    hashes = {name: hash_file(work / name) for name in names}
    manifest = {
        "format": FORMAT_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha256": hashes,
    }
    (work / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
    archive = work / "archive"
    archive.touch(0o600)
    with tarfile.open(archive, "w:gz", compresslevel=6) as tar:
        for name in (MANIFEST, *names):
            tar.add(work / name, name)


def _extract_archive(file: Path, work: Path) -> list[str]:
    """Raises ValueError for what is no backup of ours, and whatever reading archives raises."""
    with tarfile.open(file, "r:gz") as tar:
        hashes = _read_manifest(tar)
        for member in tar:
            if member.name != MANIFEST:
                _extract_member(tar, member, hashes, work)
    if lost := [name for name in hashes if not (work / name).exists()]:
        raise ValueError(f"{lost[0]} is missing")
    return [*hashes]


def _read_manifest(tar: tarfile.TarFile) -> dict[str, str]:
    first = tar.next()
    data = tar.extractfile(first) if first is not None and first.name == MANIFEST else None
    if data is None:
        raise ValueError(f"{MANIFEST} does not stand first")
    manifest = json.loads(data.read(MANIFEST_BYTES_MAX))
    if (
        not isinstance(manifest, dict)
        or manifest.get("format") != FORMAT_VERSION
        or not isinstance(manifest.get("sha256"), dict)
    ):
        raise ValueError(f"{MANIFEST} does not say that it has format {FORMAT_VERSION}")
    return dict(manifest["sha256"])


def _extract_member(
    tar: tarfile.TarFile, member: tarfile.TarInfo, hashes: dict[str, str], work: Path
) -> None:
    is_expected = member.isreg() and member.name in hashes and MEMBER_NAMES.fullmatch(member.name)
    data = tar.extractfile(member) if is_expected else None
    if data is None:
        raise ValueError(f"{member.name!r:.80} has no place in it")
    path = work / member.name
    path.parent.mkdir(exist_ok=True)
    path.touch(0o600)
    with path.open("wb") as out:
        shutil.copyfileobj(data, out, CHUNK_BYTES)
    if hash_file(path) != hashes[member.name]:
        raise ValueError(f"{member.name} has changed")


async def _verify_databases(work: Path, names: list[str]) -> None:
    """Every database is sound, and the truth begins another line of history: nothing derived of it holds."""
    for name in names:
        if name.endswith(".db"):
            with closing(sqlite3.connect(work / name)) as database:
                (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise ValueError(f"{name} is damaged: {found}")
    if (truth := work / "truth.db").exists():
        async with Store(truth) as store:
            await store.renew_epoch()


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_context
def backup_command(context: click.Context, file: Path) -> None:
    """Copy index, books, keys and decisions into FILE.

    Also while it serves; nothing is written over.
    """
    click.echo(f"written: {file} ({', '.join(write_backup(load_context_settings(context), file))})")
