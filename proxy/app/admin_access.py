"""What is for operators alone: callers whose key or token has the scope `admin`."""

from proxy.app.deployment import Services
from proxy.domain.errors import AuthError
from proxy.domain.ports import HttpRequest
from proxy.domain.types import Caller


def operates(caller: Caller) -> bool:
    """Whether a caller may do and see what operators may."""
    return "admin" in caller.scopes


async def admit(ask: HttpRequest, services: Services, refusal: str) -> None:
    """Lets an operator pass. Raises `AuthError`: 403 with the text `refusal` for any other caller."""
    caller = await services.desk.auth.authenticate(ask.headers, ask.peer)
    if not operates(caller):
        raise AuthError(refusal, status=403, code="forbidden")
