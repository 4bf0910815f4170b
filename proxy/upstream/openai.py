"""The `openai` protocol: chat completions as OpenAI and some fifteen other servers speak them."""

import orjson

from proxy.domain.types import UpstreamCall
from proxy.settings import tree
from proxy.upstream.http_upstream import HttpUpstream
from proxy.wire import structured
from proxy.wire.openai_dialects import OpenAIDialect


class OpenAIUpstream(HttpUpstream):
    """Implements `ports.Upstream`. `key` is sent as a bearer token, "" sends none."""

    name = "openai"
    call_path = "/chat/completions"

    def __init__(self, settings: tree.UpstreamSettings, key: str = ""):
        headers = {"authorization": f"Bearer {key}"} if key else {}
        super().__init__(settings.base_url.rstrip("/"), headers, settings)
        self._settings = settings

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

    def open_dialect(self) -> OpenAIDialect:
        """See `wire.openai_dialects`."""
        return OpenAIDialect()

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
