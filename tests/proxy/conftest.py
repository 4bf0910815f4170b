"""A small deployment: its configuration, its upstream, and its proxy on a real socket."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes import FakeUpstream, says
from tests.proxy.deployment import TRUE, RunningProxy, deployed, written


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The configuration's file; the upstream in it does not answer."""
    written(tmp_path, "http://127.0.0.1:9")
    return tmp_path / "fiador.toml"


@pytest.fixture
async def fake() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(says(TRUE, "It closes at 18:00 [1].")) as fake:
        yield fake


@pytest.fixture
async def proxy(tmp_path: Path, fake: FakeUpstream) -> AsyncIterator[RunningProxy]:
    async with deployed(tmp_path, fake.url) as proxy:
        yield proxy
