"""The `anthropic` protocol: the Messages API."""

from proxy.domain.types import UpstreamCall
from proxy.settings import tree
from proxy.upstream.http_upstream import HttpUpstream
from proxy.wire.anthropic_messages import AnthropicDialect, encode_messages_request

API_VERSION = "2023-06-01"


class AnthropicUpstream(HttpUpstream):
    """Implements `ports.Upstream`. `base_url` with or without its `/v1`."""

    name = "anthropic"
    call_path = "/messages"

    def __init__(self, settings: tree.UpstreamSettings, key: str = ""):
        headers = {"anthropic-version": API_VERSION} | ({"x-api-key": key} if key else {})
        super().__init__(settings.base_url.rstrip("/").removesuffix("/v1") + "/v1", headers, settings)

    def encode_body(self, call: UpstreamCall) -> bytes:
        """See `wire.anthropic_messages`."""
        return encode_messages_request(call, call.output_cap + call.reasoning_cap)

    def open_dialect(self) -> AnthropicDialect:
        """See `wire.anthropic_messages`."""
        return AnthropicDialect()
