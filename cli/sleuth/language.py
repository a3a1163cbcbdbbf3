"""Messages in the user's language. English is the source; other languages are dictionaries keyed by it."""

from collections.abc import Mapping

_catalogue: dict[str, str] = {}


def choose(setting: str, environ: Mapping[str, str]) -> str:
    """Pick the language of messages from the setting or the locale, load its dictionary, and return its name."""
    wanted = setting
    if setting == "auto":
        wanted = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "en")
    _catalogue.clear()
    if not wanted.lower().replace("_", "-").startswith("zh"):
        return "en"
    from sleuth.translations.zh_cn import MESSAGES

    _catalogue.update(MESSAGES)
    return "zh-CN"


def say(template: str, /, **values: object) -> str:
    """Return a message in the chosen language with its values filled in."""
    text = _catalogue.get(template, template)
    return text.format_map(_Lenient(values)) if values else text


class _Lenient(dict[str, object]):
    """Leaves a place nobody filled as it is, so that a message never fails."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"
