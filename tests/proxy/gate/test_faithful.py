"""Faithful sentences in the notations that people use pass whole; their altered twins stop."""

import pytest

from proxy.domain.types import Source
from tests.proxy.gate.gate_runs import find_stop_rule, run_gate

CASES = [
    ("en", "Open 9:00-18:00.", "Open from 9:00 to 18:00 [1].", "There are 18 rooms and 0 [1]."),
    ("en", "Open from 9 am to 6 pm.", "Open 9:00-18:00 [1].", "Open 9:00-18:30 [1]."),
    ("de", "Geöffnet 9–18 Uhr.", "Geöffnet 9-18 Uhr [1].", "Geöffnet 9-17 Uhr [1]."),
    ("de", "Es kamen 1,2 Millionen.", "Es kamen 1,2 Mio. Besucher [1].", "Es kamen 1,2 Mrd. Besucher [1]."),
    ("de", "Vom 4. bis 6. Mai 2024.", "Offen vom 4.–6. Mai 2024 [1].", "Offen vom 4.–7. Mai 2024 [1]."),
    ("de", "Vom 4. bis 6. Mai.", "Offen vom 4. bis zum 6. Mai [1].", "Offen vom 5. bis zum 6. Mai [1]."),
    ("fr", "Tél. 01 23 45 67 89.", "Appelez le 01.23.45.67.89 [1].", "Appelez le 01.23.45.67.88 [1]."),
    ("fr", "Au 1er étage.", "Il est au 1ᵉʳ étage [1].", "Il est au 2ᵉ étage [1]."),
    ("es", "En los años 90.", "En la década de 1990 abrió [1].", "En la década de 1980 abrió [1]."),
    ("ar", "الهاتف 011-123-4567.", "الهاتف 0111234567 [1].", "الهاتف 0111234568 [1]."),
    ("ar", "من ٩ صباحًا إلى ٦ مساءً.", "من 9:00 إلى 18:00 [1].", "من 9:00 إلى 19:00 [1]."),
    ("fa", "در دههٔ ۱۳۷۰.", "در دههٔ ۷۰ باز شد [1].", "در دههٔ ۸۰ باز شد [1]."),
    ("zh", "2024年5月4日至6日举行。", "从5月4日到5月6日[1]。", "从5月4日到5月7日[1]。"),
    ("zh", "周一9:00—18:00开放。", "周一9:00-18:00开放[1]。", "周一9:00-18:10开放[1]。"),
]


@pytest.mark.parametrize(("language", "source", "faithful", "altered"), CASES)
def test_a_faithful_notation_passes_and_its_twin_stops(
    language: str, source: str, faithful: str, altered: str
) -> None:
    sources = (Source(1, "a", "Hall", source),)
    assert find_stop_rule(run_gate(faithful, sources=sources, language=language)) == ""
    assert find_stop_rule(run_gate(altered, sources=sources, language=language)) == "values"


def test_a_vowel_sign_that_stands_alone_is_no_word() -> None:
    sources = (Source(1, "a", "Hall", "عشرون غرفة و ً و 7 قاعات. " * 2),)
    assert find_stop_rule(run_gate("فيها 7 قاعات و ً [1].", sources=sources, language="ar")) == ""
