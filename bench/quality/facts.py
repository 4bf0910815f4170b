"""Faithful sentences in ten languages and the notations in which a value may rightly stand in them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """One language. `{}` is where the value goes; the first notation is the one that the source uses."""

    amount_sentences: tuple[str, ...]
    """Around a whole number."""
    decimal_sentences: tuple[str, ...]
    """Around a number with decimals."""
    date_sentences: tuple[str, ...]
    """Around a date, as are those of the other kinds below around theirs."""
    time_sentence: str
    url_sentence: str
    mail_sentence: str
    date_notations: tuple[str, ...]
    """Of d, dd, m, mm, y and M, the month's name."""
    time_notations: tuple[str, ...]
    """Of h, hh and mm."""
    group_signs: tuple[str, ...]
    """Signs between thousands; "" for none."""
    decimal_signs: tuple[str, ...]
    digit_scripts: tuple[str, ...] = ("0123456789",)
    wrong_group_sign: str = ""
    """A sign that makes a decimal of a group of three; "" where none is certain to."""
    has_indian_groups: bool = False
    """Above the last three digits in groups of two: 73,16,452."""


_ISO_DATE = "{y}-{mm}-{dd}"
_NARROW_SPACE = "\u202f"

FACTS: Mapping[str, LanguageFacts] = {
    "en": LanguageFacts(
        ("The museum counted {} visitors last winter", "The roof was repaired for {} dollars"),
        ("About {} percent of the seats are reserved", "The bridge is {} metres wide"),
        ("The new hall was opened on {} by the mayor", "Applications close on {} without exception"),
        "The doors are opened at {} every morning",
        "The timetable is published at {} for everyone",
        "Complaints are answered at {} within a week",
        ("{d} {M} {y}", "{M} {d}, {y}", "{d} {M}, {y}", _ISO_DATE),
        ("{h}:{mm}", "{hh}:{mm}"),
        (",", "", _NARROW_SPACE),
        (".",),
        wrong_group_sign=".",
    ),
    "es": LanguageFacts(
        ("El museo recibió {} visitantes el invierno pasado", "El tejado se reparó por {} euros"),
        ("Cerca del {} por ciento de las plazas está reservado", "El puente mide {} metros de ancho"),
        ("La nueva sala se inauguró el {} con la alcaldesa", "El plazo termina el {} sin excepción"),
        "Las puertas se abren a las {} cada mañana",
        "El horario se publica en {} para todos",
        "Las quejas se atienden en {} en una semana",
        ("{d} de {M} de {y}", "{dd}/{mm}/{y}", "{d} de {M} del {y}", _ISO_DATE),
        ("{h}:{mm}", "{hh}:{mm} h", "{h}.{mm} h"),
        (".", "", "\u00a0"),
        (",",),
        wrong_group_sign=",",
    ),
    "pt": LanguageFacts(
        ("O museu recebeu {} visitantes no inverno passado", "O telhado foi reparado por {} euros"),
        ("Cerca de {} por cento dos lugares estão reservados", "A ponte tem {} metros de largura"),
        ("A nova sala foi inaugurada em {} pela prefeita", "O prazo termina em {} sem exceção"),
        "As portas são abertas às {} todas as manhãs",
        "O horário é publicado em {} para todos",
        "As queixas são respondidas em {} numa semana",
        ("{d} de {M} de {y}", "{dd}/{mm}/{y}", _ISO_DATE),
        ("{h}h{mm}", "{h}:{mm}", "{hh}:{mm}"),
        (".", "", "\u00a0"),
        (",",),
        wrong_group_sign=",",
    ),
    "fr": LanguageFacts(
        ("Le musée a reçu {} visiteurs l’hiver dernier", "Le toit a été réparé pour {} euros"),
        ("Environ {} pour cent des places sont réservées", "Le pont mesure {} mètres de large"),
        ("La nouvelle salle a été ouverte le {} par la maire", "Le délai se termine le {} sans exception"),
        "Les portes sont ouvertes à {} chaque matin",
        "L’horaire est publié sur {} pour tous",
        "Les plaintes sont traitées à {} en une semaine",
        ("{d} {M} {y}", "{dd}/{mm}/{y}", _ISO_DATE),
        ("{h} h {mm}", "{h}h{mm}", "{h}:{mm}"),
        (_NARROW_SPACE, "", "\u00a0", " "),
        (",",),
        wrong_group_sign=",",
    ),
    "de": LanguageFacts(
        ("Das Museum zählte im letzten Winter {} Besucher", "Das Dach wurde für {} Euro repariert"),
        ("Rund {} Prozent der Plätze sind reserviert", "Die Brücke ist {} Meter breit"),
        ("Der neue Saal wurde am {} feierlich eröffnet", "Die Frist endet am {} ohne Ausnahme"),
        "Die Türen werden jeden Morgen um {} geöffnet",
        "Der Fahrplan steht unter {} für alle bereit",
        "Beschwerden werden unter {} in einer Woche beantwortet",
        ("{d}. {M} {y}", "{dd}.{mm}.{y}", "{d}.{m}.{y}", _ISO_DATE),
        ("{h}.{mm} Uhr", "{h}:{mm} Uhr", "{hh}:{mm}"),
        (".", "", "’", _NARROW_SPACE),
        (",",),
        wrong_group_sign=",",
    ),
    "ru": LanguageFacts(
        ("Прошлой зимой музей посетили {} человек", "Крышу починили за {} рублей"),
        ("Около {} процентов мест забронировано", "Ширина моста равна {} метра"),
        ("Новый зал открыли {} при участии мэра", "Срок заканчивается {} без исключений"),
        "Двери открывают в {} каждое утро",
        "Расписание опубликовано на {} для всех",
        "На жалобы отвечают по адресу {} за неделю",
        ("{d} {M} {y}", "{dd}.{mm}.{y}", "{d} {M} {y} г.", _ISO_DATE),
        ("{h}:{mm}", "{hh}:{mm}"),
        ("\u00a0", "", _NARROW_SPACE, " "),
        (",",),
        wrong_group_sign=",",
    ),
    "fa": LanguageFacts(
        ("زمستان گذشته {} نفر از موزه دیدن کردند", "بام با {} یورو تعمیر شد"),
        ("حدود {} درصد صندلی‌ها رزرو شده است", "پهنای پل {} متر است"),
        ("تالار تازه در {} گشایش یافت", "مهلت در {} بدون استثنا پایان می‌یابد"),
        "درها هر بامداد ساعت {} باز می‌شود",
        "برنامه در {} برای همه منتشر می‌شود",
        "به شکایت‌ها در {} پاسخ داده می‌شود",
        ("{d} {M} {y}", "{y}/{mm}/{dd}", _ISO_DATE),
        ("{h}:{mm}", "{hh}:{mm}"),
        ("٬", "", ","),
        ("٫", "."),
        ("۰۱۲۳۴۵۶۷۸۹", "0123456789"),
        wrong_group_sign="٫",
    ),
    "ar": LanguageFacts(
        ("زار المتحف {} شخصا في الشتاء الماضي", "أصلح السقف بمبلغ {} يورو"),
        ("حجز نحو {} في المئة من المقاعد", "يبلغ عرض الجسر {} مترا"),
        ("افتتحت القاعة الجديدة في {} بحضور العمدة", "تنتهي المهلة في {} دون استثناء"),
        "تفتح الأبواب الساعة {} كل صباح",
        "ينشر الجدول على {} للجميع",
        "يرد على الشكاوى عبر {} خلال أسبوع",
        ("{d} {M} {y}", "{y}/{mm}/{dd}", _ISO_DATE),
        ("{h}:{mm}", "{hh}:{mm}"),
        ("٬", "", ","),
        ("٫", "."),
        ("٠١٢٣٤٥٦٧٨٩", "0123456789"),
        wrong_group_sign="٫",
    ),
    "hi": LanguageFacts(
        ("पिछली सर्दियों में {} लोग संग्रहालय आए", "छत की मरम्मत पर {} रुपये लगे"),
        ("लगभग {} प्रतिशत सीटें आरक्षित हैं", "पुल की चौड़ाई {} मीटर है"),
        ("नया सभागार {} को खोला गया", "आवेदन {} को बिना अपवाद बंद होते हैं"),
        "दरवाज़े हर सुबह {} बजे खुलते हैं",
        "समय सारणी {} पर सबके लिए है",
        "शिकायतों का उत्तर {} पर मिलता है",
        ("{d} {M} {y}", "{d} {M}, {y}", _ISO_DATE),
        ("{h}:{mm}", "{hh}:{mm}"),
        (",", ""),
        (".",),
        ("0123456789", "०१२३४५६७८९"),
        wrong_group_sign=".",
        has_indian_groups=True,
    ),
    "zh": LanguageFacts(
        ("去年冬天博物馆接待了{}名游客", "屋顶的维修花费{}元"),
        ("大约{}%的座位已被预订", "这座桥宽{}米"),
        ("新大厅于{}由市长揭幕", "申请于{}截止没有例外"),
        "大门每天早上{}打开",
        "时刻表公布在 {} 供所有人查看",
        "投诉请写信至 {} 一周内答复",
        ("{y}年{m}月{d}日", _ISO_DATE, "{y}/{mm}/{dd}"),
        ("{h}:{mm}", "{hh}:{mm}", "{h}点{mm}分"),
        (",", ""),
        (".",),
        ("0123456789", "０１２３４５６７８９"),
        wrong_group_sign=".",
    ),
}

AMOUNTS = (1250, 48_300, 7_316_452)
DECIMALS = ("12.5", "3.75")
DAYS = ((2021, 3, 14), (2019, 11, 28))
TIMES_OF_DAY = ((9, 40), (8, 15))
HOST, PATH = "stadtbad.example.org", "/plan/week?day=mon"
MAIL = "office@harbour.example.com"
