"""What is for operators alone: callers whose key or token has the scope `admin`."""

from proxy.app.deployment import Deployment
from proxy.domain.errors import AuthError
from proxy.domain.ports import HttpRequest
from proxy.domain.types import Caller


def is_operator(caller: Caller) -> bool:
    """Whether a caller may do and see what operators may."""
    return "admin" in caller.scopes


async def require_operator(request: HttpRequest, deployment: Deployment, message: str) -> None:
    """Lets an operator pass. Raises `AuthError`: 403 with the text `message` for any other caller."""
    caller = await deployment.context.auth.authenticate(request.headers, request.peer)
    if not is_operator(caller):
        raise AuthError(message, status=403, code="forbidden")
