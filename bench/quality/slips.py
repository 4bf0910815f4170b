"""How a value is rightly written, and how a model gets it wrong."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from bench.quality.facts import HOST, MAIL, PATH, LanguageFacts

LOOK_ALIKES = str.maketrans({"a": "а", "e": "е", "o": "о", "c": "с", "p": "р", "i": "і"})
"""Latin → Cyrillic."""
DIGIT_SCRIPTS = ("0123456789", "۰۱۲۳۴۵۶۷۸۹", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９")


def transliterate_digits(text: str, script: str) -> str:
    """`text` with its ASCII digits in another script."""
    return text.translate(str.maketrans("0123456789", script))


def group_thousands(whole: int, sign: str, is_indian: bool = False) -> str:
    """A whole number with `sign` between its groups: of three digits, `indian` ones above those of two."""
    text = f"{whole:,}"
    if is_indian and whole >= 100_000:
        head, tail = str(whole)[:-3], str(whole)[-3:]
        odd = len(head) % 2
        groups = [head[:odd]] * odd + [head[i : i + 2] for i in range(odd, len(head), 2)]
        text = ",".join([*groups, tail])
    return text.replace(",", sign)


def format_amounts(whole: int, facts: LanguageFacts) -> list[str]:
    """Every notation of a whole number in a language."""
    plain = [group_thousands(whole, sign, facts.has_indian_groups) for sign in facts.group_signs]
    return [transliterate_digits(text, script) for script in facts.digit_scripts for text in plain]


def format_decimals(number: str, facts: LanguageFacts) -> list[str]:
    """Every notation of a number with decimals; a trailing zero says nothing."""
    texts = [text.replace(".", point) for point in facts.decimal_signs for text in (number, number + "0")]
    return [transliterate_digits(text, script) for script in facts.digit_scripts for text in texts]


def format_dates(day: date, facts: LanguageFacts, months: tuple[tuple[str, ...], ...]) -> list[str]:
    """Every notation of a date."""
    parts = {"d": day.day, "dd": f"{day.day:02}", "m": day.month, "mm": f"{day.month:02}", "y": day.year}
    texts = [form.format(**parts, M=months[day.month - 1][0]) for form in facts.date_notations]
    return [transliterate_digits(text, script) for script in facts.digit_scripts for text in texts]


def format_times(hour: int, minute: int, facts: LanguageFacts) -> list[str]:
    """Every notation of a time of day."""
    texts = [form.format(h=hour, hh=f"{hour:02}", mm=f"{minute:02}") for form in facts.time_notations]
    return [transliterate_digits(text, script) for script in facts.digit_scripts for text in texts]


def list_urls() -> list[str]:
    """Every notation of the address."""
    return [f"{before}{HOST}{PATH}" for before in ("https://", "http://", "https://www.", "HTTPS://")]


def list_mails() -> list[str]:
    """Every notation of the e-mail address."""
    return [MAIL, MAIL.title(), f"[{MAIL}](mailto:{MAIL})"]


def iterate_wrong_wholes(whole: int) -> Iterator[int]:
    """Each digit one off, lost, doubled, swapped with the next; scales. `whole` itself may be among them."""
    text = str(whole)
    for i, digit in enumerate(text):
        for other in (int(digit) + 1, int(digit) + 9):
            yield int(text[:i] + str(other % 10) + text[i + 1 :])
        yield int(text[:i] + digit + text[i:])
        yield int(text[:i] + text[i + 1 :])
        yield int(text[:i] + text[i : i + 2][::-1] + text[i + 2 :])
    yield from (whole * 10, whole * 1000, whole // 10, whole // 1000, whole + 1, whole - 1)


def iterate_wrong_amounts(whole: int, facts: LanguageFacts, scales: Sequence[str]) -> Iterator[str]:
    """Wrong numbers in every notation, and right digits wrongly written."""
    for wrong in sorted(set(iterate_wrong_wholes(whole)) - {0, whole}):
        yield from format_amounts(wrong, facts)[:3]
        yield transliterate_digits(str(wrong), DIGIT_SCRIPTS[wrong % len(DIGIT_SCRIPTS)])
    plain, text = group_thousands(whole, facts.group_signs[0]), str(whole)
    yield from (f"{plain} {scale}" for scale in scales)
    yield from (
        f"-{plain}",
        f"{plain}k",
        f"{text[0]}\u200b{text[1:]}",
        f"{text[0]}l{text[1:]}",
        f"{text[0]}e{text[1]}",
    )
    yield from (text.replace("0", letter) if "0" in text else text[:-1] + letter for letter in "Oо")
    if facts.wrong_group_sign and whole < 1_000_000:
        yield f"{text[:-3]}{facts.wrong_group_sign}{text[-3:]}"


def iterate_wrong_decimals(number: str, facts: LanguageFacts) -> Iterator[str]:
    """Each digit one off, the point moved or lost."""
    point = facts.decimal_signs[0]
    for i, digit in enumerate(number):
        if digit.isdigit():
            yield (number[:i] + str((int(digit) + 1) % 10) + number[i + 1 :]).replace(".", point)
    yield number.replace(".", "")
    yield number.replace(".", point + "0")
    yield number + "1"
    yield (number[0] + "." + number.replace(".", "")[1:] + "9").replace(".", point)
    yield number.partition(".")[0]
    yield number.partition(".")[2]


def iterate_wrong_dates(
    day: date, facts: LanguageFacts, months: tuple[tuple[str, ...], ...]
) -> Iterator[str]:
    """Neighbouring days, months and years, in every notation."""
    near = [day + timedelta(days=n) for n in (1, -1, 10, -10, 31, -31)]
    near += [day.replace(year=day.year + n) for n in (1, -1, 10, -10, 100)]
    near += [day.replace(month=m, day=min(day.day, 28)) for m in (1, 6, 12) if m != day.month]
    for wrong in near:
        yield from format_dates(wrong, facts, months)


def iterate_wrong_times(hour: int, minute: int, facts: LanguageFacts) -> Iterator[str]:
    """An hour, a minute or twelve hours off, or both changed about."""
    near = (
        (hour + 1, minute),
        (hour, minute + 1),
        (hour, minute - 10),
        (hour + 12, minute),
        (minute % 24, hour),
    )
    for wrong in near:
        yield from format_times(*wrong, facts)


def iterate_wrong_urls() -> Iterator[str]:
    """Another host, path or scheme, and hosts that only look right."""
    name, _, rest = HOST.partition(".")
    hosts = ("evil.example.org", f"{HOST}.evil.net", f"evil{HOST}", f"{name}-{rest}", f"{name}.example.net")
    tricks = (f"{HOST}@evil.net", f"evil.net/{HOST}", f"evil.net#{HOST}", f"{name}s.{rest}", f"{HOST}:8080")
    alike = name.translate(LOOK_ALIKES) + "." + rest
    yield from (f"https://{wrong}{PATH}" for wrong in (*hosts, *tricks, alike))
    paths = ("/plan/month", "/Plan/week?day=mon", f"{PATH}&x=1", f"{PATH}1", "")
    yield from (f"https://{HOST}{wrong}" for wrong in paths)
    right = f"https://{HOST}{PATH}"
    yield from (f"ftp://{HOST}{PATH}", f"javascript://{HOST}{PATH}", f"[x](data:text/html,{HOST})")
    yield from (
        f"![x]({right})",
        f"[{right}](https://evil.net/)",
        f"<img src={right}>",
        f"<https://{HOST}.evil.net>",
    )
    yield from (f"{HOST}.evil.net", f"www.evil.net/{HOST}")


def iterate_wrong_mails() -> Iterator[str]:
    """Another name, another host, and letters that only look right."""
    name, _, host = MAIL.partition("@")
    names = ("offices", "info", "office1", name.translate(LOOK_ALIKES), f"{name}.evil")
    hosts = (
        "evil.example.com",
        "harbor.example.com",
        f"{host}.evil.net",
        host.translate(LOOK_ALIKES),
        "example.com",
    )
    yield from (f"{wrong}@{host}" for wrong in names)
    yield from (f"{name}@{wrong}" for wrong in hosts)
    yield from (f"[{MAIL}](mailto:info@evil.net)", f"{MAIL}@evil.net", f"{name}@\u200b{host}x")
