"""fiador backup, restore: what serves is copied, what was copied serves again, nothing is written over."""

import asyncio
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.app import build_data_paths, open_deployment
from proxy.auth import KeyStore
from proxy.commands import backup, restore
from proxy.commands.backup import MANIFEST
from proxy.domain.errors import ConfigError
from proxy.domain.ports import Hold, Settled
from proxy.ledger.owner import Owner
from proxy.ledger.periods import DeploymentCaps
from proxy.ledger.spool import Spool
from proxy.ledger.sqlite import SqliteLedger
from proxy.ledger.transactions import Booking
from proxy.pipeline.in_process import InProcessQuestion, ask_in_process
from proxy.settings.tree import Settings
from tests.fake_upstream import FakeUpstream, script_answer
from tests.proxy.deployment import QUESTION, open_proxy, run_fiador, write_deployment
from tests.proxy.ledger.ledger_builders import require_hold


@pytest.fixture(name="kept")
def _back_up_deployment(tmp_path: Path) -> Path:
    """The backup of a deployment with an index, a key and an adjustment."""
    write_deployment(tmp_path, "http://127.0.0.1:9")
    run_fiador(tmp_path / "fiador.toml", "sync")
    run_fiador(tmp_path / "fiador.toml", "keys", "create", "ada", "--groups", "public")
    run_fiador(tmp_path / "fiador.toml", "spend", "adjust", "1.5", "--reason", "a test")
    file = tmp_path / "kept.tgz"
    done = run_fiador(tmp_path / "fiador.toml", "backup", str(file))
    assert done.exit_code == 0, done.output
    return file


def move_data_folder(folder: Path, name: str) -> Settings:
    """The deployment's settings over another data folder."""
    settings = write_deployment(folder, "http://127.0.0.1:9")
    server = settings.server.model_copy(update={"data_dir": folder / name})
    return settings.model_copy(update={"server": server}).copy_with_folder(folder)


async def test_what_serves_is_copied_and_serves_again(tmp_path: Path) -> None:
    file = tmp_path / "kept.tgz"
    play = script_answer("The reading room opens at 9:30 [1].")
    async with FakeUpstream(play) as fake, open_proxy(tmp_path, fake.url) as proxy:
        client = await proxy.open_client()
        messages = [{"role": "user", "content": QUESTION}]
        await client.chat.completions.create(model="help", messages=messages)  # type: ignore[arg-type]
        row = await proxy.await_trace()
        await asyncio.to_thread(backup.write_backup, proxy.deployment.settings, file)
        secret = client.api_key
    there = move_data_folder(tmp_path, "other")
    await restore.restore_backup(there, file)
    async with open_deployment(there) as deployment, KeyStore(build_data_paths(there).keys) as keys:
        seen = await ask_in_process(
            InProcessQuestion(QUESTION, "quoting", frozenset({"public"})), deployment.context
        )
        assert "9:30" in seen.text
        assert await keys.find_live_key(secret)
        assert (await deployment.decisions.read_trace(row.id)) == row
        proof = await deployment.ledger.verify_balances()
        assert (proof.faults, proof.settled_nanousd) == ((), row.cost_nanousd)


async def test_what_waits_to_be_booked_is_kept_and_counts_once(tmp_path: Path) -> None:
    settings = move_data_folder(tmp_path, "data")
    where = build_data_paths(settings).ledger
    async with SqliteLedger(where, DeploymentCaps()) as ledger:
        hold: Hold = await require_hold(ledger)
        spool = Spool(where.with_name("ledger.db.spool"), Owner("gone", "1", 1, "1"))
        spool.write([Booking(hold.id, "reported", Settled(1, 2, 345), 1.0)])
        file = tmp_path / "kept.tgz"
        await asyncio.to_thread(backup.write_backup, settings, file)
    there = move_data_folder(tmp_path, "other")
    await restore.restore_backup(there, file)
    async with SqliteLedger(build_data_paths(there).ledger, DeploymentCaps()) as ledger:
        proof = await ledger.verify_balances()
    assert (proof.settled_nanousd, proof.holds, proof.faults) == (345, (), ())


def test_nothing_is_written_over(tmp_path: Path, kept: Path) -> None:
    before = kept.read_bytes()
    again = run_fiador(tmp_path / "fiador.toml", "backup", str(kept))
    assert (again.exit_code, "exists already" in again.output) == (2, True)
    back = run_fiador(tmp_path / "fiador.toml", "restore", str(kept))
    assert (back.exit_code, "truth.db: is there" in back.output) == (2, True)
    assert kept.read_bytes() == before


def test_a_backup_is_its_owners_alone(kept: Path) -> None:
    assert kept.stat().st_mode & 0o777 == 0o600


def test_of_nothing_there_is_no_backup(tmp_path: Path) -> None:
    write_deployment(tmp_path, "http://127.0.0.1:9")
    done = run_fiador(tmp_path / "fiador.toml", "backup", str(tmp_path / "kept.tgz"))
    assert (done.exit_code, "holds nothing to back up" in done.output) == (2, True)
    assert not (tmp_path / "kept.tgz").exists()


def pack_archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def unpack_archive(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as tar:
        return {member.name: (tar.extractfile(member) or io.BytesIO()).read() for member in tar}


def _flip_ledger_byte(members: dict[str, bytes]) -> bytes:
    page = bytearray(members["ledger.db"])
    page[5000] ^= 1
    return pack_archive({**members, "ledger.db": bytes(page)})


def _add_stray_file(members: dict[str, bytes]) -> bytes:
    manifest = json.loads(members[MANIFEST])
    manifest["sha256"]["../evil"] = ""
    return pack_archive({**members, MANIFEST: json.dumps(manifest).encode(), "../evil": b"x"})


def _raise_format(members: dict[str, bytes]) -> bytes:
    return pack_archive({**members, MANIFEST: b'{"format": 2, "sha256": {}}'})


BROKEN: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "ledger.db has changed": _flip_ledger_byte,
    "'../evil' has no place in it": _add_stray_file,
    "format 1": _raise_format,
    "keys.db is missing": lambda members: pack_archive({n: d for n, d in members.items() if n != "keys.db"}),
    "does not stand first": lambda members: pack_archive({n: members[n] for n in sorted(members)}),
    "no whole backup": lambda members: pack_archive(members)[:-900],
    "gzip": lambda members: b"no archive at all",
}


@pytest.mark.parametrize("why", BROKEN)
def test_what_is_no_whole_backup_is_refused_and_leaves_nothing(tmp_path: Path, kept: Path, why: str) -> None:
    kept.write_bytes(BROKEN[why](unpack_archive(kept)))
    with pytest.raises(ConfigError, match=why.replace("(", r"\(")):
        asyncio.run(restore.restore_backup(move_data_folder(tmp_path, "other"), kept))
    assert list((tmp_path / "other").iterdir()) == []
    assert not (tmp_path / "evil").exists()
