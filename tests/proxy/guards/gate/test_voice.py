"""First person in ten languages, and what only looks like it."""

import statistics
import time

import pytest

from indexes.text import fold
from proxy.guards.gate.voice import VoicePack, first_person
from proxy.settings.languages import TAGS, parts
from tests.proxy.guards.gate.kit import run, verdict

PACKS = parts("voice", VoicePack)

SPOKEN = {
    "en": (
        "I would say it is worth it.",
        "As far as I know, it opens at nine.",
        "Perhaps (I believe) it is free.",
        "It seems to me that the plan is good.",
        "We’ve found three offers.",
        "Ask us for the key.",
        "It is in our list.",
        "Let’s see what the page says.",
        "In the U.S. I know of two.",
        "I'll check the dates.",
        "A friend of mine is there.",
        "i think it is open.",
    ),
    "es": (
        "Ofrezco servicios.",
        "Trabajé en ello.",
        "A mí me parece bien.",
        "Tengo tres fuentes.",
        "No sé cuándo abre.",
        "Según nuestros datos, sí.",
        "Le recomiendo el primero.",
        "Podemos ofrecer dos opciones.",
        "Desconozco el precio.",
        "No encontré el dato.",
        "Diría que abre pronto.",
        "Permítame explicarlo.",
        "Abrimos los lunes.",
    ),
    "pt": (
        "Trabalhei nisso.",
        "Parece-me correto.",
        "Segundo os nossos dados, sim.",
        "Não tenho essa informação.",
        "Recomendo o primeiro.",
        "Eu não vi isso.",
        "Podemos confirmar o preço.",
        "Desconheço o preço.",
        "Vou explicar.",
        "A gente recomenda o primeiro.",
        "Nos parece correto.",
        "Encontrámos três opções.",
        "Verifiquei o preço.",
    ),
    "fr": (
        "J’ai trouvé trois offres.",
        "Puis-je proposer la première ?",
        "D’après nos données, oui.",
        "On m’a dit que c’est ouvert.",
        "Ma réponse est oui.",
        "Nous-mêmes ne savons pas.",
        "Voyons les prix.",
        "Rappelons que c’est ouvert.",
        "Ma liste est courte.",
    ),
    "de": (
        "Bin verfügbar.",
        "Das weiß ich nicht.",
        "Es scheint mir richtig.",
        "Nach unseren Angaben ja.",
        "Das gilt meiner Meinung nach.",
        "Für meinen Bericht zählt das.",
        "Man kann uns fragen.",
        "Das ist m. E. richtig.",
    ),
    "ru": (
        "Работаю здесь.",
        "Я нашёл три варианта.",
        "По-моему, это верно.",
        "У нас есть три варианта.",
        "К сожалению, не знаю.",
        "Советую первый вариант.",
        "Мне неизвестно.",
        "Уверен, что открыто.",
        "Благодарим за вопрос.",
        "Давайте посмотрим на цены.",
        "Будем рады гостям.",
        "Гарантируем возврат.",
    ),
    "fa": (
        "نمی‌دانم کی باز می‌شود.",
        "می خوانم و می نویسم.",
        "میدانم که رایگان است.",
        "به عقیدهٔ ما خوب است.",
        "سه گزینه یافته‌ام.",
        "پیشنهاد می‌کنیم زودتر بیایید.",
        "مي‌توانم كمك كنم.",
        "میخوانم و میدانیم.",
        "در خدمتم.",
        "اطلاعی ندارم.",
        "سه گزینه را خواندم.",
    ),
    "ar": (
        "فريقنا جيد.",
        "أظن أنه مفتوح.",
        "ونحن ننصح بالأول.",
        "هذا سهل عليّ.",
        "فأنا لا أعرف.",
        "لا يمكنني الإجابة.",
        "حسب رأينا هو الأفضل.",
        "لدي ثلاث وثائق.",
        "سأجيب الآن.",
        "وجدنا ثلاثة خيارات.",
        "جامعتنا كبيرة.",
        "من وجهة نظري هو جيد.",
        "بإمكاننا المساعدة.",
        "نوفر خيارين.",
    ),
    "hi": (
        "मुझे नहीं पता।",
        "मैंने तीन विकल्प देखे।",
        "हमारे अनुसार यह सही है।",
        "मैं बताऊँगा।",
        "कह सकती हूं कि यह खुला है।",
        "सुझाव दूँगा।",
        "क्या कर सकूं?",
        "उत्तर लूँगी।",
    ),
    "zh": (
        "我不知道何时开放。",
        "我们的名单有三项。",
        "请联系我。",
        "自我们成立以来。",
        "咱们去看看。",
        "个人认为值得。",
        "本公司有三项。",
    ),
}

UNSPOKEN = {
    "en": (
        "Part I and Part II are free.",
        "Elizabeth I reigned long.",
        "Articles I and II apply.",
        "The I/O port, the A.I. lab and I. Newton.",
        "I-95 is closed.",
        "The US and ME are codes, i.e. states.",
        "The tin mine is open; the menu is short.",
        "West, usage, mythic, weather, hour.",
        "Volumes I, II and III are here.",
        "Gold of mine shafts; vitamin B-I.",
        "Justinian I and Sigmund I ruled there.",
        "The symbol is I here.",
    ),
    "es": (
        "Tocan en mi menor.",
        "Creó la sala y comió allí, como todos.",
        "El miércoles, Yolanda abre el nosocomio.",
        "Un yo-yo cuesta poco.",
        "El encuentro es el lunes.",
        "El Cantar de mio Cid y el Mío Cid.",
        "Quién diría que es gratis.",
    ),
    "pt": (
        "Fica nos fundos, em Minas.",
        "A senhora nota o euro.",
        "Nossa Senhora de Fátima é a padroeira.",
        "Quem diria que é grátis.",
        "O ponto fica nos campos.",
        "Os nós da corda.",
    ),
    "fr": (
        "De nos jours, Notre-Dame est ouverte.",
        "Me Dupont est avocat.",
        "Le maire mesure le moineau.",
        "André Le Nôtre dessina le parc.",
        "Jack Ma parle ; Ma Lin gagne.",
    ),
    "de": (
        "Kritiker meinen, dass es gut ist.",
        "Der Ich-Erzähler heißt Wirth.",
        "Die Station Mir war groß.",
        "Das Ich ist ein Begriff.",
        "Im Jahr 50 vor unserer Zeitrechnung.",
        "Bin Laden ist tot; der Ubin Verlag.",
        "A. M. Ewald wohnt in B. M. dort.",
    ),
    "ru": (
        "В 5 веке до нашей эры.",
        "Мышь, Мымра и Яна.",
        "От А до Я.",
        "Я. Иванов открыл зал.",
        "Автор уверен, что цены вырастут.",
        "Он рад помочь.",
        "Не давайте лекарство детям.",
    ),
    "fa": (
        "او می‌رود و آن‌ها می‌آیند.",
        "دهم مرداد است.",
        "ایمن، منظم و مادر.",
        "این مجموعه سالم است.",
        "یک میلیونم متر، میکروفیلم و میکروارگانیسم.",
    ),
    "ar": (
        "علی يسكن لدى جاره.",
        "الله أعلم.",
        "منى ولي في بي بي سي.",
        "اعتقد العلماء ذلك.",
        "دعم نفسي للطلاب.",
        "هو أعلم الناس بذلك.",
    ),
    "hi": ("हमेशा हमला हमराह।", "मेरुदंड और मैदान।", "यहाँ हूण आए।", "गेहूँ क्यूँ महँगा है, यूँ ही?"),
    "zh": (
        "自我介绍和忘我的精神。",
        "这是无我的境界。",
        "他们很好。",
        "须本人签字。",
        "你死我活，时不我待。",
    ),
}


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in SPOKEN.items() for text in texts])
def test_first_person_is_found(tag: str, text: str) -> None:
    assert first_person(text, tag, PACKS, [])


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in UNSPOKEN.items() for text in texts])
def test_what_only_looks_like_it_is_spared(tag: str, text: str) -> None:
    assert first_person(text, tag, PACKS, []) == ""


def test_lists_are_never_applied_across_languages() -> None:
    assert first_person("الكتاب من المكتبة", "ar", PACKS) == ""
    assert first_person("Es por me y mi.", "en", PACKS) == "me"
    assert first_person("I think so.", None, PACKS) == ""
    assert first_person("I think so.", "xx", PACKS) == ""


def test_a_quoted_title_of_a_cited_source_is_spared() -> None:
    source = "She wrote the book “Where I Was From” in 2003."
    assert first_person("She wrote “Where I was from”.", "en", PACKS, [source]) == ""
    assert first_person("She wrote “Where I Was From,” then left.", "en", PACKS, [source]) == ""
    assert first_person("She wrote “What I Want”.", "en", PACKS, [source]) == "I"
    assert first_person("I read “Where I Was From”.", "en", PACKS, [source]) == "I"
    assert first_person("She wrote Where I Was From.", "en", PACKS, [source]) == "I"
    assert first_person("《我的城市》已出版。", "zh", PACKS, ["出版《我的城市》一书"]) == ""


def test_unseen_characters_hide_nothing() -> None:
    assert first_person("m\u200by view", "en", PACKS)
    assert first_person("\u2060I\u00ad think", "en", PACKS)


@pytest.mark.parametrize("text", ["Ｉ think", "𝐈 think", "І think", "𝗺𝘆 view"])
def test_letters_in_another_dress_hide_nothing(text: str) -> None:
    assert first_person(text, "en", PACKS)


@pytest.mark.parametrize("text", ["&#73; am glad", "w*e* are glad", "**I** am glad", "w&shy;e are glad"])
def test_markup_hides_no_first_person(text: str) -> None:
    assert verdict(run(f"It costs 12 euros [1]. {text} [1].")) == "voice"


@pytest.mark.parametrize("tag", TAGS)
def test_folded_entries_are_folded_and_each_is_found(tag: str) -> None:
    pack = PACKS[tag]
    for entry in (*pack.words, *pack.spared):
        assert fold(entry) == entry
    for entry in pack.words:
        said = entry.replace(" ?", " ").replace("*", "xx" if tag == "en" else "سس" if tag == "fa" else "कर")
        assert first_person(f"{said}x" if said.endswith("'") else said, tag, PACKS), entry


@pytest.mark.parametrize("tag", [tag for tag in TAGS if PACKS[tag].bounded])
def test_an_entry_is_found_with_its_space_and_without_and_behind_each_prefix(tag: str) -> None:
    pack = PACKS[tag]
    for entry in (word for word in pack.words if "*" not in word and not word.endswith("'")):
        for said in (entry.replace(" ?", " "), entry.replace(" ?", "")):
            assert all(first_person(prefix + said, tag, PACKS) for prefix in ("", *pack.prefixes)), said


@pytest.mark.parametrize("text", ["the roof of the house", "a view of it as a model"])
def test_a_few_words_of_an_entry_ask_for_no_dear_look(text: str) -> None:
    assert not PACKS["en"].may_be(text)


def test_a_sentence_is_heard_in_microseconds() -> None:
    text = "The library stays open to students during the summer holidays and on every other Sunday."
    spent = []
    for _ in range(50):
        started = time.thread_time()  # not what neighbours take
        first_person(text, "en", PACKS, [])
        spent.append(time.thread_time() - started)
    assert statistics.median(spent) < 500e-6
