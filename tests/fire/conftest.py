"""Fault tests: small counts in the ordinary run, full ones by `make fire`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Scale = Callable[[int, int], int]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is marked `fire`."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.fire)


@pytest.fixture(scope="session")
def scale() -> Scale:
    """`scale(few, many)`: how often to do something in this run."""
    return lambda few, many: many if os.environ.get("FIADOR_FIRE") else few
