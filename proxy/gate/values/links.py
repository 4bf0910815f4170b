"""Addresses: URLs whole and canonical, bare hosts, e-mail, handles; and the markup that never passes."""

import re
from urllib.parse import unquote_to_bytes

import idna
import regex

from proxy.gate.values.pack import HAN, LETTER, build_alternation
from proxy.gate.values.page import ValuePage
from proxy.gate.values.tables import HOST_ENDINGS
from proxy.gate.values.types import Value

# Han and the letters of other scripts stand right beside an address, so no \w and no \b here.
_LABEL = rf"[{LETTER}\d](?:[{LETTER}\d-]*[{LETTER}\d])?"
_OTHER_LABEL = r"[\p{Arabic}\p{Devanagari}][\p{Arabic}\p{Devanagari}\p{M}\d-]*"
_HAN_ENDINGS = build_alternation(word for word in HOST_ENDINGS if HAN.fullmatch(word))
_END = (
    rf"(?<end>[{LETTER}]{{2,}}+|xn--[a-z\d-]+|[\p{{Arabic}}\p{{Devanagari}}\p{{M}}]{{2,}}+|{_HAN_ENDINGS})"
    rf"(?![{LETTER}\p{{M}}\d_-]|\.[\p{{Latin}}\d])"
)
_HOST = rf"(?:(?:{_LABEL}\.)+|(?:{_OTHER_LABEL}\.)+){_END}"
_MIXED_SCRIPT = regex.compile(rf"(?=[{LETTER}]*\p{{Latin}})[{LETTER}]*[\p{{Cyrillic}}\p{{Greek}}][{LETTER}]*")
"""An ending of two scripts: a look-alike, whatever the list says."""
_FREE = r"(?<![\p{Latin}\p{Cyrillic}\p{Greek}\d_.@-])"
_URL_CHAR = r"[^\s<>\"“”«»‹›„`|\\^{}\p{Cf}\ue000，。；：！？、（）《》〈〉「」『』【】؟،؛।॥]"
_PATH = rf"(?::\d{{1,5}})?(?:[/?#]{_URL_CHAR}*)?"

_TARGET_CHAR = r"[^\s<>()]"
_BALANCED = rf"(?:{_TARGET_CHAR}|\((?:{_TARGET_CHAR}|\({_TARGET_CHAR}*\))*\))*"
_LINK_TARGET = regex.compile(rf"\]\(\s*<?(?<url>{_BALANCED})>?(?=\s*\)|\s+[\"'(])")
"""A title after it is shown too, and so is read like any text."""
_LINK_DEFINITION = regex.compile(r"^ {0,3}\[[^\]\n]+\]:\s*<?(?<url>[^\s<>]+)>?", regex.M)
_RUN_ON = rf"{_URL_CHAR}+(?:[\"\\^{{}}`]+[\p{{L}}\d/@]{_URL_CHAR}*)*"
"""Signs that end no link for a browser when more is glued to them."""
_SCHEME = regex.compile(rf"(?<url>(?<![\p{{Latin}}+.-])(?:https?://|mailto:|tel:){_RUN_ON})")
_WWW = regex.compile(rf"{_FREE}(?<url>www\.{_RUN_ON})")
_MAIL = regex.compile(
    rf"(?<![\p{{Latin}}\p{{Cyrillic}}\d_.%+-])(?<url>[\p{{Latin}}\p{{Cyrillic}}\d_.%+'-]+@(?:{_LABEL}\.)*{_LABEL})"
    rf"(?!/?[{LETTER}\d])"
)
_HANDLE = regex.compile(r"(?<![\p{L}\d_.@])@[\p{Latin}\d_][\p{Latin}\d_.-]*")
_ENDING = regex.compile(rf"\.{_END}")
_BARE_HOST = regex.compile(rf"{_FREE}(?<url>{_HOST}{_PATH})")

_PATTERNS_BY_SIGN = (
    ("](", _LINK_TARGET),
    ("]:", _LINK_DEFINITION),
    ("://", _SCHEME),
    ("mailto:", _SCHEME),
    ("tel:", _SCHEME),
    ("www.", _WWW),
    ("@", _MAIL),
)
"""What an address cannot be without, and its pattern, in order."""

CODE_SPAN = regex.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_HTML = regex.compile(r"<[a-z/!?][^\s>]*")
_AUTOLINK = regex.compile(r"<(?:https?://|mailto:|tel:|[^\s<>@]+@)[^\s<>]*>")
_PLAIN_TAG = regex.compile(r"</?[a-z][a-z0-9-]*>")
_BAD_SCHEME = regex.compile(
    r"(?<![\p{L}\d])(?!(?:https?|mailto|tel):)(?:[a-z][a-z0-9+.-]*://|(?:javascript|vbscript|data):(?=[^\s]))"
)
_SCHEME_SIGNS = ("://", "script:", "data:")
_ANY_SCHEME = regex.compile(r"[a-z][a-z0-9+.-]*:")
_SAFE_SCHEMES = ("http:", "https:", "mailto:", "tel:")
_ADDRESS_SIGN = re.compile(r"@|://|www\.")
_CLOSERS = {")": "(", "]": "[", "}": "{"}


def find_markup(text: str) -> str:
    """The first image, raw HTML or forbidden scheme of a flat text. A bare tag may stand in code."""
    if "![" in text:
        return "!["
    if any(sign in text for sign in _SCHEME_SIGNS) and (scheme := _BAD_SCHEME.search(text)):
        return scheme[0]
    if "<" in text and (tag := _HTML.search(_strip_safe_tags(text))):
        return tag[0]
    if "](" not in text and "]:" not in text:
        return ""
    urls = [match["url"] for pattern in (_LINK_TARGET, _LINK_DEFINITION) for match in pattern.finditer(text)]
    return next(filter(_has_forbidden_scheme, urls), "")


def _strip_safe_tags(text: str) -> str:
    """`text` without what only looks like HTML: links in angle brackets, bare tags in code."""
    return CODE_SPAN.sub(lambda match: _PLAIN_TAG.sub("", match[0]), _AUTOLINK.sub("", text))


def _has_forbidden_scheme(url: str) -> bool:
    return bool(_ANY_SCHEME.match(url)) and not url.startswith(_SAFE_SCHEMES)


def read_links(page: ValuePage) -> None:
    """Take every address of `page`: link targets and definitions first, bare hosts last."""
    for sign, pattern in _PATTERNS_BY_SIGN:
        if sign in page.text:
            page.take_matches(pattern, lambda match: _read_address(page, match))
    if "@" in page.text:
        page.take_matches(
            _HANDLE, lambda match: [page.build_value("code", f"mix:{match[0].rstrip('.-')}", match.span())]
        )
    if any(map(_is_host_ending, _ENDING.finditer(page.text))):
        page.take_matches(_BARE_HOST, lambda match: _read_bare_host(page, match))


def _is_host_ending(match: regex.Match[str]) -> bool:
    """Whether a last label is one of the DNS, or looks like one."""
    end = match["end"]
    return end in HOST_ENDINGS or end.startswith("xn--") or _MIXED_SCRIPT.fullmatch(end) is not None


def _read_bare_host(page: ValuePage, match: regex.Match[str]) -> list[Value] | None:
    """A bare host; not a forgotten space before a short word ("over.It"), nor an ordinal ("3.er")."""
    start, end = match.span("end")
    is_short = end - start == 2
    is_ordinal = page.text[match.start() : start - 1].isdigit()
    if not _is_host_ending(match) or (is_short and (is_ordinal or page.raw[start:end].istitle())):
        return None
    return _read_address(page, match)


def _read_address(page: ValuePage, match: regex.Match[str]) -> list[Value]:
    """Trailing punctuation is cut from the value but taken with it."""
    start, _ = match.span("url")
    raw = page.raw[start : match.end("url")]
    whole = raw if match.re in (_LINK_TARGET, _LINK_DEFINITION) else trim_url(raw)
    if not whole:
        return []
    return [_build_address_value(page, whole, (start, start + len(whole)))]


def _build_address_value(page: ValuePage, text: str, span: tuple[int, int]) -> Value:
    low = text.lower()
    if low.startswith("tel:"):
        return page.build_value("tel", "tel:" + "".join(c for c in low if c.isdigit()), span)
    if low.startswith("mailto:") or ("@" in low and "/" not in low.partition("@")[0]):
        return page.build_value("mail", format_mail_key(low.removeprefix("mailto:")), span)
    url = canonicalize_url(text)
    host = url.partition("/")[0].partition("?")[0].partition("#")[0]
    is_bare_host = host == url and "://" not in low
    alternatives = (f"url:{url}",), *((f"host:{url}",),) * is_bare_host
    return page.build_value(
        "url", f"url:{url}", span, alternatives=alternatives, source_keys=(f"url:{url}", f"host:{host}")
    )


def trim_url(url: str) -> str:
    """`url` without trailing punctuation and unbalanced closers."""
    while url:
        last = url[-1]
        if last in ".,;:!?'*_~…" or (last in _CLOSERS and url.count(last) > url.count(_CLOSERS[last])):
            url = url[:-1]
        else:
            break
    return url


def format_mail_key(address: str) -> str:
    """`mail:` and the address in lower case, its host in ASCII. A query stays: it carries text."""
    name, _, host = address.rpartition("@")
    return f"mail:{name}@{_encode_host(host)}"


def canonicalize_url(url: str) -> str:
    """A URL without scheme, default port, leading www. and trailing slash; host in ASCII, path as written.

    Unreserved characters are percent-decoded (RFC 3986 §6.2.2); scheme and host are lower case.
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        scheme, rest = "", url
    cut = min((i for i in map(rest.find, "/?#") if i >= 0), default=len(rest))
    host, path = rest[:cut], rest[cut:]
    port = {"http": ":80", "https": ":443"}.get(scheme.lower(), ":0")
    host = host.lower().removesuffix(port).removesuffix(".").removeprefix("www.")
    return _encode_host(host) + _decode_path(path).rstrip("/")


def _encode_host(host: str) -> str:
    if host.isascii():
        return host
    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        return host


_ESCAPE = regex.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _decode_path(path: str) -> str:
    return str(_ESCAPE.sub(_decode_escape, path))


def _decode_escape(match: regex.Match[str]) -> str:
    byte = unquote_to_bytes(match[0])
    return byte.decode() if byte[0] in _UNRESERVED else match[0].upper()


def find_leftover_sign(page: ValuePage) -> str:
    """The first `@`, `://` or `www.` that no address took."""
    sign = _ADDRESS_SIGN.search(page.text)
    return sign[0] if sign else ""
