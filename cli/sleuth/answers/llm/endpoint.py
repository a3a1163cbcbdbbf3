"""The model endpoint that the settings name: its URLs, its API key, and the models to use there."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from sleuth.answers.llm.chat import Models
from sleuth.answers.llm.prices import find_price
from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.urls import clean_url, host, is_in_clear
from sleuth.store import keys
from sleuth.store.settings import (
    LLM_KEY,
    LLM_MODEL,
    LLM_PRICE_INPUT,
    LLM_PRICE_OUTPUT,
    LLM_REASONER,
    LLM_TIMEOUT,
    LLM_TIMEOUTS,
    LLM_URL,
    Setting,
    Settings,
)
from sleuth_providers.errors import BadRequestError
from sleuth_providers.exchange import secrets_in
from sleuth_providers.net.guard import is_local
from sleuth_providers.net.urls import split_url

if TYPE_CHECKING:
    from sleuth.answers.llm.client import ChatModel

URL_HINT = "write it like https://HOST/v1: sleuth config set llm.base_url URL"
KEYRING_ENTRY = "sleuth/llm.api_key"
CHAT_PATH, MODELS_PATH = "/chat/completions", "/models"
VERSION = re.compile(r"/(v\d[^/]*|beta)(/|$)")  # /v1, Zhipu's /v4, Google's /v1beta/openai, DeepSeek's /beta
STEP_TIMEOUTS_S = {"analyse": 20.0, "extract": 10.0, "reflect": 5.0, "write": 120.0}
LOCAL_TIMEOUT_FACTOR = 6  # for models on this machine or the local network, which often run on a CPU
# A key from the environment is sent only to the host that issued it.
KEY_VARIABLES = {
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.moonshot.ai": "MOONSHOT_API_KEY",
    "api.moonshot.cn": "MOONSHOT_API_KEY",
    "api.openai.com": "OPENAI_API_KEY",
    "api.siliconflow.cn": "SILICONFLOW_API_KEY",
    "api.z.ai": "ZAI_API_KEY",
    "dashscope.aliyuncs.com": "DASHSCOPE_API_KEY",
    "open.bigmodel.cn": "ZHIPU_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
}


def chat_url(base: str) -> str:
    """Return the URL for chat completions; `/v1` is added if the base URL has no version."""
    return _url(base, CHAT_PATH)


def models_url(base: str) -> str:
    """Return the URL that lists the server's models."""
    return _url(base, MODELS_PATH)


def _url(base: str, service: str) -> str:
    parts = urlsplit(base.strip())
    path = parts.path.rstrip("/").removesuffix(CHAT_PATH).removesuffix(MODELS_PATH).rstrip("/")
    complete = VERSION.search(path) or parts.path.rstrip("/").endswith((CHAT_PATH, MODELS_PATH))
    return urlunsplit((parts.scheme, server_name(base), f"{path}{'' if complete else '/v1'}{service}", parts.query, ""))


def server_name(base: str) -> str:
    """Return `host[:port]` without credentials, for messages."""
    return urlsplit(base.strip()).netloc.rpartition("@")[2]


def is_private(base: str) -> bool:
    """Tell whether a server is on this machine or the local network, where keys are rare and use is free."""
    return is_local(host(base))


def step_timeout(settings: Settings, step: str) -> float:
    """Return the seconds that the model has for a step: its own setting, that of all steps, or the default."""
    if not isinstance(seconds := settings[timeout_setting(settings, step)], str):
        return seconds
    return STEP_TIMEOUTS_S[step] * (LOCAL_TIMEOUT_FACTOR if is_private(settings[LLM_URL]) else 1)


def timeout_setting(settings: Settings, step: str) -> Setting[float | str]:
    """Return the setting to change for more time: that of the step if it has a value, else that of all steps."""
    return LLM_TIMEOUT if isinstance(settings[LLM_TIMEOUTS[step]], str) else LLM_TIMEOUTS[step]


def find_models(settings: Settings, environ: Mapping[str, str]) -> Models | None:
    """Return the configured models, or None if the server needs a key that is missing.

    Servers on this machine or the local network need no key. OPENAI_BASE_URL and similar variables are ignored:
    only the settings decide which server receives the user's questions.
    """
    address, name = settings.look_up(LLM_URL), settings[LLM_MODEL].strip()
    base = address.value.strip()
    if not base or not name:
        return None
    if address.problem:  # the default address must not receive a key that was set for another server
        raise SettingsError("llm.base_url is not a valid URL", URL_HINT)
    try:
        split_url(base)
    except BadRequestError as error:
        raise SettingsError("llm.base_url is not a valid URL: {detail}", URL_HINT, detail=error.detail) from error
    key = find_key(settings, environ)
    if not key and not is_private(base):
        return None
    if key and is_in_clear(base):
        raise SettingsError(
            "refusing to send the model's API key unencrypted to {place}",
            "use https: sleuth config set llm.base_url {secure}",
            place=clean_url(base),
            secure=clean_url(base).replace("http:", "https:", 1),
        )
    writer = _model(settings, key, name)
    reasoner = settings[LLM_REASONER]
    return Models(writer, writer if reasoner in ("", name) else _model(settings, key, reasoner))


def find_key(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the key from the settings, else from the environment variable of the endpoint's host."""
    stored, variable = settings.key_for(LLM_KEY, LLM_URL), KEY_VARIABLES.get(host(settings[LLM_URL]), "")
    key = (keys.resolve(stored, environ, KEYRING_ENTRY) if stored else environ.get(variable, "")).strip()
    logs.hide(key, *secrets_in(settings[LLM_URL]))
    return key


def _model(settings: Settings, key: str, name: str) -> "ChatModel":
    from sleuth.answers.llm.client import ChatModel, ModelEndpoint

    base = settings[LLM_URL].strip()
    prices = _price(settings, LLM_PRICE_INPUT), _price(settings, LLM_PRICE_OUTPUT)
    return ChatModel(ModelEndpoint(base, name, key, find_price("" if is_private(base) else name, *prices)))


def _price(settings: Settings, setting: Setting[float | str]) -> float | None:
    value = settings[setting]
    return None if isinstance(value, str) else value
