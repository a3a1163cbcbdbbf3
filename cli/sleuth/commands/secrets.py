"""Reading a secret without showing it: a hidden prompt on a terminal, else standard input."""

from sleuth.errors import RequestError
from sleuth.language import say
from sleuth.runtime import Runtime


def read_secret(runtime: Runtime, name: str) -> str:
    """Return what the user types or pipes in."""
    if runtime.stdin.isatty():
        from getpass import getpass

        secret = getpass(say("{name}: ", name=name), stream=runtime.stderr)
    else:
        secret = runtime.stdin.readline()
    if not secret.strip():
        raise RequestError("no {name} was given", "type it at the prompt, or pipe it in", name=name)
    return secret.strip()
