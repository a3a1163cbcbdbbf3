"""What a check of files finds: a finding under its title and, where a program can mend the file, the edits that do."""

from sleuth.base.i18n import tr
from sleuth.doctor.files.edits import Edit
from sleuth.doctor.finding import Finding
from sleuth.doctor.verdict import Remedy
from sleuth_providers.records import Record

TITLES = {
    "settings.file": "the settings file can be read",
    "settings.yaml": "the settings are YAML",
    "settings.defaults": "the default settings are used",
    "settings.formats": "JSON is among the formats",
    "settings.secret_key": "the secret key is your own",
    "settings.limiter": "the limiter lets programs pass",
    "settings.public_instance": "the rules of public instances are off",
    "settings.valkey": "the address of valkey",
    "settings.address": "address and port to listen on",
    "settings.base_url": "the base address",
    "settings.proxies": "proxies for engines",
    "settings.engines": "engines are there and enabled",
    "settings.values": "every value has its type",
    "settings.keys": "every name is known",
    "compose.file": "the compose file can be read",
    "compose.service": "the compose file runs SearXNG",
    "compose.ports": "the published port",
    "compose.volumes": "the mounted settings",
    "compose.env_file": "the environment file is there",
    "compose.capabilities": "what the container may do",
    "compose.restart": "it comes back after a restart of the machine",
    "compose.healthcheck": "the health check",
    "environment.file": "the environment file can be read",
    "environment.variables": "variables of the container",
    "limiter.file": "limiter.toml is understood",
    "limiter.link_token": "link_token is off",
    "limiter.addresses": "addresses in limiter.toml",
}


class Issue(Record):
    """A finding, and the edits that would mend it."""

    finding: Finding
    edits: tuple[Edit, ...] = ()
    first: bool = False  # mend this alone and look again: other edits depend on it


def issue(
    id: str, state: str, evidence: str, remedy: Remedy | None = None, edits: tuple[Edit, ...] = (), first: bool = False
) -> Issue:
    """Return an issue under the title its id has."""
    cause, fix, link = remedy or Remedy("")
    return Issue(Finding(id, state, tr(TITLES[id]), evidence, cause, fix, link), edits, first)


def fine(id: str, evidence: str) -> Issue:
    """Return the issue that is none: it was looked at and is well."""
    return issue(id, "ok", evidence)
