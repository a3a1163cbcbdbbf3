"""`sleuth agents`: the entry is added and removed, and nothing else in the file changes."""

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pexpect
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from ruamel.yaml import YAML

from sleuth.base.errors import RequestError
from sleuth.commands.agents import AGENTS
from sleuth.serving.agent_files import SKILL, current_entry, with_entry

ENTRY = {"command": "sleuth", "args": ["mcp"]}
COMMENTED = """\
// my settings
{
    "theme": "One", // nice
    "servers": {
        /* the other one */
        "other": {"command": "x", "args": ["//no comment", "}"]}, // keep
    },
}
"""


@pytest.mark.parametrize("name", AGENTS)
def test_entry_is_installed_and_removed(make_sleuth: Any, tmp_path: Path, name: str) -> None:
    sleuth = make_sleuth(HOME=str(tmp_path), XDG_CONFIG_HOME="")
    done = sleuth("agents", "install", name, "--yes", "--provider", "searxng")
    assert done.exit == 0
    [item] = [item for item in sleuth("agents", "list", "--json").json["items"] if item["agent"] == name]
    assert (item["installed"], Path(item["file"]).is_relative_to(tmp_path)) == (True, True)
    text = Path(item["file"]).read_text()
    document = tomllib.loads(text) if item["file"].endswith(".toml") else json.loads(text)
    entry = document[AGENTS[name].section]["sleuth"]
    assert entry["args"] == ["mcp", "--provider", "searxng"]
    assert Path(entry["command"]).is_absolute()
    assert "+" in done.out
    assert "nothing to change" in sleuth("agents", "install", name, "--yes", "--provider", "searxng").err
    assert sleuth("agents", "remove", name, "--yes").exit == 0
    assert not any(item["installed"] for item in sleuth("agents", "list", "--json").json["items"])


JSON_FILES = ["", "{}", "{}\n", '{"SECTION": {}}\n', '{"a": 1}', '{\r\n  "a": 1\r\n}\r\n', "\n\n"]
JSON_FILES += ['{\n\t"a": 1, // why\n\t"SECTION": {\n\t\t"other": {"command": "x"},\n\t},\n}\n']
TOML_FILES = ["", "a = 1", "a = 1\n", '# mine\n[mcp_servers.other]\ncommand = "x" # why\n', "a = 1\r\n"]


@pytest.mark.parametrize("name", AGENTS)
def test_removal_restores_the_file_to_the_byte(make_sleuth: Any, tmp_path: Path, name: str) -> None:
    sleuth = make_sleuth(HOME=str(tmp_path), APPDATA=str(tmp_path / ".config"))
    [path] = [Path(one["file"]) for one in sleuth("agents", "list", "--json").json["items"] if one["agent"] == name]
    for text in TOML_FILES if path.suffix == ".toml" else JSON_FILES:
        before = text.replace("SECTION", AGENTS[name].section).encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)
        for options in ((), ("--provider", "searxng")):  # installed twice, with other options
            assert sleuth("agents", "install", name, "--yes", *options).exit == 0
            assert b"sleuth" in path.read_bytes()
        assert b"\n" not in path.read_bytes().replace(b"\r\n", b"") or b"\r" not in before
        assert sleuth("agents", "remove", name, "--yes").exit == 0
        assert (path.read_bytes() if path.exists() else b"") == before
    path.unlink(missing_ok=True)
    sleuth("agents", "install", name, "--yes")
    path.write_bytes(path.read_bytes() + b"\n")  # changed since: only the entry goes
    sleuth("agents", "remove", name, "--yes")
    assert b"sleuth" not in path.read_bytes()


def test_skill_comes_and_goes_with_the_entry(make_sleuth: Any, tmp_path: Path) -> None:
    sleuth, skill = make_sleuth(HOME=str(tmp_path)), tmp_path / ".claude" / "skills" / "sleuth" / "SKILL.md"
    sleuth("agents", "install", "claude", "--yes")
    assert skill.read_text() == SKILL
    assert YAML(typ="safe").load(SKILL.split("---")[1])["name"] == "sleuth"
    sleuth("agents", "remove", "claude", "--yes")
    assert not skill.exists()
    sleuth("agents", "install", "claude", "--yes")
    skill.write_text("mine")
    sleuth("agents", "remove", "claude", "--yes")
    assert skill.read_text() == "mine"


def test_file_of_a_project_names_no_path(make_sleuth: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert make_sleuth()("agents", "install", "vscode", "--project", "--yes").exit == 0
    found = json.loads((tmp_path / ".vscode" / "mcp.json").read_text())
    assert found == {"servers": {"sleuth": {"type": "stdio"} | ENTRY}}
    assert make_sleuth()("agents", "install", "windsurf", "--project").exit == 2


def test_comments_and_form_are_kept() -> None:
    added = with_entry("settings.json", COMMENTED, "servers", ENTRY)
    assert current_entry("settings.json", added, "servers") == ENTRY
    lines = added.splitlines()
    assert [line for line in COMMENTED.splitlines() if line not in lines] == []
    assert with_entry("settings.json", added, "servers", None) == COMMENTED
    other = with_entry("settings.json", added, "servers", ENTRY | {"args": ["mcp", "-n", "3"]})
    assert with_entry("settings.json", other, "servers", ENTRY) == added


def test_toml_keeps_comments() -> None:
    text = '# mine\nmodel = "x" # good\n\n[mcp_servers.other]\ncommand = "y"\n'
    added = with_entry("config.toml", text, "mcp_servers", ENTRY)
    assert added.startswith(text)
    assert tomllib.loads(added)["mcp_servers"] == {"other": {"command": "y"}, "sleuth": ENTRY}
    assert tomllib.loads(with_entry("config.toml", added, "mcp_servers", None)) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"servers": []}', '{"servers": 5}', "{'a': 1}", '{"a": 1//x\n}', "nonsense", "[" * 99_999, '{"a\\'],
)
def test_file_in_another_form_is_refused(make_sleuth: Any, tmp_path: Path, text: str) -> None:
    with pytest.raises(RequestError, match="safely"):
        with_entry("mcp.json", text, "servers", ENTRY)
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text(text.replace("servers", "mcpServers"))
    done = make_sleuth(HOME=str(tmp_path))("agents", "install", "cursor", "--yes")
    assert (done.exit, (tmp_path / ".cursor" / "mcp.json").read_text()) == (2, text.replace("servers", "mcpServers"))
    assert "sleuth handbook agents" in done.err


values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=9),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=150)
@given(some.dictionaries(some.sampled_from(["a", "servers", "}", "//", '"', "é"]), values, max_size=4), some.booleans())
def test_rest_of_any_file_stays_the_same(document: dict[str, Any], spread: bool) -> None:
    if not isinstance(document.get("servers", {}), dict):
        document["servers"] = {}
    text = json.dumps(document, indent=4 if spread else None, ensure_ascii=False)
    added = with_entry("mcp.json", text, "servers", ENTRY)
    assert json.loads(added) == document | {"servers": document.get("servers", {}) | {"sleuth": ENTRY}}
    removed = json.loads(with_entry("mcp.json", added, "servers", None))
    kept = {name: value for name, value in document.get("servers", {}).items() if name != "sleuth"}
    assert removed == document | {"servers": kept}


def test_mode_of_the_file_is_kept(make_sleuth: Any, tmp_path: Path) -> None:
    file = tmp_path / ".claude.json"
    file.write_text('{"secret": "x"}')
    file.chmod(0o640)
    make_sleuth(HOME=str(tmp_path))("agents", "install", "claude", "--yes")
    assert file.stat().st_mode & 0o777 == 0o640
    assert json.loads(file.read_text())["secret"] == "x"


def test_nothing_is_written_without_a_yes(make_sleuth: Any, tmp_path: Path) -> None:
    sleuth = make_sleuth(HOME=str(tmp_path))
    done = sleuth("agents", "install", "cursor")
    assert (done.exit, (tmp_path / ".cursor").exists()) == (2, False)
    assert "hint: to confirm, add --yes" in done.err
    for answer, exists in (("n", False), ("y", True)):
        words = ["-m", "sleuth", "agents", "install", "cursor"]
        terminal = pexpect.spawn(
            sys.executable, words, env=sleuth.environ | {"TERM": "dumb"}, encoding="utf-8", timeout=60
        )
        terminal.expect_exact("Apply this change? [y/N]")
        terminal.sendline(answer)
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert (tmp_path / ".cursor" / "mcp.json").exists() == exists


def test_unknown_agent_is_named(sleuth: Any) -> None:
    done = sleuth("agents", "install", "hal")
    assert done.exit == 2
    assert "claude, claude-desktop, codex" in done.err


def test_diff_of_a_foreign_project_shows_no_escapes_and_no_keys(
    sleuth: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = {"command": "x\x1b]0;title\x07\u202e", "env": {"API_KEY": "planted-0123456789"}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"other": other}}, indent=2, ensure_ascii=False))
    done = sleuth("agents", "install", "claude", "--project", "--yes")
    assert (done.exit, '+    "sleuth": {' in done.out) == (0, True)
    assert not {"\x1b", "\x07", "\u202e"} & {*done.out}
    assert "planted-0123456789" not in done.out
    assert json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["other"] == other


def test_settings_of_a_foreign_project_cannot_break_the_list(
    sleuth: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".mcp.json").write_text("[" * 99_999)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text("a = " + "[" * 99_999)
    assert sleuth("agents", "list", "--project").exit == 0


def test_diff_of_a_large_file_is_short_and_names_the_lines(make_sleuth: Any, tmp_path: Path) -> None:
    """Without the equal lines difflib has little to compare; with them it would take many minutes."""
    numbers = ",\n".join(str(number % 101) for number in range(200_000))
    (tmp_path / ".claude.json").write_text(f'{{\n"a": [\n{numbers}\n],\n"mcpServers": {{\n"b": {{}}\n}}\n}}\n')
    done = make_sleuth(HOME=str(tmp_path))("agents", "install", "claude", "--yes")
    assert done.exit == 0
    assert "@@ -200002,6 +200002,13 @@" in done.out
    assert len(done.out.splitlines()) < 60


@pytest.mark.parametrize("name", [".mcp.json", ".claude/skills/sleuth/SKILL.md", ".claude"])
def test_link_out_of_a_project_is_not_written_through(
    name: str, sleuth: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / name).parent.mkdir(parents=True)
    (project / name).symlink_to(outside)
    monkeypatch.chdir(project)
    done = sleuth("agents", "install", "claude", "--project", "--yes")
    assert (done.exit, "points outside the project" in done.err) == (2, True)
    assert not outside.exists()


def test_pipe_in_place_of_settings_is_refused(make_sleuth: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".claude.json")
    done = make_sleuth(HOME=str(tmp_path))("agents", "install", "claude", "--yes")
    assert (done.exit, "not a regular file" in done.err) == (2, True)
