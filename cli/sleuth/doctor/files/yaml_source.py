"""A YAML file read without constructing objects: its values and their positions."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean, splice
from sleuth_providers.exchange import SECRET_FIELD
from sleuth_providers.records import Record

MAX_BYTES = 150_000  # nearly twice SearXNG's complete settings; larger files take the parser many seconds
MAX_DEPTH = 40  # of nested brackets; the parser's time grows with them
MAX_MERGES, MAX_BASES = 2, 10  # depth of `<<`, and mappings per `<<`
BREAKS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # line breaks in YAML
SCALARS = {"str": "text", "null": "null", "timestamp": "date", "merge": "text", "value": "text"}
COLLECTIONS = {"map": "map", "omap": "map", "set": "map", "seq": "list", "pairs": "list"}
TRUE_WORDS = ("yes", "true", "on")
DEFAULT_SECRET = "ultrasecretkey"  # noqa: S105 - the built-in one, which is public, and which SearXNG refuses
SECRET_NAME = re.compile(
    r"secret|passw(?:or)?d|passphrase|pass(?![a-z_])|(?<![a-z])(?:pwd|auth|pin)(?![a-z])"
    r"|(?<!hot)(?<!val)(?<!sort)(?<!sort[_-])keys?(?![a-z])|(?<!link_)token(?!iz)|open_metrics"
    r"|authorization|bearer|cookie|credential|session(?!_timeout)|ai_api",
    re.IGNORECASE,
)
SECRETS = re.compile(
    rf"((?:{SECRET_NAME.pattern})\w{{0,40}}[\"']?\s{{0,40}}[:=]\s{{0,40}}[\"']?)"
    rf"(?!{DEFAULT_SECRET}|(?:true|false|yes|no|on|off|null)\b)(?:[|>&!]\S{{0,40}}\s{{1,40}})?"
    rf"(?:\{{[^}}\n]{{0,500}}|\[[^\]\n]{{0,500}}|(?:(?:bearer|basic|token)\s{{1,4}})?[^\s\"',}}#]+)",
    re.IGNORECASE,
)
IN_URL = re.compile(rf"({SECRET_FIELD})[^&;#\s\"']+", re.IGNORECASE)
LOGIN = re.compile(r"(//|(?<![^\s\"'=,\[{]))[^/\s@][^/\s]{0,300}(?<!\[)@")  # perhaps without a scheme


class YamlNode(Record):
    """A value and its position. An alias is the node it names, so a file that nests itself does not grow."""

    kind: str  # map, list, text, bool, int, float, null, date
    value: Any  # pairs of nodes, a list of nodes, or the scalar
    start: int
    end: int
    line: int
    column: int
    flow: bool = False  # written with { } or [ ]

    def __repr__(self) -> str:
        return f"{self.kind} in line {self.line}"  # never the contents: aliases can make them endless


class YamlEntry(Record):
    """A key of a mapping with its value."""

    key: YamlNode
    value: YamlNode

    @property
    def name(self) -> str:
        """Return the key as text."""
        return str(self.key.value)


class NotYamlError(Exception):
    """SearXNG could not read the text as YAML; line and column are where parsing stopped."""

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason, self.line, self.column = reason, line, column

    def at(self, name: str) -> str:
        """Return position and reason as findings show them."""
        return f"{name}:{self.line}:{self.column}: {self.reason}"


class YamlSource(Record):
    """A parsed file: its name as shown, its text and its root node."""

    name: str
    text: str
    root: YamlNode

    def at(self, place: YamlNode | int, remark: str = "") -> str:
        """Return a position as findings show it: file, line, and the line's text or a remark."""
        line = place if isinstance(place, int) else place.line
        return f"{self.name}:{line}: {remark or show_line(line_of(redact_values(self.text), line))}"


def line_of(text: str, number: int) -> str:
    """Return one line of a text, counted from 1 as YAML counts them."""
    lines = _lines(text)
    return lines[number - 1] if 0 < number <= len(lines) else ""


@lru_cache(maxsize=4)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(BREAKS.split(text))


def show_line(line: str) -> str:
    """Return a line that is safe to print: short, without control characters and secrets."""
    return clean(redact(line), 160, entities=False)


def redact(line: str) -> str:
    """Redact the secrets in a line."""
    return IN_URL.sub(r"\1…", SECRETS.sub(r"\1…", LOGIN.sub(r"\1…@", line)))


@lru_cache(maxsize=4)
def redact_values(text: str) -> str:
    """Redact the values of secrets in a text, also on the lines below their names; lines stay lines."""
    try:
        spans = sorted(_secret_spans(read_yaml(text)))
    except NotYamlError:
        return IN_URL.sub(r"\1…", SECRETS.sub(r"\1…", text))
    hidden = splice(text, [(start, end, re.sub(r"[^\s\"']+", "…", text[start:end])) for start, end in spans])
    return IN_URL.sub(r"\1…", hidden)


def _secret_spans(root: YamlNode) -> Iterator[tuple[int, int]]:
    """Yield the offsets of secret values at any depth; an alias counts where it was defined."""
    found, done = [(root, False)], set()
    for node, is_secret in found:
        is_known = (id(node), is_secret) in done
        done.add((id(node), is_secret))
        if node.kind == "map" and not is_known:
            found += [(value, is_secret or bool(SECRET_NAME.search(str(key.value)))) for key, value in node.value]
        elif node.kind == "list" and not is_known:
            found += [(child, is_secret) for child in node.value]
        elif is_secret and not is_known and node.kind != "bool" and node.value not in (None, "", DEFAULT_SECRET):
            yield node.start, node.end


@lru_cache(maxsize=4)  # --fix parses the same text several times
def read_yaml(text: str) -> YamlNode:
    """Parse one YAML document as SearXNG does (YAML 1.1), without constructing or expanding anything."""
    if len(text) > MAX_BYTES:
        raise NotYamlError(tr("it is larger than {size} characters", size=MAX_BYTES))
    if _is_deep(text):
        raise NotYamlError(tr("it is nested too deeply"))
    reader = _Reader(text)
    try:
        composed = _compose(text)
        root = reader.read(composed) if composed else YamlNode("null", None, len(text), len(text), 1, 0)
    except NotYamlError:
        raise
    except RecursionError as problem:
        raise NotYamlError(tr("it is nested too deeply")) from problem
    except Exception as problem:  # on malformed input the parser raises more than its own errors
        raise _explain(problem, text) from problem
    reader.refuse_tabs()
    return root


def _is_deep(text: str) -> bool:
    """Count brackets, even in comments: no real settings come near the limit."""
    depth = 0
    for match in re.finditer(r"[\[{\]}]", text):
        depth = depth + 1 if match[0] in "[{" else max(0, depth - 1)
        if depth > MAX_DEPTH:
            return True
    return False


def _compose(text: str) -> Any:
    import warnings

    from ruamel.yaml import YAML

    parser = YAML(typ="safe", pure=True)
    parser.version = (1, 1)  # where off, no and yes are booleans
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # repeated anchors are allowed
        return parser.compose(text)


def _explain(problem: Exception, text: str) -> NotYamlError:
    mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
    reason = clean(getattr(problem, "problem", None) or getattr(problem, "reason", None) or problem, 200)
    if "could not find expected ':'" in reason:  # reported for the line after the wrong one
        mark = getattr(problem, "context_mark", None) or mark
    if mark is not None:
        return NotYamlError(_reword(reason), mark.line + 1, mark.column + 1)
    position = getattr(problem, "position", None)
    if isinstance(position, int):
        before = BREAKS.split(text[:position])
        return NotYamlError(tr("control characters are not allowed"), len(before), len(before[-1]) + 1)
    return NotYamlError(reason or type(problem).__name__)


def _reword(reason: str) -> str:
    """Return the parser's message, reworded for common mistakes."""
    if "'\\t'" in reason or "'\t'" in reason:
        return tr("a tab where only spaces are allowed")
    if "mapping values are not allowed" in reason:
        return tr("a key where none is allowed: wrong indentation, or a missing space or quote")
    if "could not find expected ':'" in reason:
        return tr("a missing colon, or no space after it")
    if "but found another document" in reason:
        return tr("more than one YAML document")
    return tr("the indentation matches no line above") if "expected <block end>" in reason else reason


class _Reader:
    """Converts the parser's nodes into ours, each one once, however many aliases name it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.known: dict[int, YamlNode] = {}

    def read(self, node: Any) -> YamlNode:
        """Convert a node and those below it; a mapping or list is known before its children, which may refer to it."""
        if id(node) in self.known:
            return self.known[id(node)]
        tag = str(node.tag).rpartition(":")[2]
        values: list[Any] = []
        kind, value = _scalar(node.value, tag) if isinstance(node.value, str) else (COLLECTIONS.get(tag, ""), values)
        start, end = node.start_mark, node.end_mark
        if not kind:
            raise NotYamlError(tr("unknown tag {tag}", tag=clean(node.tag, 80)), start.line + 1, start.column + 1)
        flow = bool(getattr(node, "flow_style", False))
        found = YamlNode(kind, value, start.index, end.index, start.line + 1, start.column, flow)
        self.known[id(node)] = found
        if kind == "list":
            values += [self.read(child) for child in node.value]
        elif kind == "map":
            values += [self._pair(self.read(key), self.read(value)) for key, value in node.value]
        return found

    def refuse_tabs(self) -> None:
        """Raise an error for a tab between values: this parser allows it inside [ ], SearXNG's does not."""
        scalars = [(node.start, node.end) for node in self.known.values() if node.kind not in ("map", "list")]
        for position in (match.start() for match in re.finditer("\t", self.text)):
            lines = BREAKS.split(self.text[:position])
            if "#" not in lines[-1] and not any(start <= position < end for start, end in scalars):
                raise NotYamlError(tr("a tab where only spaces are allowed"), len(lines), len(lines[-1]) + 1)

    def _pair(self, key: YamlNode, value: YamlNode) -> YamlEntry:
        if key.kind in ("map", "list"):
            raise NotYamlError(tr("a key must be a scalar, not a list or a mapping"), key.line, key.column + 1)
        if value.kind == "null" and value.start == value.end:  # empty: point behind the colon
            colon = self.text.find(":", key.end, key.end + 20)
            place = colon + 1 if colon >= 0 and not self.text[key.end : colon].strip(" \"'") else key.end
            value = value._replace(start=place, end=place, line=key.line, column=key.column)
        return YamlEntry(key, value)


def _scalar(text: str, tag: str) -> tuple[str, Any]:
    """Return kind and value of a scalar; an empty kind for an unknown tag."""
    if tag == "bool":
        lower = text.lower()
        return ("text", text) if lower in ("y", "n") else ("bool", lower in TRUE_WORDS)  # as PyYAML does
    if tag in ("int", "float"):
        try:
            return tag, (int if tag == "int" else float)(text.replace("_", ""))
        except ValueError:
            return tag, text  # hexadecimal, octal, base 60: the value is not needed
    return SCALARS.get(tag, ""), None if tag == "null" else text


def entries(node: YamlNode, depth: int = 0) -> list[YamlEntry]:
    """Return the entries of a mapping, including those merged with `<<`; nothing for other nodes."""
    if node.kind != "map":
        return []
    own = [entry for entry in node.value if entry.name != "<<"]
    names = {entry.name for entry in own}
    for merge in (entry.value for entry in node.value if entry.name == "<<" and depth < MAX_MERGES):
        for base in merge.value[:MAX_BASES] if merge.kind == "list" else [merge]:
            own += [entry for entry in entries(base, depth + 1) if entry.name not in names]
    return own


def find(node: YamlNode, *names: str) -> YamlEntry | None:
    """Return the entry at a path of keys; of duplicate keys the last, which counts."""
    found = None
    for name in names:
        matching = [entry for entry in entries(node) if entry.key.kind == "text" and entry.name == name]
        if not matching:
            return None
        found = matching[-1]
        node = found.value
    return found


def duplicates(node: YamlNode) -> Iterator[tuple[YamlEntry, YamlEntry]]:
    """Yield each duplicate key of a mapping with the later one, which counts."""
    if node.kind != "map":
        return
    last = {entry.name: entry for entry in node.value}
    for entry in node.value:
        if last[entry.name].key.start != entry.key.start:
            yield entry, last[entry.name]
