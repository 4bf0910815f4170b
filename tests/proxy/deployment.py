"""A small real deployment for tests: two documents, one caller with a key, an upstream on a socket."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from proxy.app import Deployment, build_data_paths, open_deployment
from proxy.app.asgi import build_surface
from proxy.auth import KeyStore
from proxy.commands.root import main
from proxy.commands.sync import sync_index
from proxy.domain.trace import Trace
from proxy.ledger.periods import SpendCap
from proxy.observe.decisions import SqliteDecisionLog
from proxy.settings.load import load_settings
from proxy.settings.tree import Settings
from tests.loopback_server import serve_app
from tests.waiting import wait_until

CONFIG = """
[server]
data_dir = "data"
keep_alive_s = 0.2
[auth]
mode = "keys"
[limits]
key_concurrent = 0
join_retries_s = {join_s}
address_minute = 0
key_minute = 0
[embedding]
model = "off"
[log]
level = "error"
[assistants.help]
about = "the handbook of the Orchard library"
subject = {{ names = ["Orchard"] }}
sources = ["handbook"]
[sources.handbook]
path = "docs"
title = "Handbook"
[upstreams.model]
protocol = "openai"
base_url = "{url}/v1"
idle_s = {idle_s}
retries = {retries}
[upstreams.quotes]
protocol = "extractive"
[models.help]
assistant = "help"
upstream = "model"
model = "m-1"
output_cap = 100
prices = {{ input_usd_per_million = 1.0, output_usd_per_million = 2.0 }}
[models.quoting]
assistant = "help"
upstream = "quotes"
prices = {{ input_usd_per_million = 1.0, output_usd_per_million = 2.0 }}
"""
ACCESS = """
rules:
  - path: "staff/**"
    allowed_groups: [staff]
    valid_from: 2024-01-01
  - path: "**"
    allowed_groups: [public]
    valid_from: 2024-01-01
"""
HOURS = """---
title: Opening hours
url: https://orchard.example/hours
language: en
---
# Opening hours

The reading room opens at 9:30 and closes at 18:00.
The reading room has 40 seats.
"""
BONUS = """---
title: Staff bonus
url: https://orchard.example/bonus
language: en
---
# Staff bonus

The staff bonus for the reading room is 350 euros a year.
"""
QUESTION = "When does the reading room open?"
"""Answered by source 1, the opening hours."""
OFF_TOPIC = "What is the capital of Mongolia?"
TRUE = "The reading room opens at 9:30 [1]. "


@dataclass(frozen=True, slots=True)
class RunningProxy:
    """A running proxy and how to talk to it."""

    url: str
    deployment: Deployment
    log: SqliteDecisionLog
    stack: AsyncExitStack
    """Closes the clients."""

    async def issue_key(
        self,
        *,
        groups: tuple[str, ...] = ("public",),
        scopes: tuple[str, ...] = (),
        cap: SpendCap | None = None,
    ) -> str:
        """A new caller's key."""
        async with KeyStore(build_data_paths(self.deployment.settings).keys) as keys:
            return (
                await keys.create_key("test", groups=groups, scopes=scopes, cap=cap or SpendCap())
            ).credential

    async def open_client(
        self, *, groups: tuple[str, ...] = ("public",), cap: SpendCap | None = None
    ) -> AsyncOpenAI:
        """The official client of a new caller, without retries of its own."""
        client = AsyncOpenAI(
            base_url=f"{self.url}/v1",
            api_key=await self.issue_key(groups=groups, cap=cap),
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(trust_env=False),
        )
        return await self.stack.enter_async_context(client)

    async def await_trace(self, number: int = 1) -> Trace:
        """The row of the request that came as `number`."""
        return (await self.await_traces(number))[0]

    async def await_traces(self, count: int) -> list[Trace]:
        """The newest rows, once there are `count`: they are written behind the answers."""

        async def has_all_traces() -> bool:
            return len(await self.log.list_recent_traces(count)) == count

        await wait_until(has_all_traces)
        return await self.log.list_recent_traces(count)


def write_deployment(
    folder: Path,
    url: str,
    *,
    idle_s: float = 5,
    retries: int = 0,
    join_s: float = 0,
    swap: Mapping[str, str] = {},
) -> Settings:
    """Writes the deployment's files and reads its settings; `swap`: lines of the file in place of others."""
    docs = folder / "docs"
    (docs / "staff").mkdir(parents=True, exist_ok=True)
    (docs / ".access.yaml").write_text(ACCESS, "utf-8")
    (docs / "hours.md").write_text(HOURS, "utf-8")
    (docs / "staff" / "bonus.md").write_text(BONUS, "utf-8")
    config = folder / "fiador.toml"
    text = CONFIG.format(url=url, idle_s=idle_s, retries=retries, join_s=join_s)
    for old, new in swap.items():
        assert old in text
        text = text.replace(old, new)
    config.write_text(text, "utf-8")
    return load_settings(config)


@asynccontextmanager
async def open_proxy(
    folder: Path,
    url: str = "http://127.0.0.1:9",
    *,
    idle_s: float = 5,
    retries: int = 0,
    join_s: float = 0,
    swap: Mapping[str, str] = {},
) -> AsyncIterator[RunningProxy]:
    """The deployment on a real socket, its documents indexed."""
    settings = write_deployment(folder, url, idle_s=idle_s, retries=retries, join_s=join_s, swap=swap)
    async with open_deployment(settings) as deployment:
        report = await sync_index(settings, deployment.evidence, deployment.packs)
        assert not report.faults
        async with serve_app(build_surface(deployment)) as address, AsyncExitStack() as stack:
            log = await stack.enter_async_context(SqliteDecisionLog(build_data_paths(settings).decisions))
            yield RunningProxy(address, deployment, log, stack)


async def ask_for_text(client: AsyncOpenAI, question: str = QUESTION, model: str = "help") -> str:
    """The text of one answer that does not stream."""
    done = await client.chat.completions.create(model=model, messages=[{"role": "user", "content": question}])
    return done.choices[0].message.content or ""


def run_fiador(config: Path, *arguments: str) -> Result:
    """One command over the configuration's file."""
    return CliRunner().invoke(main, ["--config", str(config), *arguments])
