"""auth.keys: shown once, kept as a hash, gone at once."""

from pathlib import Path

import pytest

from proxy.auth import KeyStore
from proxy.domain.errors import StoreError
from proxy.ledger.periods import SpendCap


def read_folder_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_a_key_opens_with_its_groups_scopes_and_caps(tmp_path: Path) -> None:
    async with KeyStore(tmp_path / "keys.db") as keys:
        made = await keys.create_key("ci", groups={"staff"}, scopes={"admin"}, cap=SpendCap(7, 3))
        found = await keys.find_live_key(made.credential)
        assert found == made.key
        assert found is not None
        assert (found.name, set(found.groups), set(found.scopes), found.cap) == (
            "ci",
            {"staff"},
            {"admin"},
            SpendCap(7, 3),
        )


async def test_the_key_itself_is_not_in_the_file(tmp_path: Path) -> None:
    async with KeyStore(tmp_path / "keys.db") as keys:
        secret = (await keys.create_key("ci")).credential
    kept = read_folder_bytes(tmp_path)
    assert secret.encode() not in kept
    assert secret.rpartition("_")[2].encode() not in kept
    assert (tmp_path / "keys.db").stat().st_mode & 0o077 == 0


async def test_no_file_of_the_keys_can_be_read_by_others_also_while_they_are_open(tmp_path: Path) -> None:
    async with KeyStore(tmp_path / "deep" / "keys.db") as keys:
        await keys.create_key("ci")
        files = [*(tmp_path / "deep").iterdir()]
        assert len(files) > 1
        assert not [file.name for file in files if file.stat().st_mode & 0o077]


async def test_nothing_but_the_whole_key_opens(tmp_path: Path) -> None:
    async with KeyStore(tmp_path / "keys.db") as keys:
        secret = (await keys.create_key("ci")).credential
        other = (await keys.create_key("other")).credential
        prefix, mark, rest = secret.split("_", 2)
        wrong = [
            secret[:-1],
            secret + "x",
            mark,
            f"{prefix}_{mark}_",
            f"{prefix}__{rest}",
            "",
            "\ud800",
            "sk-1",
        ]
        wrong.append(f"{prefix}_{mark}_{other.split('_', 2)[2]}")
        assert [await keys.find_live_key(text) for text in wrong] == [None] * len(wrong)


async def test_a_revoked_key_is_dead_at_the_next_request_in_every_process(tmp_path: Path) -> None:
    async with KeyStore(tmp_path / "keys.db") as keys, KeyStore(tmp_path / "keys.db") as other:
        made = await keys.create_key("ci")
        assert await other.find_live_key(made.credential) is not None
        assert await keys.revoke_key(made.key.id)
        assert await other.find_live_key(made.credential) is None
        assert not await keys.revoke_key(made.key.id)
        assert [key.revoked is None for key in await keys.list_keys()] == [False]


async def test_a_key_ends_at_its_expiry(tmp_path: Path) -> None:
    now = [100.0]
    async with KeyStore(tmp_path / "keys.db", clock=lambda: now[0]) as keys:
        made = await keys.create_key("ci", expires=200)
        assert await keys.find_live_key(made.credential) is not None
        now[0] = 200
        assert await keys.find_live_key(made.credential) is None


async def test_a_file_that_is_no_key_store_says_so(tmp_path: Path) -> None:
    (tmp_path / "keys.db").write_bytes(b"not a database, " * 100)
    with pytest.raises(StoreError, match="cannot be opened"):
        async with KeyStore(tmp_path / "keys.db"):
            pass
