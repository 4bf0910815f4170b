"""auth.tokens: only what the issuer signed, for us, now, under the algorithms named."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from proxy.auth import Door, checker
from proxy.auth.jwks import AGAIN_S, STALE_S
from proxy.auth.tokens import JwtTokens
from proxy.errors import AuthError, ConfigError, StoreError
from proxy.settings import tree
from tests.waiting import until

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
PEM = RSA.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


def jwks(*names: str) -> dict[str, object]:
    """A key set with the named keys: `rsa`, `curve`, `other`."""
    known = {
        "rsa": RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True) | {"kid": "rsa", "alg": "RS256"},
        "other": RSAAlgorithm.to_jwk(OTHER.public_key(), as_dict=True) | {"kid": "other"},
        "curve": ECAlgorithm.to_jwk(CURVE.public_key(), as_dict=True) | {"kid": "curve"},
    }
    return {"keys": [known[name] for name in names]}


def signed(key: object = RSA, kid: str | None = "rsa", algorithm: str = "RS256", **changes: object) -> str:
    """A token that is right but for `changes` to its claims; None takes a claim out."""
    claims = {"iss": "https://id", "aud": "fiador", "sub": "u1", "exp": time.time() + 60, "groups": ["staff"]}
    kept = {name: value for name, value in (claims | changes).items() if value is not None}
    headers = {"kid": kid} if kid else None
    return jwt.encode(kept, key, algorithm=algorithm, headers=headers)  # type: ignore[arg-type]


def settings(place: object, **changes: object) -> tree.JwtAuth:
    return tree.JwtAuth.model_validate(
        {"issuer": "https://id", "audience": "fiador", "jwks": str(place), **changes}
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps(jwks("rsa", "curve")))
    return path


async def test_a_good_token_brings_its_groups_through_the_table(place: Path) -> None:
    auth = tree.Auth(mode="jwt", jwt=settings(place), groups={"staff": ("team",)})
    door = Door(auth, tokens=checker(auth))
    headers = {"authorization": "Bearer " + signed(groups=["staff", "unmapped"], scope="admin x")}
    caller = await door.authenticate(headers, "1.2.3.4")
    assert (set(caller.groups), set(caller.scopes), caller.name) == ({"team", "public"}, {"admin", "x"}, "u1")
    assert caller.key_id.startswith("jwt-")


@pytest.mark.parametrize(
    "text",
    [
        signed(exp=time.time() - 60),
        signed(exp=None),
        signed(nbf=time.time() + 600),
        signed(iss="https://evil"),
        signed(iss=None),
        signed(aud="another"),
        signed(aud=None),
        signed(sub=None),
        signed(OTHER),
        signed(OTHER, "other"),
        signed(CURVE, "rsa", "ES256"),
        signed("a shared secret that is long enough for it", "rsa", "HS256"),
        signed(RSA, "rsa", "RS512"),
        jwt.encode({"sub": "u1"}, "", algorithm="none"),
        signed()[:-4] + "AAAA",
        "a.b.c",
        "",
        "x" * 20_000,
    ],
    ids=[
        "expired",
        "eternal",
        "early",
        "issuer",
        "no-issuer",
        "audience",
        "no-audience",
        "no-subject",
        "forged",
        "unknown-key",
        "wrong-kind",
        "shared-secret",
        "other-algorithm",
        "none",
        "altered",
        "nonsense",
        "empty",
        "long",
    ],
)
async def test_whatever_is_wrong_the_answer_is_the_same(place: Path, text: str) -> None:
    with pytest.raises(AuthError, match=r"^The token is not valid\.$"):
        await JwtTokens(settings(place)).find(text)


async def test_a_public_key_does_not_sign(place: Path) -> None:
    """The classic confusion: a token signed with HMAC under the text of the public key."""
    header, body, _ = signed().split(".")
    head = jwt.utils.base64url_encode(json.dumps({"alg": "HS256", "kid": "rsa"}).encode()).decode()
    mac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    forged = f"{head}.{body}"
    signature = jwt.utils.base64url_encode(mac.sign(forged.encode(), PEM)).decode()
    with pytest.raises(AuthError):
        await JwtTokens(settings(place)).find(f"{forged}.{signature}")
    assert header


@pytest.mark.parametrize("algorithms", [["HS256"], ["RS256", "none"], []])
def test_an_algorithm_without_a_private_key_is_a_configuration_error(
    place: Path, algorithms: list[str]
) -> None:
    with pytest.raises(ConfigError, match="algorithms"):
        JwtTokens(settings(place, algorithms=algorithms))


def test_keys_over_plain_http_are_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="https"):
        JwtTokens(settings("http://id.example.org/jwks"))


async def test_the_skew_of_clocks_is_allowed_for(place: Path) -> None:
    assert (await JwtTokens(settings(place, leeway_s=90)).find(signed(exp=time.time() - 60))).name == "u1"


async def test_groups_may_stand_deep_in_the_token(place: Path) -> None:
    found = await JwtTokens(settings(place, groups_claim="realm.roles")).find(
        signed(realm={"roles": ["staff", 7]})
    )
    assert found.groups == {"staff"}


class Provider:
    """A loopback server that counts how often its key set is fetched; `keys` None: it answers 500."""

    def __init__(self) -> None:
        self.keys: dict[str, object] | None = jwks("rsa")
        self.hits = 0
        self.hold: Callable[[], Awaitable[object]] | None = None
        """What it waits for before it answers."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.hits += 1
        if self.hold:
            await self.hold()
        body = json.dumps(self.keys).encode()
        status = "200 OK" if self.keys else "500 No"
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()


@asynccontextmanager
async def at(served: Provider) -> AsyncIterator[str]:
    """The address of a provider's key set; its connections are closed at the end."""
    tasks: list[asyncio.Task[None] | None] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        with suppress(ConnectionError, asyncio.CancelledError), closing(writer):
            await served(reader, writer)

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/jwks"
        running = [task for task in tasks if task]
        for task in running:
            task.cancel()
        await asyncio.gather(*running)


@pytest.fixture
async def provider() -> AsyncIterator[tuple[Provider, str]]:
    served = Provider()
    async with at(served) as url:
        yield served, url


async def test_keys_are_fetched_once_again_when_old_and_when_a_new_name_comes(
    provider: tuple[Provider, str],
) -> None:
    served, url = provider
    now = [1_000.0]
    found = JwtTokens(settings(url, cache_s=300), clock=lambda: now[0])
    for _ in range(3):
        await found.find(signed())
    assert served.hits == 1
    now[0] += 301
    await found.find(signed())
    assert served.hits == 2
    served.keys = jwks("rsa", "other")
    now[0] += AGAIN_S + 1
    await found.find(signed(OTHER, "other"))
    assert served.hits == 3


async def test_made_up_key_names_do_not_become_requests(provider: tuple[Provider, str]) -> None:
    served, url = provider
    found = JwtTokens(settings(url), clock=lambda: 1_000.0)
    for number in range(20):
        with pytest.raises(AuthError):
            await found.find(signed(OTHER, f"made-up-{number}"))
    assert served.hits == 1


async def test_the_last_good_keys_serve_for_a_while_and_then_no_more(provider: tuple[Provider, str]) -> None:
    served, url = provider
    now = [1_000.0]
    found = JwtTokens(settings(url, cache_s=300), clock=lambda: now[0])
    await found.find(signed())
    served.keys = None
    now[0] += 600
    await found.find(signed())
    now[0] += STALE_S
    with pytest.raises(StoreError):
        await found.find(signed())


class Slow(Provider):
    """Answers byte by byte for ever, and never whole."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.hits += 1
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)


class Huge(Slow):
    """Answers more than any key set holds, and does not end."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while True:
            writer.write(b" " * 65_536)
            await writer.drain()


@pytest.mark.parametrize(("served", "why"), [(Slow(), "TimeoutError"), (Huge(), "larger than 1000000 bytes")])
async def test_a_provider_that_never_ends_is_left(
    served: Provider, why: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("proxy.auth.jwks.FETCH_S", 0.3 if type(served) is Slow else 60)
    async with at(served) as url:
        with pytest.raises(StoreError):
            await JwtTokens(settings(url), clock=lambda: 1_000.0).find(signed())
    assert why in caplog.text


async def test_who_has_a_known_key_does_not_wait_for_a_slow_provider() -> None:
    served = Provider()
    async with at(served) as url:
        now = [1_000.0]
        found = JwtTokens(settings(url), clock=lambda: now[0])
        await found.find(signed())
        hung = asyncio.Event()
        served.hold = hung.wait
        now[0] += AGAIN_S + 1
        stranger = asyncio.create_task(found.find(signed(OTHER, "made-up")))
        await until(lambda: served.hits == 2)
        assert (await found.find(signed())).name == "u1"
        assert not stranger.done()
        hung.set()
        with pytest.raises(AuthError):
            await stranger


async def test_one_who_leaves_does_not_end_the_fetch_that_others_need() -> None:
    served, hung = Provider(), asyncio.Event()
    served.hold = hung.wait
    async with at(served) as url:
        found = JwtTokens(settings(url), clock=lambda: 1_000.0)
        leaving = asyncio.create_task(found.find(signed()))
        await until(lambda: served.hits == 1)
        staying = asyncio.create_task(found.find(signed()))
        leaving.cancel()
        hung.set()
        assert (await staying).name == "u1"
        assert served.hits == 1


@pytest.mark.parametrize("odd", [{"kid": ["x"]}, {"kid": "x", "alg": ["x"]}, {"kid": "x", "e": "AA"}])
async def test_an_odd_key_in_the_set_does_not_cost_the_others(tmp_path: Path, odd: dict[str, object]) -> None:
    good = jwks("rsa")["keys"]
    assert isinstance(good, list)
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [good[0] | odd, 7, *good]}))
    assert (await JwtTokens(settings(path)).find(signed())).name == "u1"
