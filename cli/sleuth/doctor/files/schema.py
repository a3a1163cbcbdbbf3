"""What SearXNG accepts in settings.yml: its sections, their keys, and what each takes. Anything else stops the server.

As of August 2026. Keys that are not listed are ignored by the server, except in `brand` and `preferences`.
"""

import re
from difflib import get_close_matches
from typing import Any

from sleuth.base.i18n import tr
from sleuth.doctor.files.yaml_source import YamlNode
from sleuth_providers.records import Record

DEFAULT_SECRET = "ultrasecretkey"  # noqa: S105 - the one everybody knows, and which SearXNG refuses
FORMATS = ("html", "csv", "json", "rss")
VALKEY_SCHEMES = ("valkey", "valkeys", "redis", "rediss", "unix")
WORDS = {
    "bool": "true or false",
    "false": "false",
    "null": "nothing",
    "text": "text",
    "int": "a whole number",
    "float": "a number",
    "list": "a list",
    "map": "a mapping",
}


class Shape(Record):
    """What a setting takes, and what the server uses where nothing is set, as YAML."""

    kinds: tuple[str, ...]
    default: str
    choices: tuple[Any, ...] = ()
    pattern: str = ""  # of text, and of the items of a list

    def accepts(self, node: YamlNode) -> bool:
        """Tell whether the server would take a value."""
        if self.choices:
            return node.value in self.choices and node.kind not in ("map", "list")
        kinds = {node.kind, "true" if node.value is True else "false"} if node.kind == "bool" else {node.kind}
        if not kinds & set(self.kinds):
            return False
        words = node.value if node.kind == "list" else [node] if node.kind == "text" else []
        return not self.pattern or all(_fits(word, self.pattern) for word in words)

    @property
    def says(self) -> str:
        """Return in words what is taken."""
        if self.choices:
            return ", ".join(repr(choice) if isinstance(choice, str) else str(choice) for choice in self.choices)
        kinds = [kind for kind in self.kinds if not (kind == "float" or (kind == "bool" and "int" in self.kinds))]
        return tr(", ").join(tr(WORDS[kind]) for kind in kinds)


def _fits(node: YamlNode, pattern: str) -> bool:
    return node.kind == "text" and re.fullmatch(pattern, node.value) is not None


def _flag(default: bool) -> Shape:
    return Shape(("bool",), str(default).lower())


def _number(default: str) -> Shape:
    return Shape(("int", "float", "bool"), default)


def _whole(default: int) -> Shape:
    return Shape(("int", "bool"), str(default))


def _text(default: str = '""') -> Shape:
    return Shape(("text",), default)


def _one_of(*choices: Any) -> Shape:
    first = choices[0]
    return Shape((), f'"{first}"' if isinstance(first, str) else str(first), choices)


URL = Shape(("null", "false", "text"), "false")
LOCALE = r"|all|auto|[a-z]{2,3}([-_][A-Za-z]{4})?([-_][A-Z]{2}|[-_]\d{3})?"
FOLDER = Shape(("text",), '""', pattern=r"|/.*")  # it must be there, inside the container
MAPPING = Shape(("map",), "{}")

SECTIONS: dict[str, dict[str, Shape]] = {
    "general": {
        "debug": _flag(False),
        "instance_name": _text('"SearXNG"'),
        "privacypolicy_url": URL,
        "contact_url": URL,
        "donation_url": Shape(("bool", "text"), "false"),
        "enable_metrics": _flag(True),
        "open_metrics": _text(),
    },
    "search": {
        "safe_search": _one_of(0, 1, 2),
        "autocomplete": _text(),
        "autocomplete_min": _whole(4),
        "favicon_resolver": _text(),
        "default_lang": Shape(("text",), "auto", pattern=LOCALE),
        "languages": Shape(("list",), "[all]", pattern=LOCALE),
        "ban_time_on_fail": _number("5"),
        "max_ban_time_on_fail": _number("120"),
        "suspended_times": MAPPING,
        "formats": Shape(("list",), "[html, json]"),
        "max_page": _whole(0),
    },
    "server": {
        "port": Shape(("int", "bool", "text"), "8888"),
        "bind_address": _text('"127.0.0.1"'),
        "limiter": _flag(False),
        "public_instance": _flag(False),
        "secret_key": _text(),
        "base_url": Shape(("false", "text"), "false"),
        "image_proxy": _flag(False),
        "http_protocol_version": _one_of("1.0", "1.1"),
        "method": _one_of("GET", "POST"),
        "default_http_headers": MAPPING,
    },
    "redis": {"url": URL},
    "valkey": {"url": URL},
    "ui": {
        "static_path": FOLDER,
        "templates_path": FOLDER,
        "default_theme": _text("simple"),
        "default_locale": _text(),
        "theme_args": MAPPING,
        "center_alignment": _flag(False),
        "results_on_new_tab": _flag(False),
        "query_in_title": _flag(False),
        "cache_url": _text('"https://web.archive.org/web/"'),
        "search_on_category_select": _flag(True),
        "hotkeys": _one_of("default", "vim"),
        "url_formatting": _one_of("pretty", "full", "host"),
    },
    "outgoing": {
        "useragent_suffix": _text(),
        "request_timeout": _number("3.0"),
        "enable_http2": _flag(True),
        "verify": Shape(("bool", "text"), "true"),
        "max_request_timeout": Shape(("null", "int", "float"), "null"),
        "pool_connections": _whole(100),
        "pool_maxsize": _whole(10),
        "keepalive_expiry": _number("5.0"),
        "max_redirects": _whole(30),
        "retries": _whole(0),
        "proxies": Shape(("null", "text", "map"), "null"),
        "source_ips": Shape(("null", "text", "list"), "null"),
        "using_tor_proxy": _flag(False),
        "extra_proxy_timeout": _whole(0),
        "networks": MAPPING,
    },
}
CLOSED = {  # sections in which a key nobody knows stops the server
    "brand": (
        "issue_url",
        "docs_url",
        "public_instances",
        "wiki_url",
        "custom",
        "pwa_colors",
        "new_issue_url",
    ),
    "preferences": ("lock",),
}
MAPPINGS = (*SECTIONS, "plugins", "categories_as_tabs", "doi_resolvers")  # empty ones stop the server
TOP = (
    *MAPPINGS,
    *CLOSED,
    "use_default_settings",
    "engines",
    "default_doi_resolver",
    "hostnames",
    "checker",
)
GONE = {"enabled_plugins": "plugins", "locales": "ui.default_locale", "result_proxy": "server.image_proxy"}


def home_of(key: str) -> str:
    """Return the section a key belongs to, when exactly one has it."""
    homes = [section for section, keys in SECTIONS.items() if key in keys and section != "redis"]
    return homes[0] if len(homes) == 1 else ""


def nearest(word: str, known: tuple[str, ...]) -> str:
    """Return the known word that was probably meant."""
    return next(iter(get_close_matches(word.lower().replace("-", "_"), known, 1, 0.75)), "")
