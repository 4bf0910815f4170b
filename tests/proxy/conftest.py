"""A small deployment: its configuration, its upstream, and its proxy on a real socket."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fake_upstream import FakeUpstream, script_answer
from tests.proxy.deployment import TRUE, RunningProxy, open_proxy, write_deployment


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The configuration's file; the upstream in it does not answer."""
    write_deployment(tmp_path, "http://127.0.0.1:9")
    return tmp_path / "fiador.toml"


@pytest.fixture
async def fake() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(script_answer(TRUE, "It closes at 18:00 [1].")) as fake:
        yield fake


@pytest.fixture
async def proxy(tmp_path: Path, fake: FakeUpstream) -> AsyncIterator[RunningProxy]:
    async with open_proxy(tmp_path, fake.url) as proxy:
        yield proxy
