"""The files of a private SearXNG: reachable from this machine only, JSON enabled, with a secret of its own."""

import os

from sleuth.base.errors import RequestError
from sleuth.base.files import private_folder, write_atomic
from sleuth_providers.records import Record

CONFIG = "core-config"  # mounted at /etc/searxng, as in SearXNG's own template

COMPOSE = """\
# SearXNG for sleuth. Start it here: docker compose up -d
name: searxng

services:
  core:
    container_name: searxng-core
    # Or a dated version instead of latest. Podman needs the full image name, with the registry in front.
    image: searxng/searxng:latest
    restart: always
    ports:
      # 127.0.0.1 keeps it off the network; the second port is the one inside the container.
      - "127.0.0.1:{port}:8080"
    env_file: ./.env
    volumes:
      # On a host with SELinux append :Z
      - ./core-config/:/etc/searxng/
      - core-data:/var/cache/searxng/
"""

VALKEY = """
  # The limiter counts requests here.
  valkey:
    container_name: searxng-valkey
    image: valkey/valkey:9-alpine
    command: valkey-server --save 30 1 --loglevel warning
    restart: always
    volumes:
      - valkey-data:/data/
"""

VOLUMES = """
volumes:
  core-data:
"""

SETTINGS = """\
# Only what differs from SearXNG's defaults. After a change: docker compose restart core
use_default_settings: true

search:
  # Without json every program gets 403 Forbidden.
  formats:
    - html
    - json

server:
  # The secret key comes from SEARXNG_SECRET in .env.
  limiter: {limiter}
  image_proxy: true
"""

VALKEY_SETTINGS = """
valkey:
  url: valkey://searxng-valkey:6379/0
"""

ENVIRONMENT = """\
# Variables here overrule settings.yml. After a change: docker compose up -d
SEARXNG_SECRET={secret}
"""

LIMITER = """\
# Who is not limited. Through the published port all programs of this machine come from an address of Docker's network;
# with Podman add "10.88.0.0/15". After a change: docker compose restart core
[botdetection.ip_lists]
pass_ip = ["127.0.0.0/8", "172.16.0.0/12"]
"""


class File(Record):
    """A file of the deployment, its path relative to the folder."""

    path: str
    text: str


def make_deployment(port: int, secret: str, *, limiter: bool = False) -> list[File]:
    """Return the files; the compose file is the last, so that nothing half written can be started."""
    compose = COMPOSE.format(port=port) + (VALKEY if limiter else "") + VOLUMES
    files = [
        File(".env", ENVIRONMENT.format(secret=secret)),
        File(f"{CONFIG}/settings.yml", SETTINGS.format(limiter=str(limiter).lower())),
        File("docker-compose.yml", compose),
    ]
    if limiter:
        files[1] = files[1]._replace(text=files[1].text + VALKEY_SETTINGS)
        files[2] = files[2]._replace(text=compose + "  valkey-data:\n")
        files.insert(2, File(f"{CONFIG}/limiter.toml", LIMITER))
    return files


def write_deployment(folder: str, files: list[File], *, force: bool = False) -> list[str]:
    """Write the files, all or, where one is there already and not to be replaced, none; returns their paths."""
    paths = [os.path.join(folder, *file.path.split("/")) for file in files]
    there = [path for path in paths if os.path.lexists(path)]
    if there and not force:
        raise RequestError(
            "there already: {files}; nothing was written",
            "choose another folder, or replace them with --force",
            files=", ".join(there),
        )
    for path, file in zip(paths, files, strict=True):
        home = private_folder(os.path.dirname(path) or ".")
        write_atomic(path, file.text.encode())
        _hand_over(path, home)
    return paths


def _hand_over(path: str, home: str) -> None:
    """Give a file to the owner of its folder. After the first start that is the container's user, uid 977.

    The container hands the folder and all in it to that user while it is root, but only when the folder is not that
    user's already: a file that root replaces later would stay root's, and nobody inside could read it.
    """
    if os.name == "posix" and os.geteuid() == 0:
        owner = os.stat(home)
        os.chown(path, owner.st_uid, owner.st_gid)
