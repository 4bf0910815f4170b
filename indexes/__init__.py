"""Evidence, found by words and by meaning, seen only by those who may. Knows nothing of HTTP."""

import os

# onnxruntime reports to its maker, over the network, unless this stands before it is first imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
