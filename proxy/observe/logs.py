"""Log lines: one line an event, as text for people or JSON for machines, secrets blotted out."""

import json
import logging
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

from proxy.domain.trace import Trace
from proxy.settings import tree

SECRET_PATTERN = re.compile(
    r"(?i)\b(bearer\s+)\S+"  # whatever comes with a request
    r"|\b(fiador_[0-9a-f]{8}_)[\w-]+"  # our own keys
    r"|\b(sk-|xox[a-z]-|gh[a-z]_)[\w-]{8,}"  # those of well-known providers
    r"|\b(eyJ)[\w-]+\.[\w-]+\.[\w-]+"  # tokens
)
"""The prefix in a group stays, so that a line still says what kind of secret was there."""
log = logging.getLogger("fiador.request")


def configure_logging(settings: tree.LogSettings, stream: TextIO = sys.stderr) -> None:
    """Gives our logger and the server's one handler that writes to `stream`; a further call replaces it."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLogFormatter() if settings.format == "json" else TextLogFormatter())
    for name in ("fiador", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(settings.level.upper())
        logger.propagate = False


def log_request(trace: Trace, *, log_line: Callable[..., None] = log.info) -> None:
    """The one line of a request: what became of it, never what was asked."""
    log_line("%s", trace.decision or "unfinished", extra={"fields": summarize_trace(trace)})


def summarize_trace(trace: Trace) -> dict[str, object]:
    """What one line says of a request; empty values are left out."""
    values: dict[str, object] = {
        "id": trace.id,
        "key": trace.caller.name,
        "model": trace.model,
        "language": trace.language,
        "layer": trace.layer,
        "topic": trace.topic,
        "rule": trace.rule,
        "detail": trace.detail,
        "best": trace.best,
        "released": trace.released,
        "cost_nanousd": trace.cost_nanousd,
        "total_ms": trace.timings_ms.get("total"),
    }
    return {name: value for name, value in values.items() if value not in ("", None)}


def redact_secrets(text: str) -> str:
    """`text` with anything that looks like a credential blotted out, on one line."""
    plain = SECRET_PATTERN.sub(lambda hit: f"{next((part for part in hit.groups() if part), '')}…", text)
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in plain)


class TextLogFormatter(logging.Formatter):
    """`2026-11-30T12:00:00.000000Z INFO fiador.ledger message key=value`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in _collect_log_fields(self, record).items())
        line = f"{_format_log_time(record)} {record.levelname} {record.name} {record.getMessage()} {fields}"
        return redact_secrets(line.rstrip())


class JsonLogFormatter(logging.Formatter):
    """One JSON object a line: `time level logger message`, then the fields."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": _format_log_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        fields |= {"message": record.getMessage()} | _collect_log_fields(self, record)
        return json.dumps(_redact_value(fields), ensure_ascii=False)


def _redact_value(value: object) -> object:
    """`value` in JSON's own types, every text in it blotted."""
    if isinstance(value, dict):
        return {str(name): _redact_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_value(item) for item in value]
    return value if isinstance(value, int | float | None) else redact_secrets(str(value))


def _collect_log_fields(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, object]:
    log_fields = dict(getattr(record, "fields", {}))
    if record.exc_info:
        log_fields["trace"] = formatter.formatException(record.exc_info)
    return log_fields


def _format_log_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
