"""Where a model answers: addresses from however a base is written, and which key belongs to which host."""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

from sleuth.base.urls import host
from sleuth_providers.net.guard import is_local

CHAT, LIST = "/chat/completions", "/models"
VERSION = re.compile(r"/(v\d[^/]*|beta)(/|$)")  # /v1, Zhipu's /v4, Google's /v1beta/openai, DeepSeek's /beta
# A key in the environment is sent to the host it was made for, and to no other.
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


def chat_address(base: str) -> str:
    """Return where to ask for a reply; `/v1` is added where the base names no version."""
    return _address(base, CHAT)


def list_address(base: str) -> str:
    """Return where to ask which models there are."""
    return _address(base, LIST)


def _address(base: str, service: str) -> str:
    parts = urlsplit(base.strip())
    path = parts.path.rstrip("/").removesuffix(CHAT).removesuffix(LIST).rstrip("/")
    complete = VERSION.search(path) or parts.path.rstrip("/").endswith((CHAT, LIST))
    netloc = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, netloc, f"{path}{'' if complete else '/v1'}{service}", parts.query, ""))


def endpoint_host(base: str) -> str:
    """Return the name of the server, in lower case."""
    return host(base)


def place_of(base: str) -> str:
    """Return the server as messages name it: its host, and its port where it has one of its own."""
    return urlsplit(base.strip()).netloc.rpartition("@")[2]


def is_private(base: str) -> bool:
    """Tell whether a server is on this machine or in the same house, where keys are rare and nothing is paid."""
    return is_local(endpoint_host(base))


def sends_key_in_clear(base: str) -> bool:
    """Tell whether what is sent there could be read on the way: plain HTTP to another machine."""
    return urlsplit(base.strip()).scheme == "http" and not _is_this_machine(endpoint_host(base))


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def key_from(environ: Mapping[str, str], base: str) -> str:
    """Return the key that the environment has for this very host; nothing for a host nobody knows."""
    variable = KEY_VARIABLES.get(endpoint_host(base))
    return environ.get(variable, "").strip() if variable else ""
