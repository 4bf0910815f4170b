"""`fiador backup FILE`: what cannot be made again, in one archive, also while it serves."""

import json
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from indexes.progress import show_progress
from indexes.storage.file_checksums import hash_file
from proxy.app import DataPaths, build_data_paths
from proxy.commands.root import load_context_settings
from proxy.domain.errors import ConfigError, StoreError
from proxy.ledger import spool
from proxy.settings.tree import Settings

MANIFEST = "manifest.json"
FORMAT_VERSION = 1


def write_backup(settings: Settings, file: Path) -> list[str]:
    """Writes the archive whole or not at all, never over another file; the names of what is in it.

    The keyword index, the counts of the limits and the model are left out: they are made again.
    """
    if file.exists():
        raise ConfigError(f"{file}: exists already; `fiador backup` writes over nothing")
    parent = file.resolve().parent
    if not parent.is_dir():
        raise ConfigError(f"{parent}: want a folder, got none")
    with TemporaryDirectory(prefix=".fiador-", dir=parent) as folder:  # its disk: renamed at the end
        work_folder = Path(folder)
        names = [*_copy_files(build_data_paths(settings), work_folder)]
        if not names:
            raise ConfigError(f"{settings.server.data_dir}: holds nothing to back up")
        _write_archive(work_folder, names)
        (work_folder / "archive").rename(file)
    return names


def list_databases(data_paths: DataPaths) -> tuple[Path, ...]:
    """What a backup copies of a data folder, besides settlements that wait to be booked."""
    return data_paths.store, data_paths.ledger, data_paths.keys, data_paths.decisions


def _copy_files(data_paths: DataPaths, work_folder: Path) -> Iterator[str]:
    """Copies each file as it is at one moment.

    What waits to be booked comes before the books: booked meanwhile it is there twice and counts once.
    """
    for path in sorted(spool.find_spool_folder(data_paths.ledger).glob("*.jsonl")):
        name = f"{path.parent.name}/{path.name}"
        (work_folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, work_folder / name)
        yield name
    with show_progress() as bar:
        for path in filter(Path.exists, list_databases(data_paths)):
            bar(f"copying {path.name}", 0)
            _copy_database(path, work_folder / path.name)
            yield path.name


def _copy_database(path: Path, target: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as fault:
        raise StoreError("A store cannot be copied.", detail=f"{path}: {fault}") from fault


def _write_archive(work_folder: Path, names: list[str]) -> None:
    """The archive, for its owner's eyes alone: what it is first, so that reading it can check the rest."""
    hashes = {name: hash_file(work_folder / name) for name in names}
    manifest = {
        "format": FORMAT_VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha256": hashes,
    }
    (work_folder / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
    archive = work_folder / "archive"
    archive.touch(0o600)
    with tarfile.open(archive, "w:gz", compresslevel=6) as tar:
        for name in (MANIFEST, *names):
            tar.add(work_folder / name, name)


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_context
def backup_command(context: click.Context, file: Path) -> None:
    """Copy index, books, keys and decisions into FILE.

    Also while it serves; nothing is written over.
    """
    click.echo(f"written: {file} ({', '.join(write_backup(load_context_settings(context), file))})")
