"""Reads a secret: a hidden prompt on a terminal, else standard input."""

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.runtime import Runtime


def read_secret(runtime: Runtime, name: str) -> str:
    """Return the secret that was typed or piped in."""
    if runtime.stdin.isatty():
        from getpass import getpass

        secret = getpass(tr("{name}: ", name=name), stream=runtime.stderr)
    else:
        secret = runtime.stdin.readline()
    if not secret.strip():
        raise RequestError("no {name} given", "type it at the prompt or pipe it in", name=name)
    return secret.strip()
