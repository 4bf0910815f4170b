"""`fiador restore FILE`: what a backup holds, put back into a data folder that has none of it."""

import json
import re
import shutil
import sqlite3
import tarfile
import zlib
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from indexes.storage.file_checksums import hash_file
from indexes.store import Store, StoreFileError
from proxy.app import build_data_paths
from proxy.commands.backup import FORMAT_VERSION, MANIFEST, list_databases
from proxy.commands.root import load_context_settings, run_coroutine
from proxy.domain.errors import ConfigError
from proxy.ledger import spool
from proxy.settings.tree import Settings

MANIFEST_BYTES_MAX = 1_000_000
CHUNK_BYTES = 1 << 20
MEMBER_NAME_PATTERN = re.compile(r"(?:truth|ledger|keys|decisions)\.db|ledger\.db\.spool/[\w~-]+\.jsonl")
"""What an archive may hold beside the manifest, and nowhere else: databases, and settlements that wait."""


async def restore_backup(settings: Settings, file: Path) -> list[str]:
    """Puts the files of an archive into a data folder that has none of them; the names of what was in it."""
    data_paths = build_data_paths(settings)
    if existing := [
        path
        for path in (*list_databases(data_paths), spool.find_spool_folder(data_paths.ledger))
        if path.exists()
    ]:
        raise ConfigError(*(f"{path}: is there; `fiador restore` writes over nothing" for path in existing))
    data_dir = settings.server.data_dir
    data_dir.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".fiador-", dir=data_dir) as folder:
        work_folder = Path(folder)
        try:
            names = _extract_archive(file, work_folder)
            _verify_databases(work_folder, names)
            await _renew_epoch(work_folder)
        except (tarfile.TarError, zlib.error, EOFError, ValueError, sqlite3.Error, StoreFileError) as fault:
            raise ConfigError(f"{file}: no whole backup of this program: {fault}") from fault
        for name in names:
            (data_dir / name).parent.mkdir(exist_ok=True)
            (work_folder / name).rename(data_dir / name)
    return names


def _extract_archive(file: Path, work_folder: Path) -> list[str]:
    """Unpacks every file; their names. Raises ValueError for what is no backup of ours, and whatever reading
    archives raises.
    """
    with tarfile.open(file, "r:gz") as tar:
        hashes = _read_manifest(tar)
        for member in tar:
            if member.name != MANIFEST:
                _extract_member(tar, member, hashes, work_folder)
    if lost := [name for name in hashes if not (work_folder / name).exists()]:
        raise ValueError(f"{lost[0]} is missing")
    return [*hashes]


def _read_manifest(tar: tarfile.TarFile) -> dict[str, str]:
    """The SHA-256 of each file by its name."""
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
    tar: tarfile.TarFile, member: tarfile.TarInfo, hashes: dict[str, str], work_folder: Path
) -> None:
    is_expected = member.isreg() and member.name in hashes and MEMBER_NAME_PATTERN.fullmatch(member.name)
    data = tar.extractfile(member) if is_expected else None
    if data is None:
        raise ValueError(f"{member.name!r:.80} has no place in it")
    path = work_folder / member.name
    path.parent.mkdir(exist_ok=True)
    path.touch(0o600)
    with path.open("wb") as out:
        shutil.copyfileobj(data, out, CHUNK_BYTES)
    if hash_file(path) != hashes[member.name]:
        raise ValueError(f"{member.name} has changed")


def _verify_databases(work_folder: Path, names: list[str]) -> None:
    """Raises ValueError, or what SQLite raises, for a database that is not sound."""
    for name in names:
        if name.endswith(".db"):
            with closing(sqlite3.connect(work_folder / name)) as database:
                (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise ValueError(f"{name} is damaged: {verdict}")


async def _renew_epoch(work_folder: Path) -> None:
    """Begins another line of history in the truth: nothing that was derived of it holds."""
    if (truth := work_folder / "truth.db").exists():
        async with Store(truth) as store:
            await store.renew_epoch()


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_context
def restore_command(context: click.Context, file: Path) -> None:
    """Put a backup back into an empty data folder."""
    names = run_coroutine(restore_backup(load_context_settings(context), file))
    click.echo(f"restored: {', '.join(names)}; `fiador check` says what there is")
