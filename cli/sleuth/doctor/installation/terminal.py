"""What surrounds sleuth: proxies and certificates that variables name, and what the terminal can show."""

import os
import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.yaml_source import show_line
from sleuth.doctor.finding import Finding
from sleuth.doctor.verdict import shell
from sleuth.store.settings import Settings

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

PROXIES = ("http_proxy", "https_proxy", "all_proxy")
SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
USUAL_PORTS = {"http": 80, "https": 443}
PATIENCE = 1.5  # seconds for a proxy to accept a connection
NARROW = 40  # columns
SAMPLE = "搜索 ✓"
PROXY_LINK = "troubleshooting.md#proxy-settings-http_proxy-https_proxy-socks-no_proxy"
CERTIFICATE_LINK = "troubleshooting.md#certificate-errors-tls-ssl-company-ca"
COLOR_LINK = "troubleshooting.md#no-colours-or-unwanted-escape-codes"
CJK_LINK = "troubleshooting.md#chinese-japanese-or-korean-text-is-misaligned-cjk-width"


def check_proxies(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check the proxies that variables name: well written, and there."""
    named = {name: value for name, value in runtime.environ.items() if name.lower() in PROXIES and value.strip()}
    if not named:
        yield Finding("", "ok", "", tr("no variable names a proxy; requests go directly"))
        return
    direct = next(
        (f"{name}={runtime.environ[name]}" for name in ("no_proxy", "NO_PROXY") if name in runtime.environ), ""
    )
    good = []
    for name, value in sorted(named.items()):
        shown = show_line(f"{name}={value}")
        trouble = _trouble(value.strip())
        if trouble:
            yield Finding("", "fail", "", shown, trouble, (f"unset {name}",), PROXY_LINK)
        else:
            good.append(shown)
    if good:
        loopback = tr("loopback addresses are asked directly all the same")
        yield Finding("", "ok", "", "; ".join([*good, *filter(None, [show_line(direct)]), loopback]))


def _trouble(value: str) -> str:
    """Return what is wrong with a proxy; nothing when it accepts a connection."""
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        host, port = parts.hostname, parts.port or USUAL_PORTS.get(parts.scheme, 1080)
    except ValueError:
        return tr("this is no address of a proxy")
    if parts.scheme not in SCHEMES or not host:
        return tr("this is no address of a proxy: it begins with http://, https:// or socks5://")
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except OSError as problem:
        reason = clean(problem.strerror or problem, 100)
        return tr("the proxy does not accept connections ({reason}): every request through it will fail", reason=reason)
    return ""


def check_certificates(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check the certificates that variables name, and say which variables have no effect."""
    environ, found = runtime.environ, []
    for name, is_there, what in (
        ("SSL_CERT_FILE", os.path.isfile, tr("file")),
        ("SSL_CERT_DIR", os.path.isdir, tr("folder")),
    ):
        path = environ.get(name, "")
        if path and not is_there(path):
            cause = tr("there is no such {what}; every https request fails", what=what)
            evidence = f"{name}={clean(path, 300, entities=False)}"
            yield Finding("", "fail", "", evidence, cause, (f"unset {name}",), CERTIFICATE_LINK)
        elif path and name == "SSL_CERT_FILE" and not _holds_certificates(path):
            cause = tr("the file holds no certificates in PEM form; every https request fails")
            fix = (f"head -1 {shell(path)}", f"unset {name}")
            yield Finding("", "fail", "", f"{name}={clean(path, 300, entities=False)}", cause, fix, CERTIFICATE_LINK)
        elif path:
            found.append(f"{name}={clean(path, 300, entities=False)}")
    ignored = [name for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE") if environ.get(name)]
    if ignored and not environ.get("SSL_CERT_FILE"):
        cause = tr("sleuth does not read this variable; it reads SSL_CERT_FILE")
        command = f'export SSL_CERT_FILE="${ignored[0]}"'
        yield Finding("", "warn", "", ", ".join(ignored), cause, (command,), CERTIFICATE_LINK)
    elif found:
        yield Finding("", "ok", "", "; ".join(found))
    elif not environ.get("SSL_CERT_FILE") and not environ.get("SSL_CERT_DIR"):
        yield Finding("", "ok", "", tr("no variable names certificates; the system's are used"))


def _holds_certificates(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return b"-----BEGIN" in stream.read(1_000_000)
    except OSError:
        return False


def check_terminal(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Say what the terminal can do: colours, links, width."""
    if not runtime.stdout.isatty():
        yield Finding("", "skipped", "", tr("the output goes to no terminal: plain text, no colours"))
        return
    from sleuth.render.rich import make_console

    console = make_console(runtime.stdout, runtime.color)
    colors = console.color_system or _why_colorless(runtime.environ)
    links = tr("links can be clicked where the terminal knows them") if console.color_system else tr("no links")
    seen = tr("{width} columns, colours: {colors}, {links}", width=console.width, colors=colors, links=links)
    if console.width < NARROW:
        cause = tr("the lines will be very short")
        yield Finding("", "warn", "", seen, cause, ("COLUMNS=100 sleuth search WORDS",), COLOR_LINK)
    else:
        yield Finding("", "ok", "", seen)


def _why_colorless(environ: Mapping[str, str]) -> str:
    if environ.get("NO_COLOR"):
        return tr("none, because NO_COLOR is set")
    if environ.get("TERM", "") in ("dumb", "unknown", ""):
        return tr("none, because TERM is {term}", term=environ.get("TERM") or tr("not set"))
    return tr("none")


def check_encoding(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check that text in any script can be shown."""
    variable = next((name for name in ("LC_ALL", "LC_CTYPE", "LANG") if runtime.environ.get(name)), "")
    locale = runtime.environ.get(variable, "")
    encoding = getattr(runtime.stdout, "encoding", None) or "utf-8"
    shown = f"{variable}={clean(locale, 60)}" if variable else tr("no locale is set")
    seen = tr("{locale}, output in {encoding}", locale=shown, encoding=encoding)
    fix = ("export LANG=C.UTF-8",) if variable != "LC_ALL" else ("export LC_ALL=C.UTF-8",)
    try:
        SAMPLE.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        cause = tr("this encoding has no Chinese, Japanese or Korean: such text is shown as question marks")
        yield Finding("", "warn", "", seen, cause, fix, CJK_LINK)
        return
    if os.name == "posix" and not locale.lower().replace("-", "").endswith("utf8"):
        cause = tr("the locale is not UTF-8: the terminal may garble Chinese, Japanese and Korean text")
        yield Finding("", "warn", "", seen, cause, fix, CJK_LINK)
        return
    yield Finding("", "ok", "", seen)
