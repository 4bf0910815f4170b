"""auth.door: groups come from the credential, and every wrong key hears the same."""

from pathlib import Path

import pytest
from starlette.datastructures import Headers

from proxy.auth import CallerAuthenticator, KeyStore, build_token_checker
from proxy.domain.errors import AuthError, ConfigError
from proxy.settings import tree

OPEN = tree.AuthSettings(mode="open", open=tree.OpenAuthSettings(groups=frozenset({"team"})))


def make_bearer_headers(secret: str) -> Headers:
    return Headers({"Authorization": f"Bearer {secret}"})


async def test_an_open_door_lets_in_who_is_on_this_machine() -> None:
    caller = await CallerAuthenticator(OPEN).authenticate({}, "127.0.0.1")
    assert (set(caller.groups), caller.address) == ({"team", "public"}, "127.0.0.1")
    assert not caller.scopes


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "127.0.0.1"])
async def test_an_open_door_knows_the_names_of_this_machine(host: str) -> None:
    caller = await CallerAuthenticator(OPEN).authenticate({"host": host}, "127.0.0.1")
    assert "team" in caller.groups


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        ("10.0.0.5", {}),
        ("", {}),
        ("127.0.0.1", {"x-forwarded-for": "127.0.0.1"}),
        ("127.0.0.1", {"forwarded": "for=127.0.0.1"}),
        ("127.0.0.1", {"host": "evil.example:8080"}),
        ("127.0.0.1", {"host": "127.0.0.1.evil.example"}),
    ],
    ids=["remote", "unknown", "behind a proxy", "behind another", "rebound name", "rebound look-alike"],
)
async def test_an_open_door_is_shut_to_everyone_else(peer: str, headers: dict[str, str]) -> None:
    with pytest.raises(AuthError) as caught:
        await CallerAuthenticator(OPEN).authenticate(headers, peer)
    assert caught.value.status == 403
    wide = tree.AuthSettings(mode="open", open=tree.OpenAuthSettings(allow_remote=True))
    assert (await CallerAuthenticator(wide).authenticate(headers, peer)).groups == {"public"}


async def test_every_wrong_key_hears_the_same_text(tmp_path: Path) -> None:
    async with KeyStore(tmp_path / "keys.db") as keys:
        revoked = await keys.create_key("a")
        await keys.revoke_key(revoked.key.id)
        expired = await keys.create_key("b", expires=1)
        live = await keys.create_key("c")
        door = CallerAuthenticator(tree.AuthSettings(), keys=keys)
        said = set()
        for secret in ("unknown", live.credential + "x", revoked.credential, expired.credential):
            with pytest.raises(AuthError) as caught:
                await door.authenticate(make_bearer_headers(secret), "1.2.3.4")
            said.add((caught.value.text, caught.value.status, caught.value.code))
            assert secret not in repr(caught.value)
        assert len(said) == 1


async def test_no_key_is_told_apart_and_told_what_to_do(tmp_path: Path) -> None:
    async with KeyStore(tmp_path / "keys.db") as keys:
        door = CallerAuthenticator(tree.AuthSettings(), keys=keys)
        for headers in ({}, {"authorization": "Basic abc"}, {"authorization": "Bearer "}):
            with pytest.raises(AuthError, match="Authorization: Bearer"):
                await door.authenticate(headers, "1.2.3.4")


@pytest.mark.parametrize(
    ("table", "groups"),
    [({}, {"staff", "odd", "public"}), ({"staff": ("team-a", "team-b")}, {"team-a", "team-b", "public"})],
    ids=["without a table", "with one"],
)
async def test_a_keys_groups_are_mapped_once_a_table_is_given(
    tmp_path: Path, table: dict[str, tuple[str, ...]], groups: set[str]
) -> None:
    async with KeyStore(tmp_path / "keys.db") as keys:
        made = await keys.create_key("ci", groups={"staff", "odd"})
        caller = await CallerAuthenticator(tree.AuthSettings(groups=table), keys=keys).authenticate(
            make_bearer_headers(made.credential), "::1"
        )
        assert (set(caller.groups), caller.address, caller.key_id) == (groups, "::/64", made.key.id)


async def test_the_address_is_the_one_the_trusted_proxy_saw(tmp_path: Path) -> None:
    door = CallerAuthenticator(
        tree.AuthSettings(mode="open", open=tree.OpenAuthSettings(allow_remote=True)),
        trusted_networks=["10.0.0.0/8"],
    )
    caller = await door.authenticate({"x-forwarded-for": "6.6.6.6, 5.5.5.5"}, "10.1.1.1")
    assert caller.address == "5.5.5.5"


def test_a_mode_without_what_it_needs_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match=r"auth\.jwt"):
        CallerAuthenticator(tree.AuthSettings(mode="jwt"))
    with pytest.raises(ConfigError, match="key store"):
        CallerAuthenticator(tree.AuthSettings())
    assert build_token_checker(tree.AuthSettings()) is None
