"""Settings → deployment → ASGI app: the only place that constructs, and closes what it has opened."""

from proxy.app.asgi import create_app
from proxy.app.deployment import Deployment, make_ledger, open_deployment
from proxy.app.paths import DataPaths, build_data_paths

__all__ = ["DataPaths", "Deployment", "build_data_paths", "create_app", "make_ledger", "open_deployment"]
