"""The `anthropic` protocol: the Messages API."""

from proxy.domain.ports import UpstreamSink
from proxy.domain.types import UpstreamCall, UpstreamEnd
from proxy.settings import tree
from proxy.upstream.client import UpstreamClient, UpstreamRequest, UpstreamTimeouts
from proxy.wire import anthropic_messages
from proxy.wire.anthropic_messages import AnthropicDialect

API_VERSION = "2023-06-01"


class AnthropicUpstream:
    """Implements `services.Upstream`. `base_url` with or without its `/v1`."""

    name = "anthropic"

    def __init__(self, settings: tree.UpstreamSettings, key: str = ""):
        self._url = settings.base_url.rstrip("/").removesuffix("/v1") + "/v1"
        self._headers = {"anthropic-version": API_VERSION} | ({"x-api-key": key} if key else {})
        timeouts = UpstreamTimeouts(settings.connect_s, settings.idle_s, settings.total_s)
        self._client = UpstreamClient(timeouts, settings.connections_max)

    def encode_body(self, call: UpstreamCall) -> bytes:
        """See `anthropic_messages.body`."""
        return anthropic_messages.encode_messages_request(call, call.output_cap + call.reasoning_cap)

    async def run(self, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        """One attempt; see `Client.attempt`."""
        headers = {**self._headers, "content-type": "application/json"}
        request = UpstreamRequest(f"{self._url}/messages", headers, self.encode_body(call))
        return await self._client.run_attempt(request, AnthropicDialect(), sink)

    async def list_models(self) -> tuple[str, ...]:
        """The names in the upstream's own model list. Raises `BusyError` saying what went wrong."""
        return await self._client.list_models(f"{self._url}/models", self._headers)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()
