"""A structured reply is an answer with citations, a refusal, or nothing at all."""

import pytest

from proxy.wire import structured
from proxy.wire.structured import StructuredAnswer, StructuredRefusal


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ('{"answer":"Ada.","citations":[2,1,2]}', StructuredAnswer("Ada.", (2, 1))),
        ('{"refused":false,"answer":"Ada.","citations":[1],"reason":""}', StructuredAnswer("Ada.", (1,))),
        (' {"answer":"Ada.","citations":[1]}\n', StructuredAnswer("Ada.", (1,))),
        ('{"refused":true,"reason":"Not there."}', StructuredRefusal("Not there.")),
        ('{"refused":true,"answer":"","citations":[],"reason":""}', StructuredRefusal("")),
    ],
)
def test_what_is_read(text: str, meaning: StructuredAnswer | StructuredRefusal) -> None:
    assert structured.parse_structured_reply(text) == meaning


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ada.",
        "[]",
        '"Ada."',
        "{}",
        '{"answer":"Ada.","citations":[]}',
        '{"answer":"Ada."}',
        '{"answer":" ","citations":[1]}',
        '{"answer":"Ada.","citations":["1"]}',
        '{"answer":"Ada.","citations":[true]}',
        '{"answer":"Ada.","citations":[0]}',
        '{"answer":"Ada.","citations":[1.0]}',
        '{"answer":"Ada.","citations":1}',
        '{"answer":5,"citations":[1]}',
        '{"answer":"Ada.","citations":[1],"note":"x"}',
        '{"answer":"Ada.","citations":[1],"refused":"no"}',
        '{"refused":true,"reason":"x","answer":"Ada."}',
        '{"refused":true,"reason":1}',
        '{"answer":"a","answer":"Ada.","citations":[1]}',
        '```json\n{"answer":"Ada.","citations":[1]}\n```',
        'Sure: {"answer":"Ada.","citations":[1]}',
        '{"answer":"Ada.","citations":[1]',
        "[" * 100_000,
    ],
)
def test_what_is_neither(text: str) -> None:
    assert structured.parse_structured_reply(text) is None
