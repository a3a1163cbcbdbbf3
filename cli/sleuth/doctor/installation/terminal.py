"""The environment: proxies and certificates from variables, and what the terminal can show."""

import os
import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import mask_login
from sleuth.doctor.files.yaml_source import show_line
from sleuth.doctor.finding import Finding, fail, ok, shell, skipped, warn
from sleuth.store.settings import Settings
from sleuth_providers.net.client import PROXY_VARIABLES

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

PROXY_PORTS = {"http": 80, "https": 443, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080}
CONNECT_TIMEOUT_S = 1.5
MIN_COLUMNS = 40
SAMPLE = "搜索 ✓"


def check_proxies(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that proxies in environment variables are valid and accept connections."""
    environ = runtime.environ
    proxies = {name: value for name, value in environ.items() if name.lower() in PROXY_VARIABLES and value.strip()}
    if not proxies:
        yield ok(tr("no proxy variable is set; requests go directly"))
        return
    usable = []
    for name, value in sorted(proxies.items()):
        shown = clean(f"{name}={mask_login(value)}", 160, entities=False)
        if problem := _proxy_problem(value.strip()):
            yield fail(shown, problem[0], name=name, reason=problem[1])
        else:
            usable.append(shown)
    if usable:
        excepted = [show_line(f"{name}={environ[name]}") for name in ("no_proxy", "NO_PROXY") if name in environ][:1]
        yield ok("; ".join([*usable, *excepted, tr("loopback addresses bypass the proxy")]))


def _proxy_problem(value: str) -> tuple[str, str] | None:
    """Return the remedy and the reason where a proxy does not accept a connection."""
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host, port = parts.hostname, parts.port or PROXY_PORTS.get(parts.scheme, 0)
    except ValueError:
        host, port = None, 0
    if not host or not port or parts.scheme not in PROXY_PORTS:
        return "proxy-invalid", ""
    try:
        socket.create_connection((host, port), CONNECT_TIMEOUT_S).close()
    except OSError as problem:
        return "proxy-refused", clean(problem.strerror or problem, 100)
    return None


def check_certificates(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check the CA certificates in environment variables, and warn about variables without effect."""
    from sleuth_providers.net.tls import has_system_certificates, is_hashed

    environ = runtime.environ
    found = []
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        path = environ.get(name, "")
        evidence = f"{name}={clean(path, 300, entities=False)}"
        folders = [part for part in path.split(os.pathsep) if os.path.isdir(part)]  # OpenSSL skips the others
        if path and not (os.path.isfile(path) if name == "SSL_CERT_FILE" else folders):
            yield fail(evidence, "ca-file-missing", name=name)
        elif path and name == "SSL_CERT_FILE" and not _holds_certificates(path):
            yield fail(evidence, "ca-file-without-certificate", name=name, path=shell(path))
        elif path and name == "SSL_CERT_DIR" and not any(map(is_hashed, folders)):
            yield warn(evidence, "ca-folder-without-names", path=shell(folders[0]))
        elif path:
            found.append(evidence)
    ignored = [name for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE") if environ.get(name)]
    if ignored and not environ.get("SSL_CERT_FILE"):
        yield warn(", ".join(ignored), "ca-variable-ignored", name=ignored[0])
    elif found:
        yield ok("; ".join(found))
    elif not environ.get("SSL_CERT_FILE") and not environ.get("SSL_CERT_DIR"):
        used = tr("no variable is set; the system's certificates are used")
        yield ok(used) if has_system_certificates() else fail(used, "ca-certificates-missing")


def _holds_certificates(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return b"-----BEGIN" in stream.read(1_000_000)
    except OSError:
        return False


def check_terminal(runtime: "Runtime", settings: Settings) -> Finding:
    """Report the terminal's colours, links and width."""
    if not runtime.stdout.isatty():
        return skipped(tr("the output is not a terminal"))
    from sleuth.render.rich import make_console

    console = make_console(runtime.stdout, runtime.color)
    colors = console.color_system or _why_no_colors(runtime.environ)
    seen = tr("{width} columns, colours: {colors}", width=console.width, colors=colors)
    return ok(seen) if console.width >= MIN_COLUMNS else warn(seen, "terminal-narrow")


def _why_no_colors(environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR"):
        return tr("none, because NO_COLOR is set")
    if environ.get("TERM", "") in ("dumb", "unknown", ""):
        return tr("none, because TERM is {term}", term=environ.get("TERM") or tr("not set"))
    return tr("none")


def check_encoding(runtime: "Runtime", settings: Settings) -> Finding:
    """Check that text in any script can be shown."""
    variable = next((name for name in ("LC_ALL", "LC_CTYPE", "LANG") if runtime.environ.get(name)), "")
    locale = runtime.environ.get(variable, "")
    encoding = getattr(runtime.stdout, "encoding", None) or "utf-8"
    shown = f"{variable}={clean(locale, 60)}" if variable else tr("no locale is set")
    evidence = tr("{locale}, output encoding {encoding}", locale=shown, encoding=encoding)
    better = "LC_ALL" if variable == "LC_ALL" else "LANG"
    try:
        SAMPLE.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return warn(evidence, "encoding-without-cjk", variable=better)
    if os.name == "posix" and not locale.lower().replace("-", "").endswith("utf8"):
        return warn(evidence, "locale-not-utf8", variable=better)
    return ok(evidence)
