"""auth.tokens: only what the issuer signed, for us, now, under the algorithms named."""

import json
import time
from pathlib import Path

import jwt
import pytest

from proxy.auth import CallerAuthenticator, build_token_checker
from proxy.auth.tokens import JwtTokenChecker
from proxy.domain.errors import AuthError, ConfigError
from proxy.settings import tree
from tests.proxy.auth.signing import CURVE, OTHER, PEM, RSA, jwks, settings, signed


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps(jwks("rsa", "curve")))
    return path


async def test_a_good_token_brings_its_groups_through_the_table(place: Path) -> None:
    auth = tree.AuthSettings(mode="jwt", jwt=settings(place), groups={"staff": ("team",)})
    door = CallerAuthenticator(auth, token_checker=build_token_checker(auth))
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
        await JwtTokenChecker(settings(place)).check_token(text)


async def test_a_public_key_does_not_sign(place: Path) -> None:
    """The classic confusion: a token signed with HMAC under the text of the public key."""
    header, body, _ = signed().split(".")
    head = jwt.utils.base64url_encode(json.dumps({"alg": "HS256", "kid": "rsa"}).encode()).decode()
    mac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    forged = f"{head}.{body}"
    signature = jwt.utils.base64url_encode(mac.sign(forged.encode(), PEM)).decode()
    with pytest.raises(AuthError):
        await JwtTokenChecker(settings(place)).check_token(f"{forged}.{signature}")
    assert header


@pytest.mark.parametrize("algorithms", [["HS256"], ["RS256", "none"], []])
def test_an_algorithm_without_a_private_key_is_a_configuration_error(
    place: Path, algorithms: list[str]
) -> None:
    with pytest.raises(ConfigError, match="algorithms"):
        JwtTokenChecker(settings(place, algorithms=algorithms))


def test_keys_over_plain_http_are_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="https"):
        JwtTokenChecker(settings("http://id.example.org/jwks"))


async def test_the_skew_of_clocks_is_allowed_for(place: Path) -> None:
    assert (
        await JwtTokenChecker(settings(place, leeway_s=90)).check_token(signed(exp=time.time() - 60))
    ).name == "u1"


async def test_groups_may_stand_deep_in_the_token(place: Path) -> None:
    found = await JwtTokenChecker(settings(place, groups_claim="realm.roles")).check_token(
        signed(realm={"roles": ["staff", 7]})
    )
    assert found.groups == {"staff"}
