"""The real default model, built on first use: it means the same in ten languages, and fits a proxy."""

import time

import numpy as np
import pytest

from indexes.embedding.default_model import ensure_default_model
from indexes.embedding.embedder import OnnxEmbedder
from indexes.fuse import compute_similarity
from indexes.progress import show_progress

pytestmark = pytest.mark.model

LEAVE = {
    "en": ("How many days of leave do I have?", "Staff get 25 days of paid holiday a year."),
    "fa": ("چند روز مرخصی دارم؟", "کارکنان سالی ۲۵ روز مرخصی با حقوق دارند."),
    "es": ("¿Cuántos días de permiso tengo?", "El personal dispone de 25 días de vacaciones pagadas al año."),
    "pt": ("Quantos dias de folga tenho?", "Os funcionários têm 25 dias de férias pagas por ano."),
    "fr": ("Combien de jours de congé ai-je ?", "Le personnel a 25 jours de vacances payées par an."),
    "de": ("Wie viele Tage Urlaub habe ich?", "Die Beschäftigten erhalten 25 Tage bezahlten Urlaub im Jahr."),
    "ru": ("Сколько дней отпуска у меня?", "Сотрудникам положено 25 дней оплачиваемого отпуска в год."),
    "ar": ("كم يوم إجازة لدي؟", "يحصل الموظفون على 25 يوم إجازة مدفوعة الأجر في السنة."),
    "hi": ("मेरी कितने दिन की छुट्टी है?", "कर्मचारियों को साल में 25 दिन का सवेतन अवकाश मिलता है।"),
    "zh": ("我有几天假期？", "员工每年享有25天带薪休假。"),
}
BRIDGE = {
    "en": "The bridge over the river is painted green every third spring.",
    "fa": "پل روی رودخانه هر سه بهار یک بار سبز رنگ می‌شود.",
    "es": "El puente sobre el río se pinta de verde cada tres primaveras.",
    "pt": "A ponte sobre o rio é pintada de verde a cada três primaveras.",
    "fr": "Le pont sur la rivière est repeint en vert tous les trois printemps.",
    "de": "Die Brücke über den Fluss wird jeden dritten Frühling grün gestrichen.",
    "ru": "Мост через реку красят в зелёный цвет каждую третью весну.",
    "ar": "يطلى الجسر فوق النهر باللون الأخضر كل ثالث ربيع.",
    "hi": "नदी के पुल को हर तीसरे वसंत में हरे रंग से रंगा जाता है।",
    "zh": "河上的桥每三个春天漆成绿色。",
}


@pytest.fixture(scope="module")
def model() -> OnnxEmbedder:
    with show_progress() as progress:
        return OnnxEmbedder(ensure_default_model(progress))


@pytest.mark.parametrize("tag", LEAVE)
def test_the_answer_is_nearer_than_another_sentence_of_the_language(model: OnnxEmbedder, tag: str) -> None:
    question, answer = LEAVE[tag]
    near, far = np.array(model.embed_passages([answer, BRIDGE[tag]])) @ np.array(model.embed_query(question))
    assert near - far > 0.03


@pytest.mark.parametrize("tag", [tag for tag in LEAVE if tag != "en"])
def test_the_answer_is_nearer_in_another_language_too(model: OnnxEmbedder, tag: str) -> None:
    near, far = np.array(model.embed_passages([LEAVE["en"][1], BRIDGE["en"]])) @ np.array(
        model.embed_query(LEAVE[tag][0])
    )
    assert near > far


@pytest.mark.parametrize("told", ["en", "own"])
@pytest.mark.parametrize("tag", LEAVE)
def test_the_usual_threshold_parts_answer_and_other_in_every_band(
    model: OnnxEmbedder, tag: str, told: str
) -> None:
    told = tag if told == "own" else told
    cosines = np.array(model.embed_passages([LEAVE[told][1], BRIDGE[told]])) @ np.array(
        model.embed_query(LEAVE[tag][0])
    )
    near, far = (compute_similarity(float(cosine), model.choose_band(tag, told), 0) for cosine in cosines)
    assert near > 0.35 > far


def test_a_vector_does_not_hang_on_its_neighbours(model: OnnxEmbedder) -> None:
    """Beyond what eight-bit arithmetic rounds differently in another batch."""
    texts = [answer for _, answer in LEAVE.values()] + ["word " * 400]
    together = np.array(model.embed_passages(texts))
    alone = np.array([model.embed_passages([text])[0] for text in texts])
    assert (together * alone).sum(axis=1).min() > 0.995


def test_a_very_long_text_is_cut_not_refused(model: OnnxEmbedder) -> None:
    assert len(model.embed_passages(["The river runs slowly. " * 20_000])[0]) == 384


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud7ff\U0010ffff", "🙂" * 50, "e\u0301" * 900])
def test_odd_texts_have_vectors_too(model: OnnxEmbedder, text: str) -> None:
    assert np.linalg.norm(model.embed_query(text)) == pytest.approx(1, abs=1e-5)


def test_a_question_takes_little_of_a_core(model: OnnxEmbedder) -> None:
    """About 11 ms of processor time where it was measured; ten times that is a fault, not a slow machine."""
    begun = time.process_time()
    for _ in range(10):
        model.embed_query("How many days of paid annual leave do I have this year?")
    assert (time.process_time() - begun) / 10 < 0.11
