"""What all tests share: the sizes at which properties are tried, and no reports to anybody."""

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # also where a test imports onnxruntime first
settings.register_profile("default", max_examples=60, deadline=None)
settings.register_profile(
    "deep", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
