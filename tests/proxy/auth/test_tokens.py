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
from tests.proxy.auth.signing import CURVE, OTHER, PEM, RSA, make_jwt_settings, make_key_set, sign_token


@pytest.fixture
def key_set_file(tmp_path: Path) -> Path:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps(make_key_set("rsa", "curve")))
    return path


async def test_a_good_token_brings_its_groups_through_the_table(key_set_file: Path) -> None:
    auth = tree.AuthSettings(mode="jwt", jwt=make_jwt_settings(key_set_file), groups={"staff": ("team",)})
    door = CallerAuthenticator(auth, token_checker=build_token_checker(auth))
    headers = {"authorization": "Bearer " + sign_token(groups=["staff", "unmapped"], scope="admin x")}
    caller = await door.authenticate(headers, "1.2.3.4")
    assert (set(caller.groups), set(caller.scopes), caller.name) == ({"team", "public"}, {"admin", "x"}, "u1")
    assert caller.key_id.startswith("jwt-")


@pytest.mark.parametrize(
    "text",
    [
        sign_token(exp=time.time() - 60),
        sign_token(exp=None),
        sign_token(nbf=time.time() + 600),
        sign_token(iss="https://evil"),
        sign_token(iss=None),
        sign_token(aud="another"),
        sign_token(aud=None),
        sign_token(sub=None),
        sign_token(OTHER),
        sign_token(OTHER, "other"),
        sign_token(CURVE, "rsa", "ES256"),
        sign_token("a shared secret that is long enough for it", "rsa", "HS256"),
        sign_token(RSA, "rsa", "RS512"),
        jwt.encode({"sub": "u1"}, "", algorithm="none"),
        sign_token()[:-4] + "AAAA",
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
async def test_whatever_is_wrong_the_answer_is_the_same(key_set_file: Path, text: str) -> None:
    with pytest.raises(AuthError, match=r"^The token is not valid\.$"):
        await JwtTokenChecker(make_jwt_settings(key_set_file)).check_token(text)


async def test_a_public_key_does_not_sign(key_set_file: Path) -> None:
    """The classic confusion: a token signed with HMAC under the text of the public key."""
    header, body, _ = sign_token().split(".")
    head = jwt.utils.base64url_encode(json.dumps({"alg": "HS256", "kid": "rsa"}).encode()).decode()
    mac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    forged = f"{head}.{body}"
    signature = jwt.utils.base64url_encode(mac.sign(forged.encode(), PEM)).decode()
    with pytest.raises(AuthError):
        await JwtTokenChecker(make_jwt_settings(key_set_file)).check_token(f"{forged}.{signature}")
    assert header


@pytest.mark.parametrize("algorithms", [["HS256"], ["RS256", "none"], []])
def test_an_algorithm_without_a_private_key_is_a_configuration_error(
    key_set_file: Path, algorithms: list[str]
) -> None:
    with pytest.raises(ConfigError, match="algorithms"):
        JwtTokenChecker(make_jwt_settings(key_set_file, algorithms=algorithms))


def test_keys_over_plain_http_are_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="https"):
        JwtTokenChecker(make_jwt_settings("http://id.example.org/jwks"))


async def test_the_skew_of_clocks_is_allowed_for(key_set_file: Path) -> None:
    assert (
        await JwtTokenChecker(make_jwt_settings(key_set_file, leeway_s=90)).check_token(
            sign_token(exp=time.time() - 60)
        )
    ).name == "u1"


async def test_groups_may_stand_deep_in_the_token(key_set_file: Path) -> None:
    found = await JwtTokenChecker(make_jwt_settings(key_set_file, groups_claim="realm.roles")).check_token(
        sign_token(realm={"roles": ["staff", 7]})
    )
    assert found.groups == {"staff"}
