"""Keys of an identity provider, sets of them, and tokens that they sign."""

import time

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from proxy.settings import tree

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
PEM = RSA.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


def make_key_set(*names: str) -> dict[str, object]:
    """A key set with the named keys: `rsa`, `curve`, `other`."""
    keys = {
        "rsa": RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True) | {"kid": "rsa", "alg": "RS256"},
        "other": RSAAlgorithm.to_jwk(OTHER.public_key(), as_dict=True) | {"kid": "other"},
        "curve": ECAlgorithm.to_jwk(CURVE.public_key(), as_dict=True) | {"kid": "curve"},
    }
    return {"keys": [keys[name] for name in names]}


def sign_token(
    key: object = RSA, kid: str | None = "rsa", algorithm: str = "RS256", **changes: object
) -> str:
    """A token that is right but for `changes` to its claims; None takes a claim out."""
    claims = {"iss": "https://id", "aud": "fiador", "sub": "u1", "exp": time.time() + 60, "groups": ["staff"]}
    kept = {name: value for name, value in (claims | changes).items() if value is not None}
    headers = {"kid": kid} if kid else None
    return jwt.encode(kept, key, algorithm=algorithm, headers=headers)  # type: ignore[arg-type]


def make_jwt_settings(location: object, **changes: object) -> tree.JwtAuthSettings:
    return tree.JwtAuthSettings.model_validate(
        {"issuer": "https://id", "audience": "fiador", "jwks": str(location), **changes}
    )
