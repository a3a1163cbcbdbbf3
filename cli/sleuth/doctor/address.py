"""The address as it is written: taken apart, and mended where people slip."""

import os
import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from sleuth.doctor.finding import Finding
from sleuth.doctor.probe import find_proxy
from sleuth.doctor.verdict import Remedy, bad, good, poor
from sleuth.doctor.visit import ANYWHERE, Place
from sleuth.language import say
from sleuth.text import clean
from sleuth_providers.records import Record

EXAMPLE = "http://localhost:8080"
LINK = "searxng.md#tell-sleuth-the-address-of-searxng"
KEPT_IN_PATHS = "/%:@!$&'()*+,;=~"
PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class Reading(Record):
    """What an address was taken to mean, and what is wrong with the way it is written."""

    place: Place | None
    slips: tuple[str, ...] = ()  # mended here; a search would stumble over them
    login: bool = False  # it carries a user name


def read_address(text: str) -> Reading:
    """Take an address apart, mending the slips people make; what cannot be mended has no place."""
    slips: list[str] = []
    url = clean(text, 2000, entities=False).strip("\"'<> ")
    if not re.match(r"https?://", url, re.IGNORECASE):
        if "://" in url:
            return Reading(None, (say("it begins with {scheme}://", scheme=url.partition("://")[0]),))
        url = "http://" + re.sub(r"^https?:/*|^/+", "", url)
        slips.append(say("it does not begin with http:// or https://"))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        return Reading(None, (say("its host is misspelt, or its port is no number from 1 to 65535"),))
    if not host or port == 0:
        return Reading(None, (say("it names no host") if not host else say("0 is no port"),))
    if parts.query or parts.fragment:
        slips.append(say("it ends in a query, and sleuth adds its own"))
    path = quote(parts.path, safe=KEPT_IN_PATHS).rstrip("/")
    if path.endswith("/search"):
        path = path.removesuffix("/search").rstrip("/")
        slips.append(say("it ends in /search, which sleuth adds itself"))
    scheme = parts.scheme.lower()
    place = Place(scheme, host, port or (443 if scheme == "https" else 80), path)
    return Reading(place, tuple(slips), bool(parts.username))


def judge_address(reading: Reading, use: Callable[[str], str], provider: str) -> Finding:
    """Return the verdict on an address as it is written; `use` is the command that sets another one."""
    place = reading.place
    if place is None:
        cause = say("this is not the address of a web server: http:// or https://, a host, perhaps a port")
        return bad("; ".join(reading.slips), Remedy(cause, (use(EXAMPLE),), LINK))
    if reading.slips:
        cause = say("a search cannot use the address as it is written; the checks below use {url}", url=place.url)
        return bad("; ".join(reading.slips), Remedy(cause, (use(place.url),), LINK))
    if reading.login:
        fix = (use(place.url), f"sleuth providers set {provider} --basic-auth-username NAME --basic-auth-password -")
        cause = say("sleuth keeps user name and password apart from the address and does not use those in it")
        return poor(say("the address contains a user name"), Remedy(cause, fix, LINK))
    if place.host in ANYWHERE:
        cause = say("{host} is an address to listen on, not one to connect to", host=place.host)
        return poor(place.url, Remedy(cause, (use(place._replace(host="127.0.0.1").url),), LINK))
    return good(_way(place), title=place.url)


def _way(place: Place) -> str:
    """Say how requests get there: a proxy in the environment surprises people."""
    variables = ", ".join(sorted(name for name in os.environ if name.lower() in PROXIES and os.environ[name]))
    if not variables:
        return say("host {host}, port {port}", host=place.host, port=place.port)
    if not find_proxy(place.url):
        return say("{variables} is set, but this address is asked directly", variables=variables)
    return say("asked through the proxy of {variables}", variables=variables)
