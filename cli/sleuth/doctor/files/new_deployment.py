"""The files of a private SearXNG: loopback port, JSON output enabled, its own secret."""

import os
from pathlib import Path

from sleuth.base.errors import RequestError
from sleuth.base.files import private_folder, write_atomic

TEMPLATES = Path(__file__).with_name("templates")


def make_deployment(port: int, secret: str, *, limiter: bool = False) -> dict[str, str]:
    """Return the text of each file; the compose file is last, so that an incomplete deployment cannot be started."""
    variant = "-limiter" if limiter else ""
    sources = {".env": "env", "core-config/settings.yml": f"settings{variant}.yml"}
    if limiter:
        sources["core-config/limiter.toml"] = "limiter.toml"
    sources["docker-compose.yml"] = f"docker-compose{variant}.yml"
    texts = {path: (TEMPLATES / name).read_text("utf-8") for path, name in sources.items()}
    return {path: text.replace("{port}", str(port)).replace("{secret}", secret) for path, text in texts.items()}


def write_deployment(folder: str, files: dict[str, str], *, force: bool = False) -> list[str]:
    """Write all files, or none if one exists and is not to be replaced; return their paths."""
    paths = [os.path.join(folder, *path.split("/")) for path in files]
    existing = [path for path in paths if os.path.lexists(path)]
    if existing and not force:
        hint = "choose another folder, or replace them with --force"
        raise RequestError("already exists: {files}; nothing was written", hint, files=", ".join(existing))
    for path, text in zip(paths, files.values(), strict=True):
        home = private_folder(os.path.dirname(path) or ".", "choose another folder")
        write_atomic(path, text.encode(), follow=False)  # with --force, the container may have put a link there
        _match_owner(path, home)
    return paths


def _match_owner(path: str, folder: str) -> None:
    """Give a file to the owner of its folder, which after the first start is the container's user (uid 977).

    The container's entry point, as root, gives the folder and its files to that user, but only if the folder does
    not belong to that user yet. A file that root replaces later would stay root's and be unreadable in the container.
    """
    if os.name == "posix" and os.geteuid() == 0:
        owner = os.stat(folder)
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
