"""Who asks: API keys, tokens of an identity provider, or nobody in particular on the loopback.

`Door(settings.auth, keys=…, tokens=checker(settings.auth)).authenticate(headers, peer)` gives the caller.
"""

from proxy.auth.authenticator import Door, Tokens
from proxy.auth.keys import Created, Key, Keys
from proxy.domain.errors import ConfigError
from proxy.settings import tree

__all__ = ["Created", "Door", "Key", "Keys", "Tokens", "checker"]


def checker(settings: tree.Auth) -> Tokens | None:
    """The checker of tokens that `auth.mode = "jwt"` needs; None in the other modes. Raises ConfigError."""
    if settings.mode != "jwt" or settings.jwt is None:
        return None
    try:
        from proxy.auth.tokens import JwtTokens  # an extra: only who uses it needs it installed
    except ModuleNotFoundError as fault:
        raise ConfigError('auth.mode: "jwt" needs `pip install "fiador[jwt]"`') from fault
    return JwtTokens(settings.jwt)
