"""Words of no language: endings of host names and international units."""

_HOSTS = """
com org net info biz edu gov mil int name pro app dev io ai xyz online site store shop tech blog cloud
club website space live news world today agency digital academy email group team work works life media
studio design network systems solutions services support center company global international education
school university health care clinic bank finance money insurance legal law community foundation ngo
museum travel hotel restaurant cafe bar art gallery photo photos video film music radio tv fm game games
sport fit fun eco green energy house homes land city berlin paris london madrid barcelona wien hamburg
koeln moscow quebec cat gal eus bzh africa asia lat link click top vip win bid icu cyou zip mov page one
run new how foo wiki social chat events jobs careers press report review reviews guide help page tools
software codes engineering science ventures capital consulting marketing directory market exchange trade
express delivery security
ac ad ae af ag al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca
cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fo
fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in iq ir is it je
jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn
mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr
ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg
th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
рф рус дети москва ایران مصر السعودية امارات المغرب شبكة موقع भारत 中国 中國 公司 网络 香港 台灣 新加坡
"""
HOST_ENDINGS = frozenset(_HOSTS.split())
"""What a bare host may end in: common generic domains, countries, some in other scripts.

An unknown ending makes no host: a forgotten space (`over.The`) is not an address.
"""

_UNITS = """
km m cm mm nm dm ha kg g mg t lb lbs oz ft in yd mi mph kmh kph l ml cl dl hl s ms h hr hrs min sec d w kw
mw gw kwh mwh gwh twh wh v kv mv a ma mah hz khz mhz ghz kb mb gb tb pb kib mib gib kbit mbit gbit bit
kbps mbps gbps bps fps dpi ppi px pt em rem ppm ppb mol pa hpa kpa mpa bar j kj mj cal kcal nm db c f usd
eur gbp chf rub inr brl cny rmb jpy irr sar aed mxn rs pp bp
"""
UNITS = frozenset(_UNITS.split())
"""Latin letters that may be glued to digits and leave them a number, in any language."""
