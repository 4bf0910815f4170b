"""The `openai` protocol: chat completions as OpenAI and some fifteen other servers speak them."""

import orjson

from proxy.domain.ports import UpstreamSink
from proxy.domain.types import UpstreamCall, UpstreamEnd
from proxy.settings import tree
from proxy.upstream.client import UpstreamClient, UpstreamRequest, UpstreamTimeouts
from proxy.wire import structured
from proxy.wire.openai_dialects import OpenAIDialect


class OpenAIUpstream:
    """Implements `services.Upstream`. `key` is sent as a bearer token, "" sends none."""

    name = "openai"

    def __init__(self, settings: tree.UpstreamSettings, key: str = ""):
        self._settings = settings
        self._url = settings.base_url.rstrip("/")
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        timeouts = UpstreamTimeouts(settings.connect_s, settings.idle_s, settings.total_s)
        self._client = UpstreamClient(timeouts, settings.connections_max)

    def encode_body(self, call: UpstreamCall) -> bytes:
        """Always streamed and always with usage, whatever the client asked for."""
        fields: dict[str, object] = {
            "model": call.model,
            "messages": [{"role": message.role, "content": message.text} for message in call.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            self._settings.cap_field: call.output_cap + call.reasoning_cap,
        }
        fields |= self._build_sampling_fields(call)
        if call.is_structured:
            schema = {"name": structured.SCHEMA_NAME, "strict": True, "schema": structured.SCHEMA}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return orjson.dumps(fields)

    async def run(self, call: UpstreamCall, sink: UpstreamSink) -> UpstreamEnd:
        """One attempt; see `Client.attempt`."""
        headers = {**self._headers, "content-type": "application/json"}
        request = UpstreamRequest(f"{self._url}/chat/completions", headers, self.encode_body(call))
        return await self._client.run_attempt(request, OpenAIDialect(), sink)

    async def list_models(self) -> tuple[str, ...]:
        """The names in the upstream's own model list. Raises `BusyError` saying what went wrong."""
        return await self._client.list_models(f"{self._url}/models", self._headers)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()

    def _build_sampling_fields(self, call: UpstreamCall) -> dict[str, object]:
        """What the client tuned, as far as this upstream is said to know it."""
        sampling, settings = call.sampling, self._settings
        fields: dict[str, object] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "presence_penalty": sampling.presence_penalty,
            "frequency_penalty": sampling.frequency_penalty,
        }
        if sampling.reasoning_effort in settings.reasoning_efforts:
            fields["reasoning_effort"] = sampling.reasoning_effort
        if sampling.verbosity in settings.verbosities:
            fields["verbosity"] = sampling.verbosity
        return {name: value for name, value in fields.items() if value is not None}
