"""A settings file together with what was found beside it: what the server will see in the end."""

from collections.abc import Mapping

from sleuth.doctor.files.edits import Edit, add_key, add_section, set_value
from sleuth.doctor.files.environment import Variable
from sleuth.doctor.files.limiter import Limiter
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, YamlSource, find
from sleuth_providers.records import Record

TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


class Deployment(Record):
    """A settings file together with what was found beside it."""

    source: YamlSource
    variables: Mapping[str, Variable] = {}  # they overrule the file
    container: bool | None = None  # None: nothing tells
    host_network: bool = False
    valkey: str = ""  # host name of a valkey service in the compose file
    limiter: Limiter = Limiter()

    @property
    def root(self) -> YamlNode:
        """Return the outermost mapping."""
        return self.source.root

    @property
    def apart(self) -> bool:
        """Tell whether localhost is the container's own and not the host's."""
        return self.container is True and not self.host_network

    def switch(self, variable: str, *path: str) -> bool:
        """Return a switch as the server sees it: the environment's word before the file's."""
        known = self.variables.get(variable)
        if known and known.switch is not None:
            return known.switch
        entry = find(self.root, *path)
        return entry is not None and means(entry.value) is True

    def place(self, variable: str, *path: str) -> str:
        """Return where a setting is decided, for a finding to show."""
        if variable in self.variables:
            return self.variables[variable].at(variable)
        return self.source.at(
            (find(self.root, *path) or find(self.root, path[0]) or YamlEntry(self.root, self.root)).key
        )

    def put(self, section: str, key: str, value: str) -> tuple[Edit, ...]:
        """Return the edits that give a setting a value, wherever it has to be made."""
        text = self.source.text
        if entry := find(self.root, section, key):
            return (set_value(entry, value),)
        home = find(self.root, section)
        if home is None:
            return (add_section(text, self.root, section, [f"{key}: {value}"]),)
        if home.value.kind not in ("map", "null"):
            return (set_value(home, f"{{{key}: {value}}}"),)
        return add_key(text, home, key, value)


def means(node: YamlNode) -> bool | None:
    """Return what somebody meant who wrote a switch, be it of the wrong type."""
    word = str(node.value if node.value is not None else "").strip().lower()
    return True if word in TRUE else False if word in FALSE else None


def stands_alone(root: YamlNode) -> bool:
    """Tell whether the file is complete without SearXNG's defaults."""
    chosen, known = find(root, "default_doi_resolver"), find(root, "doi_resolvers")
    return bool(chosen and known and find(known.value, str(chosen.value.value)))


def uses_defaults(root: YamlNode) -> bool:
    """Tell whether SearXNG's defaults are merged in."""
    entry = find(root, "use_default_settings")
    return entry is not None and (entry.value.value is True or entry.value.kind == "map")


def valkey_address(deployment: Deployment) -> tuple[str, YamlEntry | None]:
    """Return the address of valkey as the server sees it, and the entry of the file it comes from."""
    for name in ("SEARXNG_VALKEY_URL", "SEARXNG_REDIS_URL"):
        variable = deployment.variables.get(name)
        if variable and (variable.value or variable.value is None):
            return variable.value or "valkey://", None
    for section in ("valkey", "redis"):
        entry = find(deployment.root, section, "url")
        if entry and entry.value.kind == "text" and entry.value.value:
            return entry.value.value, entry
    return "", None
