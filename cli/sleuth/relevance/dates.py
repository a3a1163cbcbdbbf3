"""Parses dates and ages in the forms that providers use, and the windows of --freshness."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from sleuth_providers.translatable import Translatable

FIRST_YEAR = 1990  # an older date on the web is usually a zero timestamp
DAYS_AHEAD = 1  # pages are published in the past, but clocks and time zones differ
MAX_DATE_CHARS = 200

FRESHNESS_WINDOWS = {"day": (1, "day"), "week": (7, "day"), "month": (1, "month"), "year": (12, "month")}

# In lower case, without accents: English, German, French, Spanish, Italian, Portuguese, Chinese, Japanese.
MONTHS = (
    "jan january januar janvier janv ene enero gen gennaio janeiro",
    "feb february februar fevrier fevr fev febrero febbraio fevereiro",
    "mar march mrz marz maerz mars marzo marco",
    "apr april avril avr abr abril aprile",
    "may mai mayo mag maggio maio",
    "jun june juni juin junio giu giugno junho",
    "jul july juli juillet juil julio lug luglio julho",
    "aug august aout ago agosto",
    "sep sept september septembre septiembre set settembre setembro",
    "oct october okt oktober octobre octubre ott ottobre out outubro",
    "nov november novembre noviembre novembro",
    "dec december dez dezember decembre dic diciembre dicembre dezembro",
)
UNITS = (
    (1, "second", "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondi 秒"),
    (60, "second", "m min mins minute minutes minuten minuto minutos minuti 分"),
    (3600, "second", "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore"),
    (3600, "second", "小时 小時 个小时 個小時 時間"),
    (1, "day", "d day days tag tage tagen jour jours dia dias giorno giorni 天 日"),
    (7, "day", "w wk wks week weeks woche wochen semaine semaines semana semanas settimana settimane"),
    (7, "day", "周 週 星期 个星期 個星期"),
    (1, "month", "mo mos month months monat monate monaten mois mes meses mese mesi"),
    (1, "month", "个月 個月 か月 ヶ月 カ月 ケ月 ヵ月"),
    (12, "month", "y yr yrs year years jahr jahre jahren an ans annee annees ano anos anno anni 年"),
)
NUMBERS = (
    "this",  # larger numbers are written in digits
    "a an one last past ein eine einem einer un une una uno um uma 一",
    "two couple zwei deux dos due dois 二 两 兩",
    "three few several drei trois tres tre 三 几 幾 数",
)
NAMED = (
    (0, "day", "now today heute aujourd'hui hoy oggi hoje 今天 今日 刚刚 剛剛 刚才 剛才 たった今"),
    (1, "day", "yesterday gestern hier ayer ieri ontem 昨天 昨日"),
    (2, "day", "vorgestern avant-hier anteayer 前天 一昨日"),
    (7, "day", "上周 上週 上星期 上个星期 上個星期 先週"),
    (1, "month", "上月 上个月 上個月 先月"),
    (12, "month", "去年 昨年"),
)
MONTH_NUMBERS = {name: number for number, names in enumerate(MONTHS, 1) for name in names.split()}
UNIT_SIZES = {name: (size, kind) for size, kind, names in UNITS for name in names.split()}
NUMBER_VALUES: dict[str, float] = {name: value for value, names in enumerate(NUMBERS) for name in names.split()}
NAMED_AGES = {name: (size, kind) for size, kind, names in NAMED for name in names.split()}

ACCENTS = str.maketrans("äáàâãéèêëíîïóôöõúùûüçñ’", "aaaaaeeeeiiioooouuuucn'")
PREFIX = r"^(?:(?:vor|il y a|hace|ha|just|about|over|almost|less than|etwa|ungefahr|environ)\s+)+"
LEAD = r"^\D*(?=\d+\s*[^\W\d]+\s*(?:ago|前))"
AMOUNT = r"(?:a (?=few|couple))?(\d{1,4}|[a-z]+|[半一二两兩三几幾数])\+?(?: of)?\s*([a-z]*)"
MONTH = r"(?P<name>[a-z]{3,10})\.?"
YEAR = r"(?P<year>\d{4})(?!\d)"
URL_DATE = r"/(\d{4})([-/]?)(\d\d)\2(\d\d)(?=[/._-]|$)"
FORMS = (  # most common first: later patterns are compiled only if needed
    r"(?<!\d)(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?!\d)",
    r"(?<!\d)(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:t?\d{4,6})?(?!\d)",
    r"(?:(?P<year>\d{4})\s*年\s*)?(?<!\d)(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号號]",
    rf"(?<![\d/])(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/{YEAR}",
    rf"(?<![\d/])(?P<day>1[3-9]|2\d|3[01])/(?P<month>\d{{1,2}})/{YEAR}",
    rf"(?<![\d.-])(?P<day>\d{{1,2}})([.-])(?P<month>\d{{1,2}})\2{YEAR}",
    rf"(?<!\d)(?P<year>\d{{4}})[ -]{MONTH}[ -](?P<day>\d{{1,2}})(?!\d)",
    rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[ -]+(?:of |de )?{MONTH}(?:,?[ -]+(?:del? )?{YEAR})?",
    rf"{MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+{YEAR})?",
)


def normalise(text: str, now: datetime) -> str:
    """Return a provider's date or age as an ISO date, or nothing if it is not one."""
    plain = unicodedata.normalize("NFKC", text[:MAX_DATE_CHARS]).strip().lower().translate(ACCENTS)
    found = _from_timestamp(plain) or next(_written_dates(plain, now.date()), None) or _from_age(plain, now)
    return found.isoformat() if found and _is_plausible(found, now.date()) else ""


def from_url(url: str, now: datetime) -> str:
    """Return the day in the path of a URL, such as /2026/01/31/, as an ISO date, or nothing."""
    for found in re.finditer(URL_DATE, url):
        day = _day(int(found[1]), int(found[3]), int(found[4]))
        if day and _is_plausible(day, now.date()):
            return day.isoformat()
    return ""


def freshness_window(value: str, today: date) -> tuple[str, str, str]:
    """Return the kind, first day and last day of `day`, `week`, `month`, `year` or FROM..TO in ISO dates."""
    name = value.strip().lower()
    if name in FRESHNESS_WINDOWS:
        since = _before(datetime(today.year, today.month, today.day), *FRESHNESS_WINDOWS[name])
        return name, since.isoformat() if since else "", ""
    first, dots, last = name.partition("..")
    if not dots or not (first or last):
        raise ValueError(
            Translatable(
                "{value!r} is not day, week, month, year or a range such as 2026-01-01..2026-06-30", value=value
            )
        )
    since, until = _iso(first), _iso(last)
    if since and until and since > until:
        raise ValueError(Translatable("it ends before it starts"))
    return "range", since.isoformat() if since else "", until.isoformat() if until else ""


def _iso(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if text.strip() else None
    except ValueError:
        raise ValueError(Translatable("{value!r} is not a date such as 2026-01-31", value=text.strip())) from None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _is_plausible(day: date, today: date) -> bool:
    return day.year >= FIRST_YEAR and day <= today + timedelta(days=DAYS_AHEAD)


def _from_timestamp(text: str) -> date | None:
    """Parse seconds or milliseconds since 1970."""
    found = re.fullmatch(r"(\d{9,10})(\d{3})?(?:\.\d*)?", text)
    return datetime.fromtimestamp(int(found[1]), UTC).date() if found else None


def _written_dates(text: str, today: date) -> Iterator[date]:
    for form in FORMS:
        for found in re.finditer(form, text):
            part = found.groupdict()
            month = MONTH_NUMBERS.get(part["name"], 0) if "name" in part else int(part["month"])
            day = int(part["day"])
            if result := _day(int(part["year"]), month, day) if part["year"] else _most_recent(month, day, today):
                yield result


def _most_recent(month: int, day: int, today: date) -> date | None:
    candidate = _day(today.year, month, day)
    return candidate if candidate and _is_plausible(candidate, today) else _day(today.year - 1, month, day)


def _from_age(text: str, now: datetime) -> date | None:
    amount = re.sub(LEAD, "", re.sub(PREFIX, "", text))
    first = re.match(r"[a-z]+(?:['-][a-z]+)*", amount)
    for name, age in NAMED_AGES.items():
        if name == first[0] if first else amount.startswith(name):
            return _before(now, *age)
    found = re.match(AMOUNT, amount)
    if found is None:
        return None
    rest = amount[found.end() :]
    unit = found[2] or max((name for name in UNIT_SIZES if rest.startswith(name)), key=len, default="")
    marked = amount != text or re.search(r"\b(?:ago|fa|atras)\b|前", rest)
    if unit not in UNIT_SIZES or not (marked or (unit.isascii() and not rest.strip(" ."))):
        return None
    size, kind = UNIT_SIZES[unit]
    number = float(found[1]) if found[1].isdigit() else 0.5 if found[1] == "半" else NUMBER_VALUES.get(found[1])
    return None if number is None else _before(now, number * size, kind)


def _before(now: datetime, amount: float, kind: str) -> date | None:
    try:
        if kind != "month":
            return (now - timedelta(**{f"{kind}s": amount})).date()
        year, month = divmod(now.year * 12 + now.month - 1 - int(amount), 12)
        last = date(year + month // 11, (month + 1) % 12 + 1, 1) - timedelta(days=1)
        day = last.replace(day=min(now.day, last.day))
        return day - timedelta(days=round(30 * (amount % 1)))  # half a month
    except (ValueError, OverflowError):
        return None
