"""A settings file and the files next to it: the configuration that the server will see."""

from collections.abc import Mapping

from sleuth.doctor.files.compose import Compose
from sleuth.doctor.files.edits import add_key, add_section, set_value
from sleuth.doctor.files.environment import Variable
from sleuth.doctor.files.schema import truth
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, YamlSource, find
from sleuth.doctor.finding import Edit
from sleuth_providers.records import Record


class Deployment(Record):
    """A settings file and the files next to it."""

    source: YamlSource
    variables: Mapping[str, Variable] = {}  # they override the file
    compose: Compose | None = None  # without one, whether the server runs in a container is unknown
    exempt: tuple[str, ...] = ()  # pass_ip in limiter.toml

    @property
    def host_network(self) -> bool:
        """Return whether a container shares the host's network."""
        return self.compose is not None and self.compose.host_network

    @property
    def valkey(self) -> str:
        """Return the host name of a valkey service in the compose file."""
        return self.compose.valkey if self.compose else ""

    @property
    def root(self) -> YamlNode:
        """Return the outermost mapping."""
        return self.source.root

    def is_on(self, variable: str, *path: str) -> bool:
        """Return a switch as the server sees it: the variable, else the file."""
        known = self.variables.get(variable)
        if known and known.switch is not None:
            return known.switch
        entry = find(self.root, *path)
        return entry is not None and truth(entry.value) is True

    @property
    def limiter_on(self) -> bool:
        """Return whether the limiter is on, directly or implied."""
        names = {"limiter": "SEARXNG_LIMITER", "public_instance": "SEARXNG_PUBLIC_INSTANCE"}
        return any(self.is_on(variable, "server", key) for key, variable in names.items())

    def at(self, variable: str, *path: str, missing: str = "") -> str:
        """Return where a setting is made, as evidence; `missing` is the remark where it is not."""
        if variable in self.variables:
            return self.variables[variable].at(variable)
        if entry := find(self.root, *path):
            return self.source.at(entry.key)
        section = find(self.root, path[0])
        return self.source.at(section.key if section else self.root, missing)

    def set(self, section: str, key: str, value: str) -> tuple[Edit, ...]:
        """Return the edits that give a setting a value, creating its section where needed."""
        text = self.source.text
        if entry := find(self.root, section, key):
            return (set_value(entry, value),)
        home = find(self.root, section)
        if home is None:
            return (add_section(text, self.root, section, [f"{key}: {value}"]),)
        if home.value.kind not in ("map", "null"):
            return (set_value(home, f"{{{key}: {value}}}"),)
        return add_key(text, home, key, value)

    @property
    def valkey_url(self) -> tuple[str, YamlEntry | None]:
        """Return the valkey URL that the server uses, and its entry where it comes from the file."""
        for name in ("SEARXNG_VALKEY_URL", "SEARXNG_REDIS_URL"):
            variable = self.variables.get(name)
            if variable and variable.value != "":
                return variable.value or "valkey://", None
        for section in ("valkey", "redis"):
            entry = find(self.root, section, "url")
            if entry and entry.value.kind == "text" and entry.value.value:
                return entry.value.value, entry
        return "", None


def is_complete(root: YamlNode) -> bool:
    """Return whether the file works without SearXNG's defaults."""
    chosen, known = find(root, "default_doi_resolver"), find(root, "doi_resolvers")
    return bool(chosen and known and find(known.value, str(chosen.value.value)))


def uses_defaults(root: YamlNode) -> bool:
    """Return whether SearXNG's defaults are merged in."""
    entry = find(root, "use_default_settings")
    return entry is not None and (entry.value.value is True or entry.value.kind == "map")
