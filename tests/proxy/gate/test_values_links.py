"""Addresses and markup: whole, canonical, and never of another scheme."""

import pytest

from proxy.gate.values import read_values
from tests.proxy.gate.value_checks import PACKS, is_supported, list_value_keys

FOUND = [
    ("Go to https://Shop.Example.com:443/a/?b=1#c.", ["url:shop.example.com/a/?b=1#c"]),
    ("(see http://example.net/x).", ["url:example.net/x"]),
    (
        "[text](http://example.net/a_(b)) and <https://example.net>",
        ["url:example.net/a_(b)", "url:example.net"],
    ),
    ('[text](https://example.net/a "a title 7")', ["url:example.net/a", "n:7"]),
    ("[1]: https://example.net/a", ["url:example.net/a"]),
    ("[text](/docs/a) and [text](#part)", ["url:/docs/a", "url:#part"]),
    ("www.example.net/a, example.co.uk!", ["url:example.net/a", "url:example.co.uk"]),
    ("a.b+c@mail.example.org; mailto:x@example.org", ["mail:a.b+c@mail.example.org", "mail:x@example.org"]),
    ("<A.B@Example.org>", ["mail:a.b@example.org"]),
    ("tel:+41-44-555-0199 and @handle_7", ["tel:41445550199", "mix:@handle_7"]),
    ("https://example.net/a%7Eb%2fc", ["url:example.net/a~b%2Fc"]),
    ("https://bücher.example/straße", ["url:xn--bcher-kva.example/straße"]),
    ("https://例子.中国/路径", ["url:xn--fsqu00a.xn--fiqs8s/路径"]),
    (
        "пишите на почта.рф или info@пример.рф",
        ["url:xn--80a1acny.xn--p1ai", "mail:info@xn--e1afmkfd.xn--p1ai"],
    ),
    ("the end.The next, e.g. this, ASP and U.S. too", []),
]


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_addresses(text: str, found: list[str]) -> None:
    values = read_values(text, "en", PACKS)
    assert [value.key for value in values.items] == found
    assert not values.leftover
    assert not values.markup


BESIDE = [
    ("zh", "网址是https://example.cn/a。页面", ["url:example.cn/a"]),
    ("zh", "（见example.cn/a）", ["url:example.cn/a"]),
    ("zh", "请看example.cn的页面", ["url:example.cn"]),
    ("zh", "发信至kefu@example.cn，谢谢", ["mail:kefu@example.cn"]),
    ("ar", "زوروا https://example.sa/a؟ أو example.sa، شكرا", ["url:example.sa/a", "url:example.sa"]),
    ("hi", "देखें https://example.in/a। फिर", ["url:example.in/a"]),
    ("fa", "نشانی «example.ir» است؛", ["url:example.ir"]),
    ("en", "Phone 5550147https://example.org/", ["url:example.org", "n:5550147"]),
]


@pytest.mark.parametrize(("language", "text", "found"), BESIDE)
def test_an_address_ends_where_its_script_or_punctuation_does(
    language: str, text: str, found: list[str]
) -> None:
    assert sorted(list_value_keys(text, language)) == sorted(found)


SAME = [
    ("http://example.org/a", "https://www.example.org/a/"),
    ("https://example.org:443/a", "http://EXAMPLE.org/a"),
    ("example.org", "https://example.org/deep/page?x=1"),
    ("www.example.org", "example.org"),
    ("https://example.org", "see example.org for more"),
    ("Desk@EXAMPLE.org", "desk@example.org"),
]


@pytest.mark.parametrize(("answer", "source"), SAME)
def test_one_place_in_two_notations(answer: str, source: str) -> None:
    assert is_supported(answer, source)


OTHER = [
    ("https://example.org/a", "https://example.org/a/b"),
    ("https://example.org/a/b", "https://example.org/a"),
    ("https://example.org/a?x=1", "https://example.org/a"),
    ("https://example.org/A", "https://example.org/a"),
    ("https://example.org", "https://example.org/a"),
    ("https://example.org.evil.net", "https://example.org"),
    ("https://example.org@evil.net/", "https://example.org/"),
    ("example.net", "example.org and a@example.net"),
    ("docs.example.org", "example.org"),
    ("x.example.org", "xx.example.org"),
    ("https://example.org:8443/", "https://example.org/"),
    ("ann@example.org", "joann@example.org"),
    ("a@example.org", "a@example.org.au"),
    ("https://exаmple.org", "https://example.org"),  # a Cyrillic letter
    ("exаmple.org", "example.org"),
    ("[example.org](https://evil.net)", "example.org"),
    ("[1]: https://evil.net", "example.org"),
    ("@someone", "someone"),
]


@pytest.mark.parametrize(("answer", "source"), OTHER)
def test_another_place_is_not_held(answer: str, source: str) -> None:
    assert not is_supported(answer, source)


MARKUP = [
    "![a](https://example.org/a.png)",
    "![a][ref]",
    "x <img src=https://example.org/?q=a>",
    "<script>alert(1)</script>",
    "a<b",
    "<!-- note -->",
    "</div>",
    "`<img src=x>`",
    "[a](javascript:alert)",
    "[a]( data:text/html,x )",
    "<ftp://example.org/a>",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "[ref]: vbscript:x",
    "myapp://open?x=1",
]


@pytest.mark.parametrize("text", MARKUP)
def test_markup_and_other_schemes_never_pass(text: str) -> None:
    assert read_values(text, "en", PACKS).markup
    assert not is_supported(text, text)


PLAIN = [
    "use `<div>` or `</p>`",
    "a < b and c > d",
    "5 <6",
    "data: the figures",
    "wow! [see](https://example.org)",
    "1 :: 2",
]


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_markup_passes(text: str) -> None:
    assert not read_values(text, "en", PACKS).markup


def test_a_source_is_never_asked_for_its_markup() -> None:
    assert not read_values("![a](https://example.org/a.png)", "en", PACKS, is_source=True).markup
