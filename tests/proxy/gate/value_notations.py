"""One source a language, and sentences that say the same values in every notation of that language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NotationSentences:
    """`source` holds the values; each of `same` repeats some of them in another way."""

    language: str
    source: str
    same: tuple[str, ...]


ALL = (
    NotationSentences(
        "en",
        "The fee is 1,250 euros and rises by 3.5% a year. The hall opened on 14 March 2017, at 9:30. "
        "It seats 48 people, cost 26 million dollars and stands at https://hall.example.org/visit. "
        "Write to desk@hall.example.org or call +44 20 7946 0958. It was the 7th of its kind, in zone B12.",
        (
            "The fee is 1250 euros.",
            "The fee is €1,250.00.",
            "The fee is 1 250 euros.",
            "It rises by 3.50 percent.",
            "It opened on March 14, 2017.",
            "It opened on 2017-03-14.",
            "It opened on the 14th of March 2017.",
            "It opened on 14/03/2017 or, in another order, on 03/14/2017.",
            "It opened in March 2017.",
            "It opened in 2017.",
            "It opened on March 14.",
            "It opened at 9:30 am.",
            "It opened at 09:30.",
            "It seats 48.",
            "It cost $26 million.",
            "It cost $26M.",
            "See [the hall](https://hall.example.org/visit).",
            "See http://www.hall.example.org/visit/.",
            "See hall.example.org.",
            "Write to <Desk@Hall.example.org>.",
            "Call +44 (20) 7946-0958.",
            "It was the 7th in zone b12.",
        ),
    ),
    NotationSentences(
        "es",
        "La cuota es de 1.250 euros y sube un 3,5 %. La sala abrió el 14 de marzo de 2017 a las 9.30 h. "
        "Tiene 48 plazas, costó 26 millones de dólares y está en https://sala.ejemplo.es/visita. "
        "Escriba a sala@ejemplo.es o llame al +34 912 345 678. Fue la 7.ª de su clase, en la zona B12.",
        (
            "La cuota es de 1250 euros.",
            "La cuota es de 1 250 euros.",
            "La cuota es de 1.250,00 €.",
            "Sube un 3,50 por ciento.",
            "Abrió el 14/03/2017.",
            "Abrió el 14-3-2017.",
            "Abrió el 14 de marzo del 2017.",
            "Abrió en marzo de 2017.",
            "Abrió a las 9:30.",
            "Abrió a las 9h30.",
            "Abrió a las 9:30 de la mañana.",
            "Tiene 48 plazas y fue la 7.ª.",
            "Costó 26 millones.",
            "Está en sala.ejemplo.es.",
            "Llame al +34 912345678.",
        ),
    ),
    NotationSentences(
        "pt",
        "A taxa é de 1.250 euros e sobe 3,5% ao ano. A sala abriu em 14 de março de 2017, às 9h30. "
        "Tem 48 lugares, custou 26 milhões de dólares e fica em https://sala.exemplo.pt/visita. "
        "Escreva para sala@exemplo.pt ou ligue +351 21 345 6789. Foi a 7.ª do género, na zona B12.",
        (
            "A taxa é de 1250 euros.",
            "A taxa é de 1 250,00 euros.",
            "Sobe 3,50 por cento.",
            "Abriu em 14/03/2017.",
            "Abriu no dia 14 de março.",
            "Abriu em março de 2017.",
            "Abriu às 9:30.",
            "Abriu às 9h30min.",
            "Abriu às 9.30 h.",
            "Custou 26 milhões.",
            "Tem 48 lugares, a 7ª.",
            "Fica em www.sala.exemplo.pt/visita.",
        ),
    ),
    NotationSentences(
        "fr",
        "Le tarif est de 1 250 euros et monte de 3,5 % par an. La salle a ouvert le 14 mars 2017 à 9h30. "
        "Elle a 48 places, a coûté 26 millions de dollars et se trouve sur https://salle.exemple.fr/visite. "
        "Écrivez à salle@exemple.fr ou appelez le +33 1 42 68 53 00. C’est la 7e du genre, en zone B12.",
        (
            "Le tarif est de 1250 euros.",
            "Le tarif est de 1\u202f250 €.",
            "Le tarif est de 1.250,00 €.",
            "Il monte de 3,50 %.",
            "Elle a ouvert le 14/03/2017.",
            "Elle a ouvert en mars 2017.",
            "Elle a ouvert à 9 h 30.",
            "Elle a ouvert à 9:30.",
            "Elle a ouvert à 9 heures 30.",
            "C’est la 7ème, avec 48 places.",
            "Elle a coûté 26 millions.",
            "Voir salle.exemple.fr.",
        ),
    ),
    NotationSentences(
        "de",
        "Die Gebühr beträgt 1.250 Euro und steigt um 3,5 %. Der Saal öffnete am 14. März 2017 um 9.30 Uhr. "
        "Er hat 48 Plätze, kostete 26 Millionen Dollar und steht auf https://saal.beispiel.de/besuch. "
        "Kontakt: saal@beispiel.de oder +49 30 9018 2094. Er war der 7. seiner Art, Zone B12.",
        (
            "Die Gebühr beträgt 1250 Euro.",
            "Die Gebühr beträgt 1’250.00 Franken.",
            "Die Gebühr beträgt 1.250,00 €.",
            "Sie steigt um 3,50 Prozent.",
            "Er öffnete am 14.03.2017.",
            "Er öffnete am 14.3.2017.",
            "Er öffnete am 14. 3. 2017.",
            "Er öffnete im März 2017.",
            "Er öffnete um 9:30 Uhr.",
            "Er öffnete um 9:30.",
            "Er kostete 26 Mio. Dollar.",
            "Er hat 48 Plätze und war der 7. Saal.",
            "Mehr auf saal.beispiel.de.",
        ),
    ),
    NotationSentences(
        "ru",
        "Плата 1 250 евро и растёт на 3,5 % в год. Зал открылся 14 марта 2017 года в 9:30. "
        "В нём 48 мест, он стоил 26 миллионов долларов, адрес https://zal.primer.ru/vizit. "
        "Пишите на zal@primer.ru или звоните +7 495 123-45-67. Это 7-й зал такого рода, зона B12.",
        (
            "Плата 1250 евро.",
            "Плата 1\u00a0250,00 евро.",
            "Рост 3,50 процента.",
            "Зал открылся 14.03.2017.",
            "Зал открылся в марте 2017 г.",
            "Зал открылся в 2017 году.",
            "Зал открылся в 9.30 утра.",
            "Зал открылся в 9 ч 30 мин.",
            "Зал стоил 26 млн долларов.",
            "В зале 48 мест, это 7й зал.",
            "Звоните +7 (495) 123 45 67.",
            "Адрес zal.primer.ru.",
        ),
    ),
    NotationSentences(
        "fa",
        "هزینه ۱٬۲۵۰ یورو است و سالی ۳٫۵ درصد بالا می‌رود. تالار در ۱۴ مارس ۲۰۱۷ ساعت ۹:۳۰ باز شد. "
        "تالار ۴۸ جا دارد و ۲۶ میلیون دلار هزینه داشت. نشانی https://talar.example.ir/bazdid است. "
        "به talar@example.ir بنویسید. بخش دوم در ۱۴۰۳/۰۲/۱۲ باز شد، در منطقهٔ B12.",
        (
            "هزینه 1250 یورو است.",
            "هزینه ۱۲۵۰ یورو است.",
            "هزینه ١٬٢٥٠ یورو است.",
            "هزینه 1,250 یورو است.",
            "سالی ۳٫۵۰ درصد.",
            "تالار در 14 مارس 2017 باز شد.",
            "تالار در ۲۰۱۷/۰۳/۱۴ باز شد.",
            "تالار در مارس ۲۰۱۷ باز شد.",
            "تالار ساعت 9:30 باز شد.",
            "تالار ۲۶ میلیون دلار هزینه داشت و ۴۸ جا دارد.",
            "بخش دوم در ۱۲ اردیبهشت ۱۴۰۳ باز شد.",
            "بخش دوم در اردیبهشت ۱۴۰۳ باز شد.",
            "بخش دوم در سال ۱۴۰۳ باز شد.",
            "نشانی talar.example.ir است.",
        ),
    ),
    NotationSentences(
        "ar",
        "الرسم ١٬٢٥٠ يورو ويرتفع ٣٫٥٪ سنويا. افتتحت القاعة في ١٤ مارس ٢٠١٧ الساعة ٩:٣٠. "
        "فيها ٤٨ مقعدا وكلفت ٢٦ مليون دولار، والعنوان https://qaa.example.sa/ziyara. "
        "راسلوا qaa@example.sa أو اتصلوا على +966 11 234 5678، في المنطقة B12.",
        (
            "الرسم 1250 يورو.",
            "الرسم 1,250 يورو.",
            "الرسم ١،٢٥٠ يورو.",
            "يرتفع 3.50% سنويا.",
            "افتتحت في 14 آذار 2017.",
            "افتتحت في 14/3/2017.",
            "افتتحت في مارس 2017.",
            "افتتحت الساعة 9:30 صباحا.",
            "كلفت 26 مليون دولار وفيها 48 مقعدا.",
            "العنوان qaa.example.sa.",
            "اتصلوا على +966112345678.",
        ),
    ),
    NotationSentences(
        "hi",
        "शुल्क 1,250 यूरो है और हर साल 3.5% बढ़ता है। हॉल 14 मार्च 2017 को 9:30 बजे खुला। "
        "इसमें 48 सीटें हैं, लागत 26 लाख रुपये थी, जनसंख्या 12,34,567 है, पता https://hall.udaharan.in/yatra है। "
        "hall@udaharan.in पर लिखें या +91 11 2345 6789 पर फ़ोन करें, ज़ोन B12।",
        (
            "शुल्क १२५० यूरो है।",
            "शुल्क 1250.00 यूरो है।",
            "यह 3.50 प्रतिशत बढ़ता है।",
            "हॉल १४ मार्च २०१७ को खुला।",
            "हॉल 14/03/2017 को खुला।",
            "हॉल मार्च 2017 में खुला।",
            "हॉल 9:30 पर खुला।",
            "लागत २६ लाख रुपये थी, 48 सीटें हैं।",
            "जनसंख्या 1234567 है।",
            "पता hall.udaharan.in है।",
        ),
    ),
    NotationSentences(
        "zh",
        "费用为1,250欧元，每年上涨3.5%。大厅于2017年3月14日上午9:30开放。"
        "共有48个座位，耗资2600万美元，网址是https://dating.example.cn/canguan。"
        "请写信至dating@example.cn或致电+86 10 1234 5678，位于B12区。",
        (
            "费用为1250欧元。",
            "费用为１２５０欧元。",
            "费用为1,250.00欧元。",
            "每年上涨3.50%。",
            "大厅于2017-03-14开放。",
            "大厅于2017年3月开放。",
            "大厅于3月14日开放。",
            "大厅于2017年开放。",
            "大厅于9点30分开放。",
            "大厅于上午9点半开放。",
            "耗资2600万美元，共有48个座位。",
            "网址是dating.example.cn。",
            "请致电+861012345678。",
        ),
    ),
)
