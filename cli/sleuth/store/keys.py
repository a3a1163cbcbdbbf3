"""API keys of providers: from the table (a value, env:, cmd: or keyring:), else from the environment."""

import os
from collections.abc import Mapping

from sleuth.base.errors import MissingExtraError, SettingsError
from sleuth.base.i18n import tr
from sleuth.store.cache.rendered import digest
from sleuth.store.provider_table import ProviderRow
from sleuth_providers.base import Provider

COMMAND_TIMEOUT_S = 15.0


def origin(row: ProviderRow, provider: Provider, environ: Mapping[str, str]) -> str | None:
    """Return the source of the key without running anything; None when there is no key."""
    stored = row.api_key or ""
    if stored.startswith("env:"):
        return stored if _has_key(environ, stored[4:]) else None
    if stored.startswith(("cmd:", "keyring:")):
        return stored.partition(":")[0]
    return "table" if stored else next((name for name in provider.env if _has_key(environ, name)), None)


def _has_key(environ: Mapping[str, str], name: str) -> bool:
    return bool(environ.get(name, "").strip(" ,"))


def source_name(source: str) -> str:
    """Return the source of a key as messages name it."""
    return {"table": tr("table"), "cmd": tr("a command"), "keyring": tr("the system keyring")}.get(source, source)


def find_keys(row: ProviderRow, provider: Provider, environ: Mapping[str, str]) -> list[str]:
    """Return the keys of a provider; several are separated by commas."""
    stored = row.api_key or next((f"env:{name}" for name in provider.env if _has_key(environ, name)), "")
    found = resolve(stored, environ, f"sleuth/{row.id}")
    if not found.strip().isprintable():
        hint = "set it again: sleuth providers set {id} --api-key -"
        raise SettingsError("the API key of {id} contains control characters", hint, id=row.id)
    return [key.strip() for key in found.split(",") if key.strip()]


def resolve(text: str, environ: Mapping[str, str], service: str) -> str:
    """Return the secret that a setting holds or refers to with env:, cmd: or keyring:."""
    scheme, _, rest = text.partition(":")
    owner = service.removeprefix("sleuth/").removesuffix(".api_key")
    if scheme == "env":
        return environ.get(rest, "")
    if scheme == "cmd":
        return _run(rest, owner)
    return _from_keyring(rest or service, owner) if scheme == "keyring" else text


def fingerprint(id: str, key: str) -> str:
    """Return a name for one key or host of a provider that does not reveal it."""
    return f"{id}#{digest(key.encode('utf-8', 'surrogatepass'))[:12].decode()}"


def _run(command: str, owner: str) -> str:
    import shlex
    import subprocess

    try:
        words = shlex.split(command)
        done = subprocess.run(  # noqa: S603 - the user's own command, run without a shell
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=COMMAND_TIMEOUT_S, check=True
        )
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as problem:
        hint = "run it yourself to see why; it must print only the key"
        message = "the command for the key of {owner} failed: {command}"
        if isinstance(problem, subprocess.TimeoutExpired):
            message = "the command for the key of {owner} did not end within {seconds:g} s: {command}"
        name = os.path.basename(command.split(" ")[0])
        raise SettingsError(message, hint, owner=owner, command=name, seconds=COMMAND_TIMEOUT_S) from problem
    return done.stdout.decode("utf-8", "replace").strip()


def _from_keyring(name: str, owner: str) -> str:
    try:
        import keyring
    except ImportError as problem:
        from sleuth.base.extras import install_command

        raise MissingExtraError(
            "the system keyring needs the `keyring` extra", "{install}", install=install_command("keyring")
        ) from problem
    service, _, user = name.partition("/")
    try:
        return keyring.get_password(service, user or "api-key") or ""
    except Exception as problem:  # every keyring backend has its own errors
        hint = "unlock it, or run: keyring diagnose"
        raise SettingsError("cannot read the key of {owner} from the system keyring", hint, owner=owner) from problem
