"""Messages in the user's language. English is the source; other languages are dictionaries keyed by it."""

import re
from collections.abc import Mapping

RETOLD = ("accepted", "detail", "reason", "usage")  # values that are texts themselves, of code that knows no languages
_catalogue: dict[str, str] = {}
_details: dict[str, str] = {}


def set_language(setting: str, environ: Mapping[str, str]) -> str:
    """Pick the language of messages from the setting or the locale, load its dictionary, and return its name."""
    wanted = setting
    if setting == "auto":
        wanted = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "en")
    language = "zh-CN" if wanted.lower().replace("_", "-").startswith("zh") else "en"
    if bool(_catalogue) == (language != "en"):  # it is spoken already: nothing is emptied under another thread
        return language
    _catalogue.clear()
    _details.clear()
    if language == "zh-CN":
        from sleuth.base.i18n.catalogues.zh_cn import DETAILS, MESSAGES

        _catalogue.update(DETAILS | MESSAGES)
        _details.update(DETAILS)
    return language


def tr(template: str, /, **values: object) -> str:
    """Return a message in the chosen language with its values filled in."""
    text = _catalogue.get(template, template)
    told = {name: tr_detail(str(values[name])) for name in RETOLD if name in values} if _details else {}
    return text.format_map(_Lenient(values | told)) if values else text


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """Return the singular or plural message for a count, with {count} filled in."""
    template = singular if count == 1 or singular in _catalogue else plural
    return tr(template, count=count, **values)


def tr_detail(text: str) -> str:
    """Return what an adapter, a parser or the system said in English in the chosen language, if it is known there."""
    if text in _details:
        return _details[text]
    for template, translated in _details.items():
        if "{" in template and (found := re.fullmatch(_pattern(template), text, re.DOTALL)):
            return translated.format_map(found.groupdict())
    return text


def _pattern(template: str) -> str:
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template))


class _Lenient(dict[str, object]):
    """Leaves a place nobody filled as it is, so that a message never fails."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
