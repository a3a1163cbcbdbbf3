"""Messages in the user's language. English is the source, `locale/` has gettext catalogues of the others."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from gettext import GNUTranslations

LOCALE_FOLDER = os.path.join(os.path.dirname(__file__), "locale")
# Values that are sentences themselves, written by code that cannot import this module.
TRANSLATED_VALUES = ("accepted", "detail", "reason", "usage")
DETAIL_PREFIX = "detail\x04"  # how gettext stores an entry with the context "detail"

_catalogue: "GNUTranslations | None" = None  # None: English
_details: dict[str, str] = {}


def choose_language(setting: str, environ: "Mapping[str, str]") -> str:
    """Return the language that the setting names or, for `auto`, the locale."""
    if setting == "auto":
        setting = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "en")
    return "zh-CN" if setting.lower().startswith("zh") else "en"


def set_language(setting: str, environ: "Mapping[str, str]") -> str:
    """Choose the language of messages and return its name."""
    global _catalogue
    language = choose_language(setting, environ)
    if (_catalogue is not None) == (language != "en"):  # unchanged: other threads may be using it
        return language
    _catalogue = _load(language) if language != "en" else None
    _details.clear()
    if _catalogue is not None:
        # gettext has no public way to list entries, and details are matched against all of them.
        entries: dict[str, str] = getattr(_catalogue, "_catalog", {})
        known = [key.removeprefix(DETAIL_PREFIX) for key in entries if str(key).startswith(DETAIL_PREFIX)]
        # The longest first: "{value} is not an integer" before the bare "{reason}".
        _details.update((key, entries[DETAIL_PREFIX + key]) for key in sorted(known, key=len, reverse=True))
    return language


def tr(template: str, /, **values: object) -> str:
    """Return a message in the chosen language with its values filled in."""
    return _fill(_catalogue.gettext(template) if _catalogue and template else template, values)


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """Return the singular or plural message for a count, with {count} and other values filled in."""
    english = singular if count == 1 else plural
    return _fill(_catalogue.ngettext(singular, plural, count) if _catalogue else english, {"count": count, **values})


def tr_detail(text: str) -> str:
    """Return an English sentence written by an adapter, a parser or the system in the chosen language, if known."""
    if not _details or text in _details:
        return _details.get(text, text)
    import re  # here, because the fast path does without it

    for template, translated in _details.items():
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template))
        if "{" in template and (found := re.fullmatch(pattern, text, re.DOTALL)):
            return translated.format_map(found.groupdict())
    return text


def _load(language: str) -> "GNUTranslations | None":
    from gettext import GNUTranslations

    path = os.path.join(LOCALE_FOLDER, language.replace("-", "_"), "LC_MESSAGES", "sleuth.mo")
    try:
        with open(path, "rb") as stream:
            return GNUTranslations(stream)
    except (OSError, UnicodeDecodeError):  # not compiled, or damaged: English is better than an error
        return None


def _fill(template: str, values: "Mapping[str, object]") -> str:
    if not values:
        return template
    details = {name: tr_detail(str(values[name])) for name in TRANSLATED_VALUES if name in values} if _details else {}
    return template.format_map(_Lenient({**values, **details}))


class _Lenient(dict[str, object]):
    """Leaves a placeholder without a value as it is, so that formatting a message never fails."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
