"""Languages as library catalogues write them: three letters (ISO 639-2/B) and an English name."""

from sleuth_providers.base import Query

LANGUAGES = {
    "ar": ("ara", "Arabic"),
    "bg": ("bul", "Bulgarian"),
    "cs": ("cze", "Czech"),
    "da": ("dan", "Danish"),
    "de": ("ger", "German"),
    "el": ("gre", "Greek"),
    "en": ("eng", "English"),
    "es": ("spa", "Spanish"),
    "fa": ("per", "Persian"),
    "fi": ("fin", "Finnish"),
    "fr": ("fre", "French"),
    "he": ("heb", "Hebrew"),
    "hi": ("hin", "Hindi"),
    "hu": ("hun", "Hungarian"),
    "id": ("ind", "Indonesian"),
    "it": ("ita", "Italian"),
    "ja": ("jpn", "Japanese"),
    "ko": ("kor", "Korean"),
    "nl": ("dut", "Dutch"),
    "no": ("nor", "Norwegian"),
    "pl": ("pol", "Polish"),
    "pt": ("por", "Portuguese"),
    "ro": ("rum", "Romanian"),
    "ru": ("rus", "Russian"),
    "sv": ("swe", "Swedish"),
    "tr": ("tur", "Turkish"),
    "uk": ("ukr", "Ukrainian"),
    "vi": ("vie", "Vietnamese"),
    "zh": ("chi", "Chinese"),
}


def language_code(query: Query) -> str:
    """Return the language of a query in three letters, empty for none or an unknown one."""
    return LANGUAGES.get(_primary(query), ("", ""))[0]


def language_name(query: Query) -> str:
    """Return the English name of the language of a query, empty for none or an unknown one."""
    return LANGUAGES.get(_primary(query), ("", ""))[1]


def unknown_language(query: Query) -> tuple[str, ...]:
    """Return what `Found.not_applied` reports for a language that is not in the table."""
    return ("lang",) if query.lang and not language_code(query) else ()


def _primary(query: Query) -> str:
    return query.lang.split("-")[0].lower()
