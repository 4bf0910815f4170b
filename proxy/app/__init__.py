"""Settings → services → ASGI app: the only place that constructs, and closes what it open_deployment."""

from proxy.app.asgi import create
from proxy.app.deployment import Services, ledger, open_deployment
from proxy.app.paths import Paths, paths

__all__ = ["Paths", "Services", "create", "ledger", "open_deployment", "paths"]
