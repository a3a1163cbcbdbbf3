"""Small changes to a YAML text at known places: everything else, comments and order above all, stays as it is."""

from collections.abc import Iterable

from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode
from sleuth_providers.records import Record


class Edit(Record):
    """A stretch of text and what comes in its place."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Make all edits that do not touch each other; of two that do, the earlier in the list is made."""
    chosen: list[Edit] = []
    for edit in edits:
        if all(edit.end < other.start or edit.start > other.end for other in chosen):
            chosen.append(edit)
    for edit in sorted(chosen, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def set_value(entry: YamlEntry, value: str) -> Edit:
    """Give a key another value, whatever it had."""
    node = entry.value
    if node.kind in ("map", "list") and not node.flow:
        return Edit(entry.key.end, last_place(node), f": {value}")
    if node.start == node.end:
        return Edit(node.start, node.end, f" {value}")
    return Edit(node.start, node.end, value)


def add_key(text: str, section: YamlEntry, key: str, value: str) -> tuple[Edit, ...]:
    """Add a key to a section that is a mapping or empty; the value is a scalar or in one line."""
    node = section.value
    if node.kind == "map" and node.flow:
        place = text.index("{", node.start) + 1
        return (Edit(place, place, f"{key}: {value}{', ' if node.value else ''}"),)
    if node.kind == "map":
        return (_below(text, last_place(node), " " * node.column, f"{key}: {value}"),)
    colon = text.find(":", section.key.end)
    cleared = (
        (Edit(colon + 1, node.end, ""),) if section.key.end <= colon < node.start < node.end else ()
    )  # a written null
    return (*cleared, _below(text, max(section.key.end, node.end), " " * (section.key.column + 2), f"{key}: {value}"))


def add_section(text: str, root: YamlNode, name: str, lines: Iterable[str]) -> Edit:
    """Add a section at the end of the file."""
    newline = newline_of(text)
    if root.kind == "map" and root.flow:
        place = text.index("{", root.start) + 1
        return Edit(place, place, f"{name}: {{{', '.join(lines)}}}{', ' if root.value else ''}")
    indent = " " * (root.column if root.kind == "map" else 0)
    body = newline.join([f"{indent}{name}:", *(f"{indent}  {line}" for line in lines)]) + newline
    place = _end_of_document(text, root)
    before = "" if place == 0 or text[place - 1] in "\r\n" else newline
    return Edit(place, place, before + (newline if text[:place].strip() else "") + body)


def add_first(text: str, root: YamlNode, line: str) -> Edit:
    """Put a line before everything else that is not a comment."""
    if root.kind != "map":
        return Edit(len(text), len(text), ("" if not text or text[-1] in "\r\n" else newline_of(text)) + line + "\n")
    if root.flow:
        place = text.index("{", root.start) + 1
        return Edit(place, place, f"{line}{', ' if root.value else ''}")
    newline = newline_of(text)
    return Edit(root.start, root.start, f"{line}{newline}{newline}{' ' * root.column}")


def add_item(text: str, node: YamlNode, item: str) -> Edit:
    """Add an item at the end of a list."""
    if node.flow:
        last = max((child.end for child in node.value if node.start < child.start < node.end), default=0)
        if last:
            return Edit(last, last, f", {item}")
        place = text.index("[", node.start) + 1
        return Edit(place, place, f"{item}, " if node.value else item)
    return _below(text, last_place(node), " " * node.column, f"- {item}")


def last_place(node: YamlNode, depth: int = 0) -> int:
    """Return where a value really ends: the parser counts the comments below a block as part of it."""
    if node.kind not in ("map", "list") or node.flow or not node.value or depth > 50:
        return node.end
    place = node.start
    for child in node.value:
        value = child.value if isinstance(child, YamlEntry) else child
        if isinstance(child, YamlEntry):
            place = max(place, child.key.end)
        if place <= value.start <= node.end:  # else it is an alias and stands elsewhere
            place = max(place, last_place(value, depth + 1))
    return place


def newline_of(text: str) -> str:
    """Return how lines end in a text."""
    return "\r\n" if "\r\n" in text else "\n"


def _below(text: str, place: int, indent: str, line: str) -> Edit:
    """Insert a line below the one a place is in."""
    newline = newline_of(text)
    if place and text[place - 1] == "\n":  # a block of text ends with its line
        return Edit(place, place, f"{indent}{line}{newline}")
    end = text.find("\n", place)
    if end < 0:
        return Edit(len(text), len(text), f"{newline}{indent}{line}")
    end -= newline == "\r\n" and text[end - 1] == "\r"
    return Edit(end, end, f"{newline}{indent}{line}")


def _end_of_document(text: str, root: YamlNode) -> int:
    """Return where a section can be appended: the end of the file, or before a line that ends the document."""
    place = last_place(root)
    while (place := text.find("\n", place) + 1) > 0:
        if text.startswith(("...", "---"), place):
            return place
    return len(text)


def remove_entry(text: str, node: YamlNode, entry: YamlEntry) -> tuple[Edit, ...]:
    """Take a key out of a mapping: cut out of { }, turned into a comment elsewhere."""
    end = max(entry.key.end, last_place(entry.value)) if entry.value.start >= entry.key.start else entry.key.end
    if not node.flow:
        start = text.rfind("\n", 0, entry.key.start) + 1
        stop = text.find("\n", end)
        lines = text[start : stop if stop >= 0 else len(text)].split("\n")
        return (Edit(start, start + len("\n".join(lines)), "\n".join(f"# {line}" for line in lines)),)
    later = [other.key.start for other in node.value if other.key.start > entry.key.start]
    if later:
        return (Edit(entry.key.start, min(later), ""),)
    comma = text.rfind(",", node.start, entry.key.start)
    return (Edit(comma if comma >= 0 else entry.key.start, end, ""),)
