"""The engines behind SearXNG: how many there are, who answered in what time, and who failed, by cause."""

import json
import re
from collections.abc import Callable

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.engine_report import Failure, engine_report
from sleuth.doctor.server.session import Session
from sleuth.doctor.verdict import LOG, RECREATE, RESTART, Remedy, bad, good, in_compose, in_settings, poor
from sleuth_providers.records import Record

SHOWN = 40  # engines told by name
SWITCHED = 5  # engines written out in a fix
YAML_WORDS = ("on", "off", "yes", "no", "true", "false", "null")
EMPTY_LINK = "searxng.md#searxng-returns-no-results-without-any-error"
BLOCKED_LINK = "searxng.md#searxng-engines-captcha-too-many-requests-access-denied-suspended"
NETWORK_LINK = "searxng.md#all-searxng-engines-time-out-no-internet-or-dns-in-the-container"
PROXY_LINK = "searxng.md#all-searxng-engines-fail-after-setting-a-proxy-http-connection-error"
IPV6_LINK = "searxng.md#searxng-engines-time-out-or-block-over-ipv6-only"
CERTIFICATE_LINK = "searxng.md#searxng-engines-ssl-error-certificate-validation-has-failed"
SLOW_LINK = "searxng.md#searxng-is-slow-timeout-in-sleuth"
UPDATE_LINK = "searxng.md#update-searxng"
FETCH = "import urllib.request as u; print(u.urlopen('https://example.org').status)"


def engines_answer(visit: Session) -> Finding:
    """Count the engines, and name those that answered with the time each took."""
    found = engine_report(visit)
    by_time = sorted(found.answered.items(), key=lambda pair: pair[1])
    counts = {"configured": found.configured, "enabled": found.enabled}
    lines = [
        tr("{configured} configured, {enabled} enabled", **counts) if visit.config else "",
        _line(tr("answered: "), [f"{name} {milliseconds:.0f} ms" for name, milliseconds in by_time]),
        _line(tr("failed: "), [failure.engine for failure in found.failures]),
        _line(tr("not heard of: "), list(found.silent)),
        _line(tr("set in sleuth, but not configured there: "), list(found.unknown)),
    ]
    evidence = "\n".join(line for line in lines if line)
    title = tr(
        "engines: {answered} answered, {failed} failed", answered=len(found.answered), failed=len(found.failures)
    )
    if found.unknown:
        cause = tr("sleuth asks for engines that this server does not have; SearXNG ignores such names in silence")
        fix = (f"sleuth providers set {visit.around.provider} --unset engines",)
        return poor(evidence, Remedy(cause, fix, EMPTY_LINK), title=title)
    if found.failures:
        cause = tr("engines that fail are left out of the results; why is told below, by cause")
        return poor(evidence, Remedy(cause, (), EMPTY_LINK), title=title)
    return good(evidence, title=title)


def _line(label: str, names: list[str]) -> str:
    if not names:
        return ""
    more = tr(" and {count} more", count=len(names) - SHOWN) if len(names) > SHOWN else ""
    return f"{label}{', '.join(names[:SHOWN])}{more}"


class Trouble(Record):
    """A kind of failure; engines that share it share its remedy."""

    name: str
    title: str
    texts: tuple[str, ...]
    remedy: Callable[[list[Failure], bool], Remedy]  # the flag says that no engine at all answered


def trouble_with(trouble: Trouble, visit: Session) -> Finding | None:
    """Return the engines that have one kind of trouble; None when there are none."""
    found = engine_report(visit)
    nobody = not found.answered
    failures = [failure for failure in found.failures if _kind(failure.text, nobody) == trouble.name]
    if not failures:
        return None
    lines = [failure.describe(visit.now) for failure in failures[:SHOWN]]
    verdict = bad if nobody else poor
    return verdict("\n".join(lines), trouble.remedy(failures, nobody))


def _kind(text: str, nobody: bool) -> str:
    if text == "timeout" and nobody:
        return "unreachable"  # one engine is slow by itself; when all are, there is no way out to them
    return next((trouble.name for trouble in TROUBLES if text in trouble.texts), "broken")


def switch(names: list[str], *, off: bool) -> list[str]:
    """Return the lines of settings.yml that turn engines on or off."""
    chosen = names[:SWITCHED]
    return [line for name in chosen for line in (f"  - name: {_yaml(name)}", f"    disabled: {str(off).lower()}")]


def _yaml(name: str) -> str:
    """Return an engine's name as YAML; it comes from the server and may be anything."""
    simple = re.fullmatch(r"[a-z][a-z0-9 .]*", name) and name not in YAML_WORDS
    return name if simple else json.dumps(name)


def _blocked(failures: list[Failure], nobody: bool) -> Remedy:
    cause = tr(
        "these engines take the server for a bot: too many automated searches, or an address of bad repute (data "
        "centre, VPN); a restart clears the suspension, but the block returns"
    )
    names = [failure.engine for failure in failures]
    fix = (
        tr("# wait until the suspension ends and search less; or turn them off, and others on:"),
        *in_settings("engines:", *switch(names, off=True), *switch(["mojeek"], off=False)),
    )
    return Remedy(cause, fix, BLOCKED_LINK)


def _unreachable(failures: list[Failure], nobody: bool) -> Remedy:
    inside = f'docker compose exec core /usr/local/searxng/.venv/bin/python -c "{FETCH}"'
    if nobody:
        cause = tr(
            "the server has no way out: no internet or no DNS in the container (VPN, firewall), or `outgoing.proxies` "
            "names a proxy that cannot be reached from there"
        )
        fix = (
            tr("# 200 means that the network is fine:"),
            inside,
            *in_compose("dns:", "  - 1.1.1.1"),
            RESTART,
            tr("# with a proxy: does `outgoing: proxies:` in settings.yml work inside of the container?"),
        )
        return Remedy(cause, fix, NETWORK_LINK)
    cause = tr(
        "the server cannot connect to these engines, though it can to others: they are down, or fail over IPv6 only"
    )
    return Remedy(cause, in_settings("outgoing:", "  source_ips: 0.0.0.0"), IPV6_LINK)


def _slow(failures: list[Failure], nobody: bool) -> Remedy:
    cause = tr("these engines did not answer within their own time limit; the whole search waits for the slowest")
    fix = (
        tr("# allow them more time, or turn them off:"),
        *in_settings("outgoing:", "  request_timeout: 6.0"),
        *in_settings("engines:", *switch([failure.engine for failure in failures], off=True)),
    )
    return Remedy(cause, fix, SLOW_LINK)


def _distrusted(failures: list[Failure], nobody: bool) -> Remedy:
    cause = tr("a network that inspects TLS signs with an authority the container does not know, or its clock is wrong")
    fix = in_compose(
        "volumes:", "  - ./company-ca.crt:/usr/local/share/ca-certificates/company-ca.crt:ro"
    ) + in_settings("outgoing:", "  verify: /etc/searxng/company-ca.pem")
    return Remedy(cause, fix, CERTIFICATE_LINK)


def _behind_proxy(failures: list[Failure], nobody: bool) -> Remedy:
    cause = tr("`outgoing.proxies` names a proxy that fails, or that is `localhost`, which is the container itself")
    fix = in_settings("outgoing:", "  proxies:", "    all://:", "      - http://host.docker.internal:3128")
    return Remedy(cause, fix, PROXY_LINK)


def _broken(failures: list[Failure], nobody: bool) -> Remedy:
    cause = tr(
        "these engines answer, but not as this version of SearXNG expects: they changed, or have trouble of their own"
    )
    names = [failure.engine for failure in failures]
    fix = (
        "docker compose pull",
        RECREATE,
        tr("# still broken? turn them off:"),
        *in_settings("engines:", *switch(names, off=True)),
        LOG,
    )
    return Remedy(cause, fix, UPDATE_LINK)


TROUBLES = (
    Trouble(
        "blocked",
        "engines that block the server",
        ("CAPTCHA", "too many requests", "access denied", "blocked", "CAPTCHA required"),
        _blocked,
    ),
    Trouble("unreachable", "engines out of reach", ("HTTP connection error", "network error"), _unreachable),
    Trouble("slow", "slow engines", ("timeout",), _slow),
    Trouble(
        "certificate",
        "engines whose certificate is not trusted",
        ("SSL error: certificate validation has failed",),
        _distrusted,
    ),
    Trouble("proxy", "engines behind a proxy", ("proxy error",), _behind_proxy),
    Trouble("broken", "engines that do not work", (), _broken),  # all the rest
)
