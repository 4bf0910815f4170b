"""The language of a text, and the words of the packs."""

import pytest

from indexes.text.folding import fold_text
from indexes.text.language import WordPack, detect_language
from indexes.text.words import find_content_words
from proxy.settings.languages import LANGUAGE_TAGS, load_packs

PACKS = load_packs("words", WordPack)

TEXTS = {
    "en": ("Where is the nearest station?", "How much is it?", "They closed the shop."),
    "es": ("¿Dónde está la estación?", "¿Cuánto vale?", "Cerraron la tienda porque no había nadie."),
    "pt": ("Onde fica a estação?", "Quanto custa isso?", "Fecharam a loja porque não havia ninguém."),
    "fr": ("Où est la gare ?", "Combien ça coûte ?", "Ils ont fermé le magasin."),
    "de": ("Wo ist der Bahnhof?", "Was kostet das?", "Sie haben den Laden geschlossen."),
    "ru": ("Где находится вокзал?", "Сколько это стоит?"),
    "fa": ("ایستگاه کجاست؟", "این چند است؟", "آن مغازه را بستند."),
    "ar": ("أين المحطة؟", "كم سعر هذا؟", "أغلقوا المتجر لأنه كان فارغا."),
    "hi": ("स्टेशन कहाँ है?", "यह कितने का है?"),
    "zh": ("车站在哪里？", "這個多少錢？"),
}


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in TEXTS.items() for text in texts])
def test_short_texts_show_their_language(tag: str, text: str) -> None:
    assert detect_language(text, PACKS) == tag
    assert detect_language(text, PACKS, "en") == tag


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("en", "Skills, Awards, Friends, Menu, Clients, Schedule, Hobbies, Current employer, Prices"),
        ("es", "Precios, Idiomas, Menú, Entrega, Calendario, Clientes, Aparcamiento, Tiempo, Dirección"),
        ("pt", "Preços, Idiomas, Ferramentas, Fechamento, Clientes, Endereço, Formação, Entrega"),
        ("fr", "Tarifs, Menu, Lieu, Enfants, Calendrier, Clients, Horaires, Garantie, Téléphone"),
        ("de", "Preise, Sprachen, Garantie, Öffnungszeiten, Adresse, Gehalt, Kinder, Ausbildung"),
        ("fa", "ناهار، ثبت نام، مبلغ کل، نشانی، خدمات"),
        ("ar", "العنوان، خدمات، السعر، الوظيفة"),
    ],
)
def test_a_lone_word_is_of_no_neighbour(tag: str, words: str) -> None:
    for word in words.replace("،", ",").split(","):
        assert detect_language(f"{word.strip()}?", PACKS) in (tag, None), word


def test_words_of_one_language_that_are_asked_alone_tell_it() -> None:
    for tag, word in [("en", "Skills"), ("es", "Idioma, trabajo"), ("pt", "Endereço"), ("fr", "Lieu")]:
        assert detect_language(f"{word}?", PACKS) == tag
    for tag, word in [("de", "Sprachen"), ("fa", "رزومه"), ("ar", "العنوان")]:
        assert detect_language(f"{word}?", PACKS) == tag


def test_what_shows_none_is_the_default() -> None:
    for text in ("", "12345", "🙂", "ABC-123", "https://example.org/die/und/der"):
        assert detect_language(text, PACKS) is None
        assert detect_language(text, PACKS, "pt") == "pt"


def test_a_script_without_a_pack_is_the_default() -> None:
    assert detect_language("これは日本語の文章です", PACKS, "en") == "en"
    assert detect_language("καλημέρα", PACKS) is None


def test_urdu_and_ukrainian_are_not_taken_for_their_neighbours() -> None:
    assert detect_language("یہ کتاب بہت اچھی ہے اور وہاں ٹھیک ہے", PACKS) != "ar"
    assert detect_language("Ці міста є її", PACKS) is None


def test_the_only_pack_of_a_script_wins_unless_letters_speak_against_it() -> None:
    assert detect_language("Wo ist der Bahnhof?", {"en": PACKS["en"]}) == "en"
    assert detect_language("Größe", {"en": PACKS["en"]}, "fa") == "fa"


def test_a_default_is_given_up_only_for_a_clear_lead() -> None:
    assert detect_language("Total: no", PACKS, "es", lead=4) == "es"
    assert detect_language("Tengo tiempo", PACKS, "es", lead=2) == "es"


@pytest.mark.parametrize("tag", LANGUAGE_TAGS)
def test_stop_words_are_folded_and_a_closed_class(tag: str) -> None:
    pack = PACKS[tag]
    assert 60 <= len(pack.stop) <= 150
    assert all(fold_text(word) == word for word in (*pack.stop, *pack.telling))
    assert not pack.stop & pack.telling


@pytest.mark.parametrize(
    ("tag", "question", "content"),
    [
        ("en", "How many rooms are there, and since when?", "rooms"),
        ("de", "In welchem Jahr wurde die Brücke gebaut, und wofür?", "jahr brücke gebaut"),
        ("fr", "Que dois-je payer depuis mars, et auquel des guichets ?", "payer mars guichets"),
        ("es", "¿Cuyo contrato puedo firmar durante otro curso?", "contrato firmar curso"),
        ("pt", "Quais prazos devo cumprir durante cada curso?", "prazos cumprir curso"),
        ("ru", "В каком году и какими силами построен мост?", "году силами построен мост"),
        ("fa", "چه کسی طبق قرارداد ساختمان را ساخت؟", "قرارداد ساختمان ساخت"),
        ("hi", "पुल किसने और किस दौरान बनाया?", "पुल बनाया"),
    ],
)
def test_words_that_ask_are_no_content_in_any_of_their_forms(tag: str, question: str, content: str) -> None:
    assert find_content_words(question, PACKS[tag].stop) == tuple(content.split())
