"""Messages in the user's language. English is the source, `locale/` has gettext catalogues of the others."""

import os

from sleuth_providers.translatable import Translatable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from gettext import GNUTranslations

CJK = "\u2e80"  # the first character of Chinese, Japanese and Korean
LOCALE_FOLDER = os.path.join(os.path.dirname(__file__), "locale")

_catalogue: "GNUTranslations | None" = None  # None: English


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
    return language


def tr(template: str, /, **values: object) -> str:
    """Return a message in the chosen language with its values filled in."""
    if isinstance(template, Translatable):
        return tr(template.template, **template.values)
    return _fill(_catalogue.gettext(template) if _catalogue and template else template, values)


def trn(singular: str, plural: str, count: int, /, **values: object) -> str:
    """Return the singular or plural message for a count, with {count} and other values filled in."""
    english = singular if count == 1 else plural
    return _fill(_catalogue.ngettext(singular, plural, count) if _catalogue else english, {"count": count, **values})


def _load(language: str) -> "GNUTranslations | None":
    from gettext import GNUTranslations

    path = os.path.join(LOCALE_FOLDER, language.replace("-", "_"), "LC_MESSAGES", "sleuth.mo")
    try:
        with open(path, "rb") as stream:
            return GNUTranslations(stream)
    except Exception:  # not compiled, or damaged, which raises struct.error too: English is better than an error
        return None


def _fill(template: str, values: "Mapping[str, object]") -> str:
    if not values:
        return template
    if _catalogue:
        values = {name: _translated(name, value) for name, value in values.items()}
        template = _closed_up(template, values)
    return template.format_map(_Lenient(values))


def _closed_up(template: str, values: "Mapping[str, object]") -> str:
    """Remove the spaces around a placeholder, which are for Latin text, where a Chinese value meets Chinese text."""
    for name, value in values.items():
        before, placeholder, after = template.partition(f"{{{name}}}")
        if before[-2:-1] >= CJK and str(value)[:1] >= CJK:
            before = before.removesuffix(" ")
        if after[1:2] >= CJK and str(value)[-1:] >= CJK:
            after = after.removeprefix(" ")
        template = before + placeholder + after
    return template


def _translated(name: str, value: object) -> object:
    if isinstance(value, Translatable):
        return tr(value)
    return tr(str(value)) if name == "reason" else value  # a reason is often a text of the operating system


class _Lenient(dict[str, object]):
    """Leaves a placeholder without a value as it is, so that formatting a message never fails."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
