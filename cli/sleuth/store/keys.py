"""Where a provider's keys come from: the table (a value, env:, cmd:, keyring:), else the environment."""

import os
from collections.abc import Mapping

from sleuth.base.errors import MissingExtraError, SettingsError
from sleuth.store.provider_table import ProviderRow
from sleuth_providers.base import Provider

COMMAND_TIMEOUT = 15.0


def origin(row: ProviderRow, provider: Provider, environ: Mapping[str, str]) -> str | None:
    """Say where a key would come from, without running anything; None when there is none."""
    stored = row.api_key or ""
    if stored.startswith("env:"):
        return stored if environ.get(stored[4:]) else None
    if stored.startswith(("cmd:", "keyring:")):
        return stored.partition(":")[0]
    if stored:
        return "table"
    return next((name for name in provider.env if environ.get(name)), None)


def find_keys(row: ProviderRow, provider: Provider, environ: Mapping[str, str]) -> list[str]:
    """Return the keys of a provider; several stand separated by commas."""
    if row.api_key:
        found = resolve(row.api_key, environ, f"sleuth/{row.id}")
    else:
        found = next((environ[name] for name in provider.env if environ.get(name)), "")
    return [key.strip() for key in found.split(",") if key.strip()]


def resolve(text: str, environ: Mapping[str, str], service: str) -> str:
    """Return the secret a setting means: a value as it is, or what env:, cmd: or keyring: lead to."""
    scheme, _, rest = text.partition(":")
    if scheme == "env":
        return environ.get(rest, "")
    if scheme == "cmd":
        return _run(rest)
    if scheme == "keyring":
        return _from_keyring(rest or service)
    return text


def fingerprint(id: str, key: str) -> str:
    """Return the name under which one key of a provider is remembered; it does not reveal the key."""
    from hashlib import sha256

    return f"{id}#{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _run(command: str) -> str:
    import shlex
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603 - the user's own command, run without a shell
            shlex.split(command), stdout=subprocess.PIPE, timeout=COMMAND_TIMEOUT, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as problem:
        raise SettingsError(
            "the command for a key failed: {command}",
            "run it by hand to see why; it must print the key and nothing else",
            command=os.path.basename(command.split(" ")[0]),
        ) from problem
    return done.stdout.decode("utf-8", "replace").strip()


def _from_keyring(name: str) -> str:
    try:
        import keyring
    except ImportError as problem:
        raise MissingExtraError(
            "keys from the system keyring need an optional part", "pip install 'sleuth[keyring]'"
        ) from problem
    service, _, user = name.partition("/")
    try:
        return keyring.get_password(service, user or "api-key") or ""
    except Exception as problem:  # each system's keyring has errors of its own
        raise SettingsError(
            "the system keyring did not give the key {name!r}", "unlock it, or see: keyring diagnose", name=name
        ) from problem
