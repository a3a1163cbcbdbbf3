"""The lines that fixes are made of: commands, and lines for a file with the command that applies them."""

import shlex

from sleuth.base.i18n import tr

RESTART = "docker compose restart core"
RECREATE = "docker compose up -d"
LOG = "docker compose logs --tail 50 core"
CHECK_VARIABLES = "grep -E 'SEARXNG_(LIMITER|PUBLIC_INSTANCE)' .env docker-compose.yml"
NEW_SECRET = "printf 'SEARXNG_SECRET=%s\\n' \"$(openssl rand -hex 32)\" >> .env"  # noqa: S105 - a command
PASS_LOCAL = ("[botdetection.ip_lists]", 'pass_ip = ["127.0.0.0/8", "172.16.0.0/12"]')


def in_settings(*lines: str) -> tuple[str, ...]:
    """Return lines for settings.yml, and the command that applies them."""
    sections = ", ".join(line for line in lines if line.endswith(":") and not line.startswith(" "))
    where = tr("# in settings.yml (merge into an existing {sections} section):", sections=sections)
    return (where if sections else tr("# in settings.yml:"), *lines, tr("# then restart SearXNG:"), RESTART)


def in_limiter(*lines: str) -> tuple[str, ...]:
    """Return lines for limiter.toml, and the command that applies them."""
    return (tr("# in limiter.toml, beside settings.yml:"), *lines, tr("# then restart SearXNG:"), RESTART)


def in_compose(*lines: str) -> tuple[str, ...]:
    """Return lines for the compose file, and the command that applies them."""
    where = tr("# in docker-compose.yml (merge into the SearXNG service):")
    return (where, *lines, tr("# then recreate the container:"), RECREATE)


def in_env(*lines: str) -> tuple[str, ...]:
    """Return lines for .env, and the command that applies them."""
    return (tr("# in .env:"), *lines, tr("# then recreate the container:"), RECREATE)


def shell(word: str) -> str:
    """Return a word quoted for a shell."""
    return shlex.quote(word)
