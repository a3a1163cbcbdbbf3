"""Text from the web can neither steer a terminal nor hide; secrets cannot be read; cut text fits."""

import sys
import unicodedata
from urllib.parse import quote, quote_plus, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sleuth.base.text import MAX_CLUSTER_MARKS, MAX_INDENT, clean, fit, mask, redact, shorten, strip_controls, width
from sleuth.base.urls import ascii_url, clean_url, domain

ANYTHING = st.text(st.characters(codec=None, exclude_categories=()))
unhurried = settings(deadline=None)  # other tests run at the same time
ZALGO = "e" + "\u0301" * 50


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]8;;http://evil.test\x07click\x1b]8;;\x07", "]8;;http://evil.testclick]8;;"),
        ("\x1b]52;c;ZXZpbA==\x07", "]52;c;ZXZpbA=="),
        ("\x1b]0;title\x07", "]0;title"),
        ("\x1bP+q544e\x1b\\", "P+q544e\\"),
        ("\x9b31mred", "31mred"),
        ("\x9d0;title\x9c", "0;title"),
        ("a\x7fb", "ab"),
        ("progress\roverwritten", "progress overwritten"),
        ("back\b\b\bspace", "backspace"),
        ("a\x00b", "ab"),
        ("bell\x07", "bell"),
        ("a\tb\vc\fd\ne", "a b c d e"),
        ("next\x85line", "next line"),
        ("line\u2028separator\u2029paragraph", "line separator paragraph"),
        ("a\u00a0b\u3000c\u2003d", "a b c d"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("\u202a\u202b\u202c\u202dx", "x"),
        ("\u2066\u2067\u2068\u2069x", "x"),
        ("\u200e\u200f\u061cx", "x"),
        ("zero\u200bwidth\u2060\ufeff", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\U000e0041\U000e0042tags", "tags"),
        ("lone\ud800surrogate\udfff", "lonesurrogate"),
        ("private\ue000use\U000f0000\U0010fffd", "privateuse"),
        ("unassigned\u0378\U000e0fff", "unassigned"),
        ("not\ufffe a\uffff character", "not a character"),
        ("a\ufff9b\ufffac\ufffbd", "abcd"),
        ("   many    blanks   ", "many blanks"),
        ("pass\u200dword\u200c \u200d", "password"),
        ("می\u200c\u200d\u200cخواهم", "می\u200cخواهم"),
        ("👩🏽\u200d\u200d🚀 ❤\ufe0f\u200d🔥", "👩🏽\u200d🚀 ❤\ufe0f\u200d🔥"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("क्\u200dष", "क्\u200dष"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
        (None, ""),
        (12, "12"),
        (["a"], "['a']"),
    ],
)
def test_text_is_harmless(hostile: object, harmless: str) -> None:
    assert clean(hostile) == harmless


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("a &amp; b", "a & b"),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
        ("&lt;script&gt;", "<script>"),
        ("&#27;[31m", "[31m"),
        ("&#x1b;[31m", "[31m"),
        ("&#x202e;x", "x"),
        ("&#8238;x", "x"),
        ("&#xD800;", "\ufffd"),
        ("a&NewLine;b", "a b"),
        ("&nbsp;a&nbsp;", "a"),
        ("AT&T", "AT&T"),
    ],
)
def test_entities_are_decoded_once_and_cannot_smuggle(text: str, once: str) -> None:
    assert clean(text) == once


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("x\U000e0120\U000e0121y", "xy"),
        ("a\u3164\u115f\u1160\uffa0b", "ab"),
        ("a\u2800b\U0001d159c\u034fd\u17b4\u17b5e\u180be", "abcdee"),
        ("a\ufe0fb\ufe00c", "abc"),
        ("❤\ufe0f 1\ufe0f\u20e3", "❤\ufe0f 1\ufe0f\u20e3"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f"),
        ("葛\U000e0100城\ufe00市\U000e01ef", "葛城市"),
        ("a\ufe0f\u200db\u180b\u200dc", "abc"),
        ("か\ufe0eな\ufe0f 1\ufe0f2\ufe0e", "かな 12"),
        ("\u1820\u180b", "\u1820\u180b"),
        ("\U000e0049\U000e0047", ""),
    ],
)
def test_invisible_characters_are_removed(hidden: str, shown: str) -> None:
    assert clean(hidden) == strip_controls(hidden) == shown


def test_entities_stay_when_text_is_not_html() -> None:
    assert clean("&lt;b&gt; &amp;", entities=False) == "&lt;b&gt; &amp;"


@pytest.mark.parametrize(
    "stacked",
    [ZALGO, "e" + "\u0301\u200d" * 50, "e" + "\u0489" * 50, "क" + "\u094d\u200d" * 50],
    ids=["marks", "marks and joiners", "enclosing", "viramas and joiners"],
)
def test_stacks_are_capped(stacked: str) -> None:
    assert len(clean(stacked)) == 5


@pytest.mark.parametrize("mark", ["\u093e", "\U0001f3fb", "\u093e\u0901", "\U0001f3fb\u200d"])
def test_spacing_marks_and_skin_tones_are_capped(mark: str) -> None:
    assert clean("क" + mark * 50) == ("क" + mark * 50)[: 1 + MAX_CLUSTER_MARKS]


SYLLABLES = """
लड़कियाँ क्षत्रिय र्‍य தமிழ் கொள்ளை ലേഖനങ്ങൾ ශ්‍රී ලංකාව ស្ត្រី ញ៉ាំ น้ำ
བསྒྲུབས လျှော့ မြွှေ့ ကျွန်ုပ် ᨠᩖᩮᩬᩥ᩵ᨶ 👩🏽‍❤️‍💋‍👨🏿 👍🏾 🏻🏼🏽🏾🏿
"""


@pytest.mark.parametrize("text", SYLLABLES.split())
def test_clusters_of_marks_stay_whole(text: str) -> None:
    assert clean(text) == text


def test_marks_that_languages_need_stay() -> None:
    for word in ("Tiếng Việt".encode().decode(), "שָׁלוֹם", "สวัสดีที่", "ภูมิใจ", "ẹ̀kọ́"):
        assert clean(word) == word
        decomposed = unicodedata.normalize("NFD", word)
        assert clean(decomposed) == decomposed


def test_lines_stay_when_they_are_wanted() -> None:
    assert clean("\n\na \r\n\x1b b\u2028c\n\n\x07", lines=True) == "a\nb\nc"
    assert clean("if a:\n\tif  b:\n        c\x07", lines=True) == "if a:\n    if b:\n        c"
    assert clean("  \n" + " " * 500 + "a", lines=True) == " " * MAX_INDENT + "a"
    assert clean("a\n\nb", lines=True) == "a\n\nb"
    assert clean("a\rb", lines=True) == "a\nb"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("plain ascii", "plain ascii"),
        ("  indented\n\n\tcode\r\nend", "  indented\n\n\tcode\nend"),
        ("\x1b[31mred\x07\x9b2J\u202e\x00", "[31mred2J"),
        ("a\rb\u2028c\x0bd", "a b c d"),
        ("全角\u3000空格\xa0x", "全角\u3000空格\xa0x"),
        (ZALGO, "e" + "\u0301" * 4),
    ],
)
def test_text_of_many_lines_keeps_their_shape_and_nothing_else(hostile: str, shown: str) -> None:
    assert strip_controls(hostile) == shown


@unhurried
@given(ANYTHING)
def test_text_of_many_lines_is_printable_and_stays_as_it_is(text: str) -> None:
    safe = strip_controls(text)
    assert all(sign.isprintable() or sign in "\n\t\u200c\u200d" or unicodedata.category(sign) == "Zs" for sign in safe)
    assert strip_controls(safe) == safe


def test_limit_is_kept_with_a_sign_of_what_is_gone() -> None:
    assert clean("one two three", 8) == "one two…"
    assert clean("x" * 50, 10) == "xxxxxxxxx…"
    assert clean("short", 10) == "short"


def test_endless_text_costs_little_when_there_is_a_limit() -> None:
    assert len(clean("&amp;" * 2_000_000, 100)) == 100
    assert clean(" " * 2_000_000 + "x", 100) == ""


@unhurried
@given(ANYTHING, st.integers(0, 60), st.booleans(), st.booleans())
@example("&amp;#27;", 0, False, True)
@example("a\u0301 \u0301\u0301\u0301\u0301", 0, True, False)
def test_text_is_printable_short_enough_and_stays_as_it_is(text: str, limit: int, lines: bool, entities: bool) -> None:
    once = clean(text, limit, lines=lines, entities=entities)
    allowed = "\u200c\u200d\n" if lines else "\u200c\u200d"
    assert all(character.isprintable() or character in allowed for character in once)
    assert len(once) <= (limit or sys.maxsize)
    assert clean(once, limit, lines=lines, entities=False) == once
    once.encode()  # fails where a lone surrogate is left


@unhurried
@given(ANYTHING)
def test_printable_ascii_words_come_through(text: str) -> None:
    words = [word for word in text.split() if word.isascii() and word.isprintable()]
    assert clean(" ".join(words), entities=False) == " ".join(words)


# Addresses


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
        ("HTTPS://Example.com/", "HTTPS://Example.com/"),
        ("  https://example.com/  ", "https://example.com/"),
        ("https://example.com/a b", "https://example.com/a%20b"),
        ("https://example.com/a\nb", "https://example.com/a%20b"),
        ('https://example.com/"><script>', "https://example.com/%22%3E%3Cscript%3E"),
        ("https://example.com/a\\b", "https://example.com/a%5Cb"),
        ("https://example.com/\u202egnp", "https://example.com/gnp"),
        ("https://exam\u200bple.com/", "https://example.com/"),
        ("https://example.com/می\u200cخ\u200c\u200d", "https://example.com/می%E2%80%8Cخ%E2%80%8C"),
        ("https://example.com/\x1b]8;;", "https://example.com/]8;;"),
        ("https://example.com/\ud800", "https://example.com/"),
        ("https://münchen.example/straße", "https://münchen.example/straße"),
        ("https://例え.テスト/", "https://例え.テスト/"),
        ("https://пример.рф/", "https://пример.рф/"),
        ("https://نامه\u200cای.com/a", "https://xn--mgba3gch31f060k.com/a"),
        ("https://ශ\u0dca\u200dරී.ලංකා/", "https://xn--10cl1a0b660p.ලංකා/"),
        ("https://evil.example\t/x", ""),
        ("https://\u0430pple.com/", "https://xn--pple-43d.com/"),  # the first letter is Cyrillic
        ("https://WWW.\u0410PPLE.com:8080/A", "https://www.xn--pple-43d.com:8080/A"),
        ("https://paypa\u0142.com/", "https://xn--paypa-o7a.com/"),
        ("https://ｇoogle.com/", "https://google.com/"),
        ("https://google\u3002com.evil.test/", "https://google.com.evil.test/"),
        ("https://good.test\u2044.evil.test/", "https://good.xn--test-3g7a.evil.test/"),
        ("https://me@\u0430pple.com/", "https://xn--pple-43d.com/"),
        ("https://\u00a8.test/", ""),
        ("https://example.com/e" + "\u0301" * 6, "https://example.com/e" + "\u0301" * 4 + "%CC%81" * 2),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("https://google.com@evil.test/", "https://evil.test/"),
        ("https://me:secret@evil.test:8080/me@x", "https://evil.test:8080/me@x"),
        ("https://good.test\\@evil.test/", "https://evil.test/"),
        ("javascript:alert(1)", ""),
        ("JaVaScRiPt:alert(1)", ""),
        ("java\nscript:alert(1)", ""),
        ("javascript://example.com/%0aalert(1)", ""),
        ("data:text/html,<script>", ""),
        ("vbscript:x", ""),
        ("file:///etc/passwd", ""),
        ("ftp://example.com/", ""),
        ("mailto:a@b.test", ""),
        ("//example.com/", ""),
        ("/relative", ""),
        ("example.com", ""),
        ("http://", ""),
        ("http:///path", ""),
        ("http:example.com", ""),
        ("http://@/", ""),
        ("http://[::1", ""),
        ("http://ex\u2100mple.com/", ""),
        ("https://example.com/" + "a" * 100_000, ""),
        ("https://example.com/" + "<" * 2000, ""),
        ("", ""),
        (None, ""),
        (12, ""),
        ({}, ""),
    ],
)
def test_address_is_fit_to_be_clicked_or_nothing(url: object, shown: str) -> None:
    assert clean_url(url) == shown
    assert clean_url(shown) == shown


def test_address_of_a_file_is_shown_only_where_files_are_meant() -> None:
    assert clean_url("file:///home/me/a b.md", ("http", "https", "file")) == "file:///home/me/a%20b.md"
    assert clean_url("https://example.com/", ("file",)) == ""


def test_url_up_to_4000_characters_is_accepted() -> None:
    longest = "https://example.com/".ljust(4000, "a")
    assert clean_url(longest) == longest
    assert clean_url(longest + "a") == ""


@unhurried
@given(st.one_of(ANYTHING, ANYTHING.map("https://example.com/{}".format), ANYTHING.map("http://{}/".format)))
def test_address_leads_to_the_web_in_visible_characters_or_nowhere(url: str) -> None:
    shown = clean_url(url)
    assert shown.isprintable()
    assert not set(' <>"\\') & set(shown)
    assert clean_url(shown) == shown
    if shown:
        parts = urlsplit(shown)
        assert parts.scheme.lower() in ("http", "https")
        assert parts.hostname
        assert parts.username is None


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://example.com/a%20b?c=d&e#f", "https://example.com/a%20b?c=d&e#f"),
        ("https://example.com/straße", "https://example.com/stra%C3%9Fe"),
        ("https://example.com/%C3%9F/ß", "https://example.com/%C3%9F/%C3%9F"),
        ("https://example.com/\ud800", "https://example.com/%ED%A0%80"),
    ],
)
def test_address_in_ascii_keeps_what_is_encoded_already(url: str, written: str) -> None:
    assert ascii_url(url) == written


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.example.com/x", "example.com"),
        ("https://WWW.Example.com:8080/", "example.com"),
        ("http://me@example.com/", "example.com"),
        ("http://[::1]/", "::1"),
        ("http://[::1", ""),
        ("nothing", ""),
    ],
)
def test_domain_is_the_host_without_www(url: str, host: str) -> None:
    assert domain(url) == host


# Cutting and measuring


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 11, "one two…"),
        ("one two, three", 10, "one two…"),
        ("oneverylongword", 6, "oneve…"),
        ("a verylongwordthatgoeson", 20, "a verylongwordthatg…"),
        ("这是一个很长的中文句子，没有空格", 8, "这是一个很长的…"),
        ("中文句子，", 4, "中文句…"),
        ("中文。。。。更多", 5, "中文…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("abc", -5, ""),
        ("", 0, ""),
    ],
)
def test_text_is_cut_at_a_word(text: str, limit: int, cut: str) -> None:
    assert shorten(text, limit) == cut


@unhurried
@given(ANYTHING, st.integers(-2, 40))
def test_cut_text_is_never_longer_than_the_limit(text: str, limit: int) -> None:
    cut = shorten(text, limit)
    assert len(cut) <= max(limit, 0)
    assert cut == text or text.startswith(cut[:-1])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("abc", 3),
        ("中文", 4),
        ("ＡＢ", 4),
        ("한글", 4),
        ("é", 1),
        ("e\u0301", 1),
        (ZALGO, 1),
        ("a\u200db", 2),
        ("😀", 2),
        ("ｱ", 1),
        ("—…", 2),
    ],
)
def test_width_is_counted_in_columns(text: str, columns: int) -> None:
    assert width(text) == columns


@unhurried
@given(st.text(), st.integers(-2, 12))
@example("中文中文", 5)
def test_text_is_cut_to_columns_only_where_it_is_wider(text: str, columns: int) -> None:
    cut = fit(text, columns)
    assert width(cut) <= max(columns, 0)
    assert text.startswith(cut.removesuffix("…"))
    assert cut == text or width(text) > columns


# Secrets


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        (None, None),
        ("", None),
        ("a", "…"),
        ("elevenchars", "…"),
        ("twelve-chars", "twel…rs"),
        ("tvly-0123456789abcdef9f", "tvly…9f"),
    ],
)
def test_secret_is_masked(secret: str | None, shown: str | None) -> None:
    assert mask(secret) == shown


@unhurried
@given(st.text(min_size=1, max_size=80))
def test_mask_shows_six_characters_of_a_long_secret_and_none_of_a_short_one(secret: str) -> None:
    shown = mask(secret)
    assert shown is not None
    assert len(shown) <= 7
    assert len(secret) >= 12 or shown == "…"


@pytest.mark.parametrize(
    ("text", "secrets", "safe"),
    [
        ("key=abcd1234", ["abcd1234"], "key=[hidden]"),
        ("abcd1234abcd1234", ["abcd1234"], "[hidden][hidden]"),
        ("q=a%2Fb%20c%26d", ["a/b c&d"], "q=[hidden]"),
        ("q=a%2fb%20c%26d", ["a/b c&d"], "q=[hidden]"),
        ("q=a/b%20c%26d", ["a/b c&d"], "q=[hidden]"),
        ("q=a%2Fb+c%26d", ["a/b c&d"], "q=[hidden]"),
        (f"key {'it' + chr(39) + 's' + chr(10) + 'x'!r}", ["it's\nx"], 'key "[hidden]"'),
        ("xy abcdef", ["abcd", "abcdef"], "xy [hidden]"),
        ("abcdefgh", ["abcdef", "cdefgh"], "[hidden]"),
        ("aaaaaaa", ["aaaa"], "[hidden]"),
        ("the cat sat", ["cat", ""], "the cat sat"),
        ("bad \udcff key\udcff", ["key\udcff"], "bad \udcff [hidden]"),
        ("nothing to hide", [], "nothing to hide"),
        ("key c2stPz8/cXVpdGU+Pg==", ["sk-???quite>>"], "key [hidden]g=="),
        ("key c2stPz8_cXVpdGU-Pj4", ["sk-???quite>>>"], "key [hidden]4"),
        ("Digest bWU6c2VjcmV0LWtleQ==", ["secret-key"], "Digest bWU6[hidden]Q=="),
        ("Digest OnNlY3JldC1rZXk=", ["secret-key"], "Digest On[hidden]k="),
        ("YWJjZA==", ["abcd"], "YWJjZA=="),
        ("host secret-key1.example", ["Secret-Key1"], "host [hidden].example"),
        ("SECRET%2DKEY1", ["secret-key1"], "[hidden]"),
        ("Admin", ["admin"], "Admin"),
        ("İİ Secret-Key1", ["secret-key1"], "İİ [hidden]"),
        ("ΑΣ ΚΛΕΙΔΙ1ΑΣ", ["ΚΛΕΙΔΙ1ΑΣ"], "ΑΣ [hidden]"),
        ("sec\u200bret-key1 and secret-key1\u200b!", ["secret-key1"], "[hidden] and [hidden]\u200b!"),
        ("sec%72et&#45;key1", ["secret-key1"], "[hidden]"),
        ("sec%\u200b72et-key1 sec&shy;ret-key1", ["secret-key1"], "[hidden] [hidden]"),
        (r'{"a": "secret-key1\", \"secret\\-key1"}', ["secret-key1"], r'{"a": "[hidden]\", \"[hidden]"}'),
    ],
)
def test_secrets_are_hidden_however_they_are_written(text: str, secrets: list[str], safe: str) -> None:
    assert redact(text, secrets) == safe


SECRETS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="[hiden]"), min_size=4, max_size=12), min_size=1, max_size=4
)


@unhurried
@given(SECRETS, st.lists(st.text(max_size=5), min_size=4, max_size=4), st.randoms())
def test_no_secret_survives(secrets: list[str], between: list[str], random: object) -> None:
    forms = [form for secret in secrets for form in (secret, quote(secret), quote(secret, safe=""), quote_plus(secret))]
    pieces = [*forms, *between]
    random.shuffle(pieces)  # type: ignore[attr-defined]
    safe = redact("".join(pieces), secrets)
    assert not any(form in safe for form in forms)


@unhurried
@given(st.text(max_size=40), SECRETS)
def test_short_texts_are_not_secrets(text: str, secrets: list[str]) -> None:
    safe = redact(text, secrets)
    assert safe == text or "[hidden]" in safe


@given(st.text(st.sampled_from("ab ☀漢\u2800\ufe0e\ufe0f\u200c\u200d\u3164\U000e0101क"), max_size=20))
@example("t\u2800\ufe0e\u2800\ufe0f")
def test_nothing_invisible_is_left_for_a_second_pass(text: str) -> None:
    once = clean(text, entities=False)
    assert clean(once, entities=False) == once
