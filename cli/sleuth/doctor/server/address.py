"""The address as it is written: taken apart, and mended where people slip."""

import os
import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.session import ANYWHERE, Place
from sleuth.doctor.verdict import Remedy, bad, good, poor
from sleuth_providers.net.client import system_proxy
from sleuth_providers.records import Record

EXAMPLE = "http://localhost:8080"
LINK = "searxng.md#tell-sleuth-the-address-of-searxng"
KEPT_IN_PATHS = "/%:@!$&'()*+,;=~"
PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class ParsedAddress(Record):
    """What an address was taken to mean, and what is wrong with the way it is written."""

    place: Place | None
    slips: tuple[str, ...] = ()  # mended here; a search would stumble over them
    login: bool = False  # it carries a user name


def read_address(text: str) -> ParsedAddress:
    """Take an address apart, mending the slips people make; what cannot be mended has no place."""
    slips: list[str] = []
    url = clean(text, 2000, entities=False).strip("\"'<> ")
    if not re.match(r"https?://", url, re.IGNORECASE):
        if "://" in url:
            return ParsedAddress(None, (tr("it begins with {scheme}://", scheme=url.partition("://")[0]),))
        url = "http://" + re.sub(r"^https?:/*|^/+", "", url)
        slips.append(tr("it does not begin with http:// or https://"))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        return ParsedAddress(None, (tr("its host is misspelt, or its port is no number from 1 to 65535"),))
    if not host or port == 0:
        return ParsedAddress(None, (tr("it names no host") if not host else tr("0 is no port"),))
    if parts.query or parts.fragment:
        slips.append(tr("it ends in a query, and sleuth adds its own"))
    path = quote(parts.path, safe=KEPT_IN_PATHS).rstrip("/")
    if path.endswith("/search"):
        path = path.removesuffix("/search").rstrip("/")
        slips.append(tr("it ends in /search, which sleuth adds itself"))
    scheme = parts.scheme.lower()
    place = Place(scheme, host, port or (443 if scheme == "https" else 80), path)
    return ParsedAddress(place, tuple(slips), bool(parts.username))


def check_address(reading: ParsedAddress, use: Callable[[str], str], provider: str) -> Finding:
    """Return the verdict on an address as it is written; `use` is the command that sets another one."""
    place = reading.place
    if place is None:
        cause = tr("this is not the address of a web server: http:// or https://, a host, perhaps a port")
        return bad("; ".join(reading.slips), Remedy(cause, (use(EXAMPLE),), LINK))
    if reading.slips:
        cause = tr("a search cannot use the address as it is written; the checks below use {url}", url=place.url)
        return bad("; ".join(reading.slips), Remedy(cause, (use(place.url),), LINK))
    if reading.login:
        fix = (use(place.url), f"sleuth providers set {provider} --basic-auth-username NAME --basic-auth-password -")
        cause = tr("sleuth keeps user name and password apart from the address and does not use those in it")
        return poor(tr("the address contains a user name"), Remedy(cause, fix, LINK))
    if place.host in ANYWHERE:
        cause = tr("{host} is an address to listen on, not one to connect to", host=place.host)
        return poor(place.url, Remedy(cause, (use(place._replace(host="127.0.0.1").url),), LINK))
    return good(_way(place), title=place.url)


def _way(place: Place) -> str:
    """Say how requests get there: a proxy in the environment surprises people."""
    variables = ", ".join(sorted(name for name in os.environ if name.lower() in PROXIES and os.environ[name]))
    if not variables:
        return tr("host {host}, port {port}", host=place.host, port=place.port)
    if not system_proxy(place.url):
        return tr("{variables} is set, but this address is asked directly", variables=variables)
    return tr("asked through the proxy of {variables}", variables=variables)
