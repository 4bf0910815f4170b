"""Who asks: API keys, tokens of an identity provider, or nobody in particular on the loopback.

`CallerAuthenticator(settings.auth, keys=…, token_checker=build_token_checker(settings.auth))` is asked with
`authenticate(headers, peer)` and gives the caller.
"""

from proxy.auth.authenticator import CallerAuthenticator, TokenChecker
from proxy.auth.keys import ApiKey, IssuedKey, KeyStore
from proxy.domain.errors import ConfigError
from proxy.settings import tree

__all__ = ["ApiKey", "CallerAuthenticator", "IssuedKey", "KeyStore", "TokenChecker", "build_token_checker"]


def build_token_checker(settings: tree.AuthSettings) -> TokenChecker | None:
    """The checker of tokens that `auth.mode = "jwt"` needs; None in the other modes. Raises ConfigError."""
    if settings.mode != "jwt" or settings.jwt is None:
        return None
    try:
        from proxy.auth.tokens import JwtTokenChecker  # an extra: only who uses it needs it installed
    except ModuleNotFoundError as fault:
        raise ConfigError('auth.mode: "jwt" needs `pip install "fiador[jwt]"`') from fault
    return JwtTokenChecker(settings.jwt)
