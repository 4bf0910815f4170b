"""Settings → services → ASGI app: the only place that constructs, and closes what it opened."""

from proxy.app.asgi import create
from proxy.app.opened import Services, ledger, opened
from proxy.app.paths import Paths, paths

__all__ = ["Paths", "Services", "create", "ledger", "opened", "paths"]
