"""`sleuth agents`: add sleuth to the settings of agents, and remove it again."""

import errno
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff
from typing import Annotated, Any

import typer

from sleuth.base import logs
from sleuth.base.errors import RequestError
from sleuth.base.files import explain_unwritable, private_folder, unreadable, write_atomic
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.base.text import pad, width
from sleuth.commands.terminal.questions import confirm
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.runtime import Runtime
from sleuth.serving.agent_files import SKILL, current_entry, with_entry
from sleuth_providers.records import Record

app = make_app("Set up sleuth in AI agents: install, remove, list.")

MAX_FILE_BYTES = 10_000_000
CONTEXT_LINES = 3  # around a change that is shown


class AgentClient(Record):
    """Where an agent keeps its MCP servers. Paths begin with ~ or with {app}, the folder of settings of programs."""

    title: str
    user_file: str
    project_file: str = ""  # below the root of a project; empty if it has none
    section: str = "mcpServers"
    extra: Mapping[str, Any] = {}  # fields of the entry besides command and args
    skill: str = ""  # file, in the home folder and in a project


STDIO = {"type": "stdio"}
AGENTS = {
    "claude": AgentClient(
        "Claude Code", "~/.claude.json", ".mcp.json", extra=STDIO, skill=".claude/skills/sleuth/SKILL.md"
    ),
    "claude-desktop": AgentClient("Claude Desktop", "{app}/Claude/claude_desktop_config.json"),
    "codex": AgentClient("Codex", "~/.codex/config.toml", ".codex/config.toml", "mcp_servers"),
    "cursor": AgentClient("Cursor", "~/.cursor/mcp.json", ".cursor/mcp.json"),
    "gemini": AgentClient("Gemini CLI", "~/.gemini/settings.json", ".gemini/settings.json"),
    "vscode": AgentClient("VS Code", "{app}/Code/User/mcp.json", ".vscode/mcp.json", "servers", STDIO),
    "windsurf": AgentClient("Windsurf", "~/.codeium/windsurf/mcp_config.json"),
    "zed": AgentClient("Zed", "~/.config/zed/settings.json", ".zed/settings.json", "context_servers"),
}

Edit = Callable[[str, str], str | None]  # from path and text to the new text; None deletes the file
Name = Annotated[str, typer.Argument(metavar="AGENT", help="Agent: " + ", ".join(AGENTS) + ".")]
Project = Annotated[bool, typer.Option("--project", help="Use the settings of the project in the current folder.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before writing.")]


@app.command(epilog="Example: sleuth agents install claude", options=("providers",))
def install(
    runtime: Runtime, agent: Name, project: Project = False, yes: Yes = False, *, providers: list[str] | None
) -> None:
    """Add sleuth to the MCP servers of an agent; shows the change and asks first.

    For agents that support skills, a skill that explains when and how to search is added, too. Restart the agent
    afterwards.
    """
    client = _find(agent)
    # Desktop programs do not have the PATH of a shell; a project is shared with people whose paths differ.
    command = "sleuth" if project else shutil.which("sleuth") or os.path.abspath(sys.argv[0])
    options = [word for id in providers or () for word in ("--provider", id)]
    entry = {**client.extra, "command": command, "args": ["mcp", *options]}
    path = _settings_file(runtime, client, project)
    undo = UndoFile(runtime)
    files: dict[str, Edit] = {
        path: lambda path, text: with_entry(path, undo.original(path, text), client.section, entry)
    }
    if skill := _skill_file(runtime, client, project):
        files[skill] = lambda path, text: SKILL
    _change(runtime, files, yes, undo)


@app.command(epilog="Example: sleuth agents remove claude")
def remove(runtime: Runtime, agent: Name, project: Project = False, yes: Yes = False) -> None:
    """Remove sleuth from the MCP servers of an agent; shows the change and asks first."""
    client, undo = _find(agent), UndoFile(runtime)

    def without(path: str, text: str) -> str | None:
        if undo.applies(path, text):
            return undo.original(path, text) or None
        return with_entry(path, text, client.section, None) if current_entry(path, text, client.section) else text

    files: dict[str, Edit] = {_settings_file(runtime, client, project): without}
    skill = _skill_file(runtime, client, project)
    if skill and _read(skill) == SKILL:  # a skill that was edited belongs to the user
        files[skill] = lambda path, text: None
    _change(runtime, files, yes)


@app.command("list", epilog="Example: sleuth agents list")
def list_agents(runtime: Runtime, project: Project = False, as_json: Json = False) -> None:
    """List supported agents and whether sleuth is installed in each."""
    found = []
    for name, client in AGENTS.items():
        if project and not client.project_file:
            continue
        path = _settings_file(runtime, client, project)
        entry = current_entry(path, _read(path), client.section)
        found.append({"agent": name, "name": client.title, "file": path, "installed": entry is not None})
    if as_json:
        write_json({"items": found}, runtime.stdout)
        return
    names, states = max(map(len, AGENTS)), width(tr("installed"))
    for item in found:
        state = tr("installed") if item["installed"] else "-"
        print(f"{item['agent']:<{names}}  {pad(state, states)}  {item['file']}", file=runtime.stdout)


class UndoFile:
    """What `install` changed in each file, so that `remove` can restore it byte for byte.

    Text that did not change, such as the keys in an agent's settings, is not stored.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.path = os.path.join(runtime.paths.state, "agents.json")
        try:
            self.known: dict[str, Any] = json.loads(_read(self.path) or "{}")
        except ValueError:
            self.known = {}

    def applies(self, path: str, text: str) -> bool:
        """Tell whether a file is as `install` left it."""
        return bool(self.known.get(path, {}).get("sha256") == _digest(text))

    def original(self, path: str, text: str) -> str:
        """Return the text that a file had before, or the given text if it was changed since."""
        if not self.applies(path, text):
            return text
        change = self.known[path]
        return str(text[: change["start"]] + change["old"] + text[len(text) - change["rest"] :])

    def remember(self, path: str, old: str, new: str) -> None:
        """Save how to get from the new text of a file to the old one."""
        old = self.original(path, old)
        start = _common_length(old, new)
        rest = _common_length(old[start:][::-1], new[start:][::-1])
        self.known[path] = {"sha256": _digest(new), "start": start, "rest": rest, "old": old[start : len(old) - rest]}
        private_folder(os.path.dirname(self.path))
        write_atomic(self.path, json.dumps(self.known).encode())


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the beginning that two texts, or lists of lines, have in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, pair in pairs if pair[0] != pair[1]), min(len(one), len(other)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _find(name: str) -> AgentClient:
    if name not in AGENTS:
        raise RequestError("unknown agent {name!r}", "use one of: {names}", name=name, names=", ".join(AGENTS))
    return AGENTS[name]


def _settings_file(runtime: Runtime, client: AgentClient, project: bool) -> str:
    if not project:
        return os.path.normpath(client.user_file.replace("~", _home(runtime), 1).format(app=_app_folder(runtime)))
    if not client.project_file:
        raise RequestError("{agent} has no per-project settings", "omit --project", agent=client.title)
    return _in_project(client.project_file)


def _skill_file(runtime: Runtime, client: AgentClient, project: bool) -> str:
    if not client.skill:
        return ""
    return _in_project(client.skill) if project else os.path.join(_home(runtime), client.skill)


def _in_project(name: str) -> str:
    """Return the path of a file in the current folder; raise for a link that leads out, as a project may contain."""
    if os.path.relpath(os.path.realpath(name), os.path.realpath(".")).startswith(os.pardir):
        raise RequestError("{path} points outside the project", "remove the link", path=name)
    return os.path.abspath(name)


def _home(runtime: Runtime) -> str:
    return runtime.environ.get("USERPROFILE" if os.name == "nt" else "HOME") or os.path.expanduser("~")


def _app_folder(runtime: Runtime) -> str:
    """Return the folder in which programs keep their settings."""
    if os.name == "nt":
        return runtime.environ.get("APPDATA") or os.path.join(_home(runtime), "AppData", "Roaming")
    if sys.platform == "darwin":
        return os.path.join(_home(runtime), "Library", "Application Support")
    return runtime.environ.get("XDG_CONFIG_HOME") or os.path.join(_home(runtime), ".config")


def _read(path: str) -> str:
    try:
        if os.path.exists(path) and (not os.path.isfile(path) or os.path.getsize(path) > MAX_FILE_BYTES):
            raise OSError(errno.EINVAL, "not a regular file, or too large")
        with open(path, encoding="utf-8", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeError) as problem:
        raise unreadable(path, problem, "check the file") from problem


def _change(runtime: Runtime, files: Mapping[str, Edit], yes: bool, undo: UndoFile | None = None) -> None:
    """Show what changes in the files, ask, and write them."""
    changes = {path: (old, edit(path, old)) for path, edit in files.items() for old in [_read(path)]}
    changes = {path: (old, new) for path, (old, new) in changes.items() if old != new}
    if not changes:
        runtime.note(tr("nothing to change"))
        return
    for path, (old, new) in changes.items():
        # The file may be from a stranger's project, and name keys of other servers near the change.
        lines = _diff(path, old.splitlines(), (new or "").splitlines())
        print("\n".join(line[:1] + logs.safe(line[1:]) for line in lines), file=runtime.stdout)
    if not yes:
        confirm(runtime, tr("Apply this change? [y/N] "))
    for path, (old, new) in changes.items():
        if undo and new:
            undo.remember(path, old, new)
        _write(path, new)
        print(logs.safe(tr("deleted {path}" if new is None else "changed {path}", path=path)), file=runtime.stderr)


def _diff(path: str, old: list[str], new: list[str]) -> list[str]:
    """Return the change of a file; lines far from it are left out first, as difflib takes quadratic time."""
    start = max(_common_length(old, new) - CONTEXT_LINES, 0)
    rest = max(_common_length(old[start:][::-1], new[start:][::-1]) - CONTEXT_LINES, 0)
    old, new = old[start : len(old) - rest], new[start : len(new) - rest]
    lines = list(unified_diff(old, new, path, path, n=len(old), lineterm=""))
    return [*lines[:2], f"@@ -{start + 1},{len(old)} +{start + 1},{len(new)} @@", *lines[3:]]


def _write(path: str, text: str | None) -> None:
    with explain_unwritable(path):
        if text is None:
            os.unlink(path)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o600
    write_atomic(path, text.encode(), mode)
