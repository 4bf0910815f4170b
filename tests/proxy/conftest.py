"""A small deployment on a real socket, and the upstream that it asks."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes import FakeUpstream, says
from tests.proxy.deployment import TRUE, Deployment, deployed


@pytest.fixture
async def fake() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(says(TRUE, "It closes at 18:00 [1].")) as fake:
        yield fake


@pytest.fixture
async def proxy(tmp_path: Path, fake: FakeUpstream) -> AsyncIterator[Deployment]:
    async with deployed(tmp_path, fake.url) as proxy:
        yield proxy
