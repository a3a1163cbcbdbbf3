"""Edits to YAML text at known positions; comments, order and everything else stay as they are."""

from collections.abc import Iterable

from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode
from sleuth.doctor.finding import Edit


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits; of two that overlap, the earlier in the list wins."""
    chosen: list[Edit] = []
    for edit in edits:
        if all(edit.end < other.start or edit.start > other.end for other in chosen):
            chosen.append(edit)
    for edit in sorted(chosen, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def set_value(entry: YamlEntry, value: str) -> Edit:
    """Replace the value of a key."""
    node = entry.value
    if node.kind in ("map", "list") and not node.flow:
        return Edit(entry.key.end, end_of(node), f": {value}")
    return Edit(node.start, node.end, value if node.start < node.end else f" {value}")


def add_key(text: str, section: YamlEntry, key: str, value: str) -> tuple[Edit, ...]:
    """Add a key to a section that is a mapping or empty; the value is on one line."""
    node = section.value
    if node.kind == "map" and node.flow:
        return (_insert_first(text, node, "{", f"{key}: {value}"),)
    if node.kind == "map":
        return (_below(text, end_of(node), " " * node.column, f"{key}: {value}"),)
    colon = text.find(":", section.key.end)
    is_null = section.key.end <= colon < node.start < node.end  # written as null or ~
    return (
        *([Edit(colon + 1, node.end, "")] if is_null else []),
        _below(text, max(section.key.end, node.end), " " * (section.key.column + 2), f"{key}: {value}"),
    )


def add_section(text: str, root: YamlNode, name: str, lines: Iterable[str]) -> Edit:
    """Add a section at the end of the file."""
    newline = newline_of(text)
    if root.kind == "map" and root.flow:
        return _insert_first(text, root, "{", f"{name}: {{{', '.join(lines)}}}")
    indent = " " * (root.column if root.kind == "map" else 0)
    body = newline.join([f"{indent}{name}:", *(f"{indent}  {line}" for line in lines)]) + newline
    place = _end_of_document(text, root)
    before = "" if place == 0 or text[place - 1] in "\r\n" else newline
    return Edit(place, place, before + (newline if text[:place].strip() else "") + body)


def add_first(text: str, root: YamlNode, line: str) -> Edit:
    """Insert a line before the first key."""
    if root.kind != "map":
        return Edit(len(text), len(text), ("" if not text or text[-1] in "\r\n" else newline_of(text)) + line + "\n")
    if root.flow:
        return _insert_first(text, root, "{", line)
    newline = newline_of(text)
    return Edit(root.start, root.start, f"{line}{newline}{newline}{' ' * root.column}")


def add_item(text: str, node: YamlNode, item: str) -> Edit:
    """Add an item at the end of a list."""
    if node.flow:
        last = max((child.end for child in node.value if node.start < child.start < node.end), default=0)
        return Edit(last, last, f", {item}") if last else _insert_first(text, node, "[", item)
    return _below(text, end_of(node), " " * node.column, f"- {item}")


def _insert_first(text: str, node: YamlNode, bracket: str, item: str) -> Edit:
    place = text.index(bracket, node.start) + 1
    return Edit(place, place, f"{item}{', ' if node.value else ''}")


def end_of(node: YamlNode, depth: int = 0) -> int:
    """Return where a value ends; the parser counts comments below a block as part of it."""
    if node.kind not in ("map", "list") or node.flow or not node.value or depth > 50:
        return node.end
    place = node.start
    for child in node.value:
        value = child.value if isinstance(child, YamlEntry) else child
        if isinstance(child, YamlEntry):
            place = max(place, child.key.end)
        if place <= value.start <= node.end:  # otherwise it is an alias, defined elsewhere
            place = max(place, end_of(value, depth + 1))
    return place


def newline_of(text: str) -> str:
    """Return the line ending of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def _below(text: str, place: int, indent: str, line: str) -> Edit:
    """Insert a line below the one at a position."""
    newline = newline_of(text)
    if place and text[place - 1] == "\n":  # a block of text ends with its line
        return Edit(place, place, f"{indent}{line}{newline}")
    end = text.find("\n", place)
    if end < 0:
        return Edit(len(text), len(text), f"{newline}{indent}{line}")
    end -= newline == "\r\n" and text[end - 1] == "\r"
    return Edit(end, end, f"{newline}{indent}{line}")


def _end_of_document(text: str, root: YamlNode) -> int:
    """Return where to append a section: the end of the file, or before a document end marker."""
    place = end_of(root)
    while (place := text.find("\n", place) + 1) > 0:
        if text.startswith(("...", "---"), place):
            return place
    return len(text)


def remove_entry(text: str, node: YamlNode, entry: YamlEntry) -> tuple[Edit, ...]:
    """Remove a key from a mapping: cut out of { }, commented out elsewhere."""
    end = max(entry.key.end, end_of(entry.value)) if entry.value.start >= entry.key.start else entry.key.end
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
