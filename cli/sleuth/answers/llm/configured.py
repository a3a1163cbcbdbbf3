"""Which models the settings name, and with which key they are asked."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sleuth.answers.llm.address import is_private, key_from, sends_key_in_clear
from sleuth.answers.llm.chat import Models
from sleuth.answers.llm.prices import find_price
from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.urls import clean_url
from sleuth.store import keys
from sleuth.store.settings import (
    LLM_KEY,
    LLM_MODEL,
    LLM_PRICE_INPUT,
    LLM_PRICE_OUTPUT,
    LLM_REASONER,
    LLM_URL,
    Setting,
    Settings,
)
from sleuth_providers.errors import BadRequestError
from sleuth_providers.net.urls import split_url

if TYPE_CHECKING:
    from sleuth.answers.llm.client import ChatModel

SERVICE = "sleuth/llm.api_key"


def find_models(settings: Settings, environ: Mapping[str, str]) -> Models | None:
    """Return the models to ask; None where a key is needed and there is none.

    A server on this machine or in the same network needs no key. OPENAI_BASE_URL and the like are not read: which
    server sees the questions is for the settings alone to say.
    """
    base, name = settings[LLM_URL].strip(), settings[LLM_MODEL].strip()
    if not base or not name:
        return None
    _check(base)
    key = find_key(settings, environ)
    if not key and not is_private(base):
        return None
    if key and sends_key_in_clear(base):
        raise SettingsError(
            "the key of the model would travel unencrypted to {place}, and was not sent",
            "use https: sleuth config set llm.base_url {secure}",
            place=clean_url(base),
            secure=clean_url(base).replace("http:", "https:", 1),
        )
    writer = _model(settings, key, name)
    thinker = settings.look_up(LLM_REASONER)
    if thinker.origin == "default" or thinker.value in ("", name):
        return Models(writer, writer)
    return Models(writer, _model(settings, key, thinker.value))


def find_key(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the key of the model: of the settings, else of the variable made for its host."""
    stored = settings[LLM_KEY]
    key = keys.resolve(stored, environ, SERVICE).strip() if stored else key_from(environ, settings[LLM_URL])
    logs.hide(key)
    return key


def _check(base: str) -> None:
    try:
        split_url(base)
    except BadRequestError as problem:
        raise SettingsError(
            "llm.base_url is no address one can ask: {detail}",
            "write it like https://HOST/v1: sleuth config set llm.base_url URL",
            detail=problem.detail,
        ) from problem


def _model(settings: Settings, key: str, name: str) -> "ChatModel":
    from sleuth.answers.llm.client import ChatModel, ModelEndpoint

    base = settings[LLM_URL].strip()
    price = find_price(base, name, _price(settings, LLM_PRICE_INPUT), _price(settings, LLM_PRICE_OUTPUT))
    return ChatModel(ModelEndpoint(base, name, key, price))


def _price(settings: Settings, setting: Setting[float | str]) -> float | None:
    value = settings[setting]
    return None if isinstance(value, str) else value
