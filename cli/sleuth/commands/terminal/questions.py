"""Asks for a secret, or for confirmation before something is deleted or changed."""

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.runtime import Runtime

MAX_PIPED_CHARS = 100_000


def take_secret(runtime: Runtime, name: str, value: str) -> str:
    """Return a secret that was given as an argument, with a warning; - reads it from a prompt or standard input."""
    if value == "-":
        return read_secret(runtime, name)
    if value and not value.startswith(("env:", "cmd:", "keyring:")):
        runtime.warn(tr("a secret on the command line ends up in the shell history; use - instead"))
    return value


def read_secret(runtime: Runtime, name: str) -> str:
    """Return a secret: from a hidden prompt on a terminal, else from standard input."""
    if runtime.stdin.isatty():
        from getpass import getpass

        secret = getpass(tr("{name}: ", name=name), stream=runtime.stderr)
    else:
        secret = piped_text(runtime)
    if not secret.strip():
        raise RequestError("no {name} given", "type it at the prompt or pipe it in", name=name)
    if len(secret.splitlines()) > 1:
        raise RequestError("more than one line given for {name}", "separate several keys with commas", name=name)
    return secret.strip()


def piped_text(runtime: Runtime) -> str:
    """Return standard input; empty if it is a terminal. Raises RequestError if it is too long."""
    text = "" if runtime.stdin.isatty() else runtime.stdin.read(MAX_PIPED_CHARS + 1).strip()
    if len(text) > MAX_PIPED_CHARS:
        raise RequestError("standard input is too long", "use at most {most} characters", most=MAX_PIPED_CHARS)
    return text


def confirm(runtime: Runtime, question: str) -> None:
    """Raise RequestError unless the user answers yes."""
    if not runtime.stdin.isatty():
        raise RequestError("not a terminal; nothing was changed", "to confirm, add --yes")
    runtime.stdout.flush()
    print(question, end="", file=runtime.stderr, flush=True)
    if runtime.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RequestError("nothing was changed", "answer y to continue")
