"""Recorded upstream streams through the decoder, and through the whole proxy over sockets.

`python -m bench quality dialects --data DIR`: DIR holds JSONL, a stream a line: `dialect`, `name`,
`content_type`, `headers`, `http_status`, `reads` (base64 of each network read) and `expect` with `text`,
`finish`, `usage`, `end` (`text_alt` and `end_alt` are as right). Text that must never reach a client begins
with `LEAK-`; a stream may list more under `also_forbidden`.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.quality.recorded_streams import RecordedStream, read_streams
from proxy.domain.types import Usage
from proxy.wire.anthropic_messages import AnthropicDialect
from proxy.wire.openai_dialects import OpenAIDialect
from proxy.wire.response_reader import ResponseReader, UpstreamEvent
from proxy.wire.upstream_events import AnswerText, ResponseEnd

CLEAN_FINISHES = ("stop", "length")
WHOLE_ENDS = ("done", "eof")


def iterate_cuts(reads: Sequence[bytes], seed: int) -> Iterator[list[bytes]]:
    """The same bytes as given, in one read, byte by byte, and cut at random places (five times)."""
    whole = b"".join(reads)
    yield list(reads)
    yield [whole]
    yield [whole[i : i + 1] for i in range(len(whole))]
    chance = random.Random(seed)
    for _ in range(5):
        ends = sorted(chance.randrange(len(whole) + 1) for _ in range(12))
        yield [whole[a:b] for a, b in zip([0, *ends], [*ends, len(whole)], strict=True)]


def find_decoder_fault(recording: RecordedStream, reads: Sequence[bytes]) -> str:
    """What is wrong with the decoder's reading of `reads`; "" if nothing is."""
    dialect = AnthropicDialect() if recording.dialect == "anthropic" else OpenAIDialect()
    reader = ResponseReader(dialect, recording.content_type)
    events: list[UpstreamEvent] = [event for read in reads for event in reader.feed(read)] + reader.finish()
    text = "".join(event.text for event in events if isinstance(event, AnswerText))
    usage = next((event for event in reversed(events) if isinstance(event, Usage)), None)
    assert reader.end
    return _find_reply_fault(recording, text, usage, reader.end)


def _find_reply_fault(recording: RecordedStream, text: str, usage: Usage | None, end: ResponseEnd) -> str:
    """What is wrong with what was read; one that must not be whole may break off in any way."""
    expect = recording.expected
    if leak := next((secret for secret in recording.forbidden if secret in text), ""):
        return f"leaks {leak}"
    if text not in (expect["text"], *_normalize_list(expect.get("text_alt"))):
        return f"text {text!r}"
    is_whole = end.kind in WHOLE_ENDS and end.reason in CLEAN_FINISHES
    must_be_whole = (
        expect["finish"] in CLEAN_FINISHES
        and not expect.get("tool_calls")
        and {expect["end"], *_normalize_list(expect.get("end_alt"))} & set(WHOLE_ENDS)
    )
    if is_whole != bool(must_be_whole):
        return f"end {end.kind}, {end.reason}"
    if is_whole and end.reason != expect["finish"]:
        return f"finish {end.reason}"
    return "" if usage == _read_expected_usage(expect["usage"]) else f"usage {usage}"


def _normalize_list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _read_expected_usage(expected: Mapping[str, int] | None) -> Usage | None:
    return Usage(expected["prompt"], expected["completion"]) if expected else None


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--seed", default=1, show_default=True, help="Of the random cuts.")
@click.option("--decoder-only", is_flag=True, help="Without the proxy.")
def _measure_dialects(data: Path, seed: int, decoder_only: bool) -> int:
    streams = list(read_streams(data))
    if not streams:
        raise click.UsageError(f"no stream in {data}")
    faults = [
        (recording, f"decoder: {fault}")
        for recording in streams
        if (fault := _find_first_fault(recording, seed))
    ]
    relayed: list[tuple[RecordedStream, str]] = []
    if not decoder_only:
        from bench.quality.relaying import relay_streams  # brings the whole proxy with it

        relayed = [(recording, f"proxy: {fault}") for recording, fault in asyncio.run(relay_streams(streams))]
    _print_dialects(streams, faults, None if decoder_only else relayed)
    return 1 if faults or relayed else 0


def _find_first_fault(recording: RecordedStream, seed: int) -> str:
    """Of all cuts; "" if none is read wrongly."""
    faults = (find_decoder_fault(recording, reads) for reads in iterate_cuts(recording.plain_reads, seed))
    return next(filter(None, faults), "")


def _print_dialects(
    streams: list[RecordedStream],
    faults: list[tuple[RecordedStream, str]],
    relayed: list[tuple[RecordedStream, str]] | None,
) -> None:
    out = Console(highlight=False)
    table = Table("dialect", "streams", "decoder", "proxy")
    total = Counter(recording.dialect for recording in streams)
    misread = Counter(recording.dialect for recording, _ in faults)
    wrong_names = {(recording.dialect, recording.name) for recording, _ in relayed or []}
    misrelayed = Counter(dialect for dialect, _ in wrong_names)  # a stream may have several faults
    for dialect, count in total.items():
        through = "-" if relayed is None else f"{count - misrelayed[dialect]}/{count}"
        table.add_row(dialect, str(count), f"{count - misread[dialect]}/{count}", through)
    out.print(table)
    for recording, fault in [*faults, *(relayed or [])]:
        out.print(f"{recording.dialect}/{recording.name}: {fault}", markup=False)


def run(arguments: list[str]) -> int:
    """Exit 1 if a stream is read wrongly, or anything of it gets through that must not."""
    return int(_measure_dialects.main(arguments, standalone_mode=False) or 0)
