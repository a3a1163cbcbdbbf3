"""A page is read in the charset it is written in, whatever it says."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.pages import charsets

TEXTS = {
    "gb18030": "北京时间今天上午，国家统计局公布了最新的经济数据。专家认为，今年的经济增长仍然面临不少挑战。",
    "big5": "台北市政府今天上午公布了最新的經濟數據。專家認為，今年的經濟成長仍然面臨不少挑戰。",
    "cp932": "東京都は今日、最新の経済データを発表しました。専門家は、今年の経済成長は続くと述べています。",
    "euc_jp": "東京都は今日、最新の経済データを発表しました。専門家は、今年の経済成長は続くと述べています。",
    "cp949": "서울시는 오늘 최신 경제 자료를 발표했습니다. 전문가들은 올해 경제 성장이 계속된다고 말합니다.",
    "cp1251": "Сегодня в Москве состоялось заседание правительства, на котором обсуждались вопросы экономики.",
    "koi8-r": "Сегодня в Москве состоялось заседание правительства, на котором обсуждались вопросы экономики.",
    "cp1253": "Σήμερα στην Αθήνα πραγματοποιήθηκε συνεδρίαση της κυβέρνησης για τα οικονομικά θέματα της χώρας.",
    "cp1255": "היום התקיימה ישיבת הממשלה בירושלים ובה נדונו נושאים כלכליים חשובים.",
    "cp1256": "اجتمعت الحكومة اليوم في القاهرة لمناقشة القضايا الاقتصادية في البلاد.",
    "cp1252": "Die größte Überraschung war für viele Gäste die schöne Aussicht über die Dächer – „très joli“.",
    "utf-8": "Die größte Überraschung: 今年の経済成長, всё хорошо, και τα λοιπά.",
}
LABELS = {"gb18030": "gb2312", "big5": "Big5", "cp932": "Shift_JIS", "cp949": "ks_c_5601-1987", "cp1252": "iso-8859-1"}


def page(text: str, meta: str = "", language: str = "") -> str:
    said = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
    return f'<html lang="{language}"><head>{said}<title>{text[:15]}</title></head><body><p>{text}</p></body></html>'


@pytest.mark.parametrize("codec", TEXTS)
def test_an_undeclared_charset_is_guessed(codec: str) -> None:
    body = page(TEXTS[codec] * 3).encode(codec)
    assert body.decode(charsets.find(body)) == page(TEXTS[codec] * 3)


@pytest.mark.parametrize("codec", TEXTS)
def test_a_charset_in_the_header_is_used(codec: str) -> None:
    body = page(TEXTS[codec]).encode(codec)
    assert body.decode(charsets.find(body, LABELS.get(codec, codec))) == page(TEXTS[codec])


@pytest.mark.parametrize("codec", TEXTS)
def test_a_charset_in_the_markup_is_used(codec: str) -> None:
    text = page(TEXTS[codec], LABELS.get(codec, codec))
    assert text.encode(codec).decode(charsets.find(text.encode(codec))) == text


@pytest.mark.parametrize("wrong", ["utf-8", "iso-8859-1", "ascii"])
@pytest.mark.parametrize("codec", ["gb18030", "big5", "cp932", "euc_jp", "cp949"])
def test_a_header_that_is_wrong_is_overruled_by_the_markup(codec: str, wrong: str) -> None:
    text = page(TEXTS[codec], LABELS.get(codec, codec))
    assert text.encode(codec).decode(charsets.find(text.encode(codec), wrong)) == text


@pytest.mark.parametrize("codec", ["gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1251"])
def test_a_wrong_declaration_of_utf8_is_ignored(codec: str) -> None:
    body = page(TEXTS[codec] * 3, "utf-8").encode(codec)
    assert TEXTS[codec] in body.decode(charsets.find(body, "utf-8"))


@pytest.mark.parametrize("wrong", ["iso-8859-1", "gb2312", "shift_jis", "windows-1251", "nonsense", ""])
def test_utf8_is_recognised_whatever_is_declared(wrong: str) -> None:
    body = page(TEXTS["utf-8"], wrong).encode()
    assert charsets.find(body, wrong) == "utf-8"


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_beats_every_declaration(mark: bytes, codec: str) -> None:
    body = mark + "größer".encode(codec)
    assert body.decode(charsets.find(body, "windows-1251")) == "größer"


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("gb18030", "数据库配置"),
        ("gb18030", "北京"),
        ("big5", "資料庫設定"),
        ("cp932", "検索設定"),
        ("cp932", "テスト"),
        ("euc_jp", "設定ファイル"),
        ("cp949", "데이터베이스"),
        ("cp1251", "Документация по поиску"),
        ("cp1252", "naïve façade"),
    ],
)
def test_a_few_words_are_enough(codec: str, text: str) -> None:
    assert charsets.decode(text.encode(codec)) == text


def test_a_charset_in_plain_text_is_not_a_declaration() -> None:
    text = "Write <meta charset=gb2312> for Chinese, naïve as it is."
    assert charsets.decode(text.encode()) == text
    assert charsets.find(text.encode(), markup=True) == "gb18030"


@pytest.mark.parametrize(
    ("body", "binary"),
    [
        (b"", False),
        (b"text\n\tand\x0c\x1b[31mcolours\x07", False),
        ("größer".encode("utf-16"), False),
        ("größer".encode("utf-32"), False),
        ("größer".encode("utf-16-le"), True),
        ("東京".encode("iso2022_jp"), False),
        (b"\x7fELF\0\0", True),
        (bytes(range(1, 32)) * 10, True),
    ],
)
def test_binary_data_is_recognised(body: bytes, binary: bool) -> None:
    assert charsets.is_binary(body) == binary


def test_one_stray_byte_does_not_change_the_charset() -> None:
    body = page(TEXTS["gb18030"] * 20).encode("gb18030").replace(b"</p>", b"\xff</p>")
    assert charsets.find(body, "gbk") == "gb18030"
    body = page(TEXTS["utf-8"] * 20).encode().replace(b"</p>", b"\xff</p>")
    assert charsets.find(body, "utf-8") == "utf-8"


def test_a_charset_in_seven_bits_is_used() -> None:
    body = page(TEXTS["cp932"]).encode("iso2022_jp")
    assert charsets.find(body, "iso-2022-jp") == "iso2022_jp"


@pytest.mark.parametrize(
    ("language", "codec", "text"), [("cs", "cp1250", "Příliš žluťoučký kůň"), ("tr", "cp1254", "Iğdır şu")]
)
def test_the_language_tells_western_charsets_apart(language: str, codec: str, text: str) -> None:
    body = page(text * 5, language=language).encode(codec)
    assert charsets.find(body) == codec


@pytest.mark.parametrize(
    "label", ["punycode", "unicode_escape", "hex", "zip", "rot13", "idna", "utf-7", "undefined", "a\0b", "x" * 9999]
)
def test_codecs_that_are_not_charsets_are_not_used(label: str) -> None:
    assert charsets.known(label) == ""


@given(st.binary(max_size=300), st.text(max_size=20))
def test_any_bytes_have_a_codec_that_reads_them(body: bytes, declared: str) -> None:
    body.decode(charsets.find(body, declared), "replace")
