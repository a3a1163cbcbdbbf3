"""The engines behind SearXNG: how many there are, which answered, and which failed, by cause."""

import json
import re
from collections.abc import Callable

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding, Remedy, fail, ok, warn
from sleuth.doctor.fixes import LOG, RECREATE, in_compose, in_settings
from sleuth.doctor.links import Link
from sleuth.doctor.server.engine_report import EngineFailure, engine_report
from sleuth.doctor.server.session import Session
from sleuth_providers.records import Record

MAX_SHOWN = 40
MAX_IN_FIX = 5
YAML_WORDS = ("on", "off", "yes", "no", "true", "false", "null")
FETCH = "import urllib.request as u; print(u.urlopen('https://example.org').status)"


def engines_answer(session: Session) -> Finding:
    """Count the engines, and list those that answered with their times."""
    report = engine_report(session)
    by_time = sorted(report.answered.items(), key=lambda pair: pair[1])
    counts = {"configured": report.configured, "enabled": report.enabled}
    lines = [
        tr("{configured} configured, {enabled} enabled", **counts) if session.config else "",
        _line(tr("answered: "), [f"{name} {ms:.0f} ms" for name, ms in by_time]),
        _line(tr("failed: "), [failure.engine for failure in report.failures]),
        _line(tr("no answer and no error: "), list(report.silent)),
        _line(tr("set in sleuth but not configured in SearXNG: "), list(report.unknown)),
    ]
    evidence = "\n".join(line for line in lines if line)
    counts = {"answered": len(report.answered), "failed": len(report.failures)}
    title = tr("Engines: {answered} answered, {failed} failed", **counts)
    if report.unknown:
        cause = tr("sleuth requests engines that this server does not have; SearXNG silently ignores them")
        fix = (f"sleuth providers set {session.environment.provider} --unset engines",)
        return warn(evidence, Remedy(cause, fix, Link.NO_RESULTS), title=title)
    if report.failures:
        cause = tr("failed engines are left out of the results; the causes are listed below")
        return warn(evidence, Remedy(cause, (), Link.NO_RESULTS), title=title)
    return ok(evidence, title=title)


def _line(label: str, names: list[str]) -> str:
    if not names:
        return ""
    more = tr(" and {count} more", count=len(names) - MAX_SHOWN) if len(names) > MAX_SHOWN else ""
    return f"{label}{', '.join(names[:MAX_SHOWN])}{more}"


class EngineProblem(Record):
    """A kind of engine failure with one remedy."""

    name: str
    title: str
    texts: tuple[str, ...]  # as SearXNG reports it
    remedy: Callable[[list[str], bool], Remedy]  # from the engines' names, and whether every engine failed


def engines_with(problem: EngineProblem, session: Session) -> Finding | None:
    """Return the engines with one kind of problem, if any."""
    report = engine_report(session)
    all_failed = not report.answered
    failures = [failure for failure in report.failures if _kind(failure, all_failed) == problem.name]
    if not failures:
        return None
    evidence = "\n".join(failure.describe(session.now) for failure in failures[:MAX_SHOWN])
    remedy = problem.remedy([failure.engine for failure in failures], all_failed)
    return fail(evidence, remedy) if all_failed else warn(evidence, remedy)


def _kind(failure: EngineFailure, all_failed: bool) -> str:
    if failure.text == "timeout" and all_failed:
        return "unreachable"  # one engine may be slow; when all are, the server has no network
    return next((problem.name for problem in ENGINE_PROBLEMS if failure.text in problem.texts), "broken")


def set_disabled(names: list[str], disabled: bool) -> list[str]:
    """Return the lines of settings.yml that turn engines on or off."""
    value = str(disabled).lower()
    return [line for name in names[:MAX_IN_FIX] for line in (f"  - name: {_yaml(name)}", f"    disabled: {value}")]


def _yaml(name: str) -> str:
    """Return an engine's name as YAML; it comes from the server and may be anything."""
    is_plain = re.fullmatch(r"[a-z][a-z0-9 .]*", name) and name not in YAML_WORDS
    return name if is_plain else json.dumps(name)


def _blocked(names: list[str], all_failed: bool) -> Remedy:
    cause = tr(
        "these engines take the server for a bot: too many searches, or an IP address with a bad reputation (data "
        "centre, VPN); a restart ends the suspension, but the block returns"
    )
    replace = ("engines:", *set_disabled(names, True), *set_disabled(["mojeek"], False))
    fix = (tr("# wait and search less, or use other engines:"), *in_settings(*replace))
    return Remedy(cause, fix, Link.ENGINES_BLOCKED)


def _unreachable(names: list[str], all_failed: bool) -> Remedy:
    if not all_failed:
        cause = tr("the server reaches other engines but not these: they are down, or fail over IPv6 only")
        return Remedy(cause, in_settings("outgoing:", "  source_ips: 0.0.0.0"), Link.ENGINES_IPV6)
    cause = tr(
        "the server has no network: no internet or no DNS in the container (VPN, firewall), or `outgoing.proxies` "
        "names a proxy that it cannot reach"
    )
    fix = (
        tr("# prints 200 when the container has network access:"),
        f'docker compose exec core /usr/local/searxng/.venv/bin/python -c "{FETCH}"',
        *in_compose("dns:", "  - 1.1.1.1"),
        tr("# with `outgoing: proxies:`, test the proxy from inside the container"),
    )
    return Remedy(cause, fix, Link.ENGINES_OFFLINE)


def _slow(names: list[str], all_failed: bool) -> Remedy:
    cause = tr("these engines exceeded SearXNG's timeout; the whole search waits for the slowest")
    more_time = in_settings("outgoing:", "  request_timeout: 6.0")
    fix = (*more_time, tr("# or turn them off:"), *in_settings("engines:", *set_disabled(names, True)))
    return Remedy(cause, fix, Link.SLOW)


def _untrusted(names: list[str], all_failed: bool) -> Remedy:
    cause = tr("the network inspects TLS with a CA that the container does not trust, or its clock is wrong")
    mount = in_compose("volumes:", "  - ./company-ca.crt:/usr/local/share/ca-certificates/company-ca.crt:ro")
    verify = in_settings("outgoing:", "  verify: /etc/searxng/company-ca.pem")
    return Remedy(cause, (*mount, *verify), Link.ENGINES_TLS)


def _proxy(names: list[str], all_failed: bool) -> Remedy:
    cause = tr("`outgoing.proxies` names a proxy that fails, or `localhost`, which is the container itself")
    fix = in_settings("outgoing:", "  proxies:", "    all://:", "      - http://host.docker.internal:3128")
    return Remedy(cause, fix, Link.ENGINES_PROXY)


def _broken(names: list[str], all_failed: bool) -> Remedy:
    cause = tr("these engines answer, but not as this version of SearXNG expects: they changed, or are failing")
    turn_off = in_settings("engines:", *set_disabled(names, True))
    return Remedy(
        cause, ("docker compose pull", RECREATE, LOG, tr("# still broken? turn them off:"), *turn_off), Link.UPDATE
    )


BLOCKED_TEXTS = ("CAPTCHA", "too many requests", "access denied", "blocked", "CAPTCHA required")
TLS_TEXTS = ("SSL error: certificate validation has failed",)
ENGINE_PROBLEMS = (
    EngineProblem("blocked", "Engines block the server", BLOCKED_TEXTS, _blocked),
    EngineProblem("unreachable", "Engines are unreachable", ("HTTP connection error", "network error"), _unreachable),
    EngineProblem("slow", "Engines are slow", ("timeout",), _slow),
    EngineProblem("certificate", "Engine certificates are not trusted", TLS_TEXTS, _untrusted),
    EngineProblem("proxy", "Engines fail behind a proxy", ("proxy error",), _proxy),
    EngineProblem("broken", "Engines are broken", (), _broken),  # all others
)
