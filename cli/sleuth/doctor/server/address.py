"""A server address as people write it: parsed, with common mistakes corrected."""

import re
from urllib.parse import quote, urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import is_loopback
from sleuth_providers.net.urls import without_scheme
from sleuth_providers.records import Record

SAFE_IN_PATH = "/%:@!$&'()*+,;=~"
WILDCARD_HOSTS = ("0.0.0.0", "::")  # noqa: S104 - recognised, not listened on


class Endpoint(Record):
    """A valid server address in parts."""

    scheme: str
    host: str
    port: int
    path: str = ""  # without a trailing slash

    @property
    def url(self) -> str:
        """Return the address as one would write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_default = self.port == (443 if self.scheme == "https" else 80)
        return f"{self.scheme}://{host}{'' if is_default else f':{self.port}'}{self.path}"

    @property
    def is_local(self) -> bool:
        """Return whether it is on this machine."""
        return self.host in WILDCARD_HOSTS or self.host.endswith(".localhost") or is_loopback(self.host)


class ParsedAddress(Record):
    """What an address means, and what is wrong with how it is written."""

    endpoint: Endpoint | None  # None: it cannot be corrected
    mistakes: tuple[str, ...] = ()  # corrected here, but a search would fail on them
    has_login: bool = False


def parse_address(text: str) -> ParsedAddress:
    """Parse an address, correcting common mistakes."""
    mistakes: list[str] = []
    url = clean(text, 2000, entities=False).strip("\"'<> ")
    if not re.match(r"https?://", url, re.IGNORECASE):
        if "://" in url:
            return ParsedAddress(None, (tr("it begins with {scheme}://", scheme=url.partition("://")[0]),))
        url = "http://" + without_scheme(url)
        mistakes.append(tr("it does not begin with http:// or https://"))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.replace(" ", "..").encode("idna")  # an empty label is an error; a space is not, but should be one
    except ValueError:
        return ParsedAddress(None, (tr("the host is misspelt or the port is not a number from 1 to 65535"),))
    if not host or port == 0:
        return ParsedAddress(None, (tr("it has no host") if not host else tr("0 is not a valid port"),))
    if parts.query or parts.fragment:
        mistakes.append(tr("it ends in a query"))
    path = quote(parts.path, safe=SAFE_IN_PATH).rstrip("/")
    if path.endswith("/search"):
        path = path.removesuffix("/search").rstrip("/")
        mistakes.append(tr("it ends in /search, which sleuth adds itself"))
    scheme = parts.scheme.lower()
    endpoint = Endpoint(scheme, host, port or (443 if scheme == "https" else 80), path)
    return ParsedAddress(endpoint, tuple(mistakes), bool(parts.username))
