"""The generated files are up to date, complete, and accepted by the programs that read them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.programs import needs
from tools import command_tree, fast_tables, man_pages
from tools.generate import INSTALLED, generate, stale, write
from typer.main import get_command

from sleuth.base.errors import Exit
from sleuth.commands.app import app
from sleuth.commands.completions import FILES
from sleuth.store.settings import TABLE

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def commands():
    return command_tree.read(get_command(app))


@pytest.fixture(scope="module")
def files():
    return generate(PROJECT)


@pytest.fixture
def pages(files, tmp_path):
    """The man pages, written to a folder."""
    for name, text in files.items():
        if name.startswith("man/"):
            (tmp_path / Path(name).name).write_text(text, encoding="utf-8")
    return sorted(tmp_path.iterdir())


def run(*words, **environ):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, **environ})
    return done.returncode, done.stdout + done.stderr


def page_of(command, files):
    """The man page that describes a command: the one of its group."""
    return unescaped(files["man/" + "-".join(command.path.split(" ")[:2]) + ".1"])


def unescaped(page):
    for sign, escape in man_pages.ESCAPES.items():
        page = page.replace(escape, sign) if sign != "…" else page
    return page.replace("\\&", "")


def section_of(command, files):
    chapter = files["docs/commands.md"].replace("\\|", "|")
    return re.search(rf"^## {command.path}\n(.*?)(?=^## |\Z)", chapter, re.MULTILINE | re.DOTALL)[1]


def test_everything_committed_is_up_to_date(files):
    assert stale(files, PROJECT) == [], "run: python -m tools.generate"


def test_check_does_not_depend_on_the_environment(tmp_path):
    source = os.pathsep.join(str(PROJECT / root) for root in ("cli", "providers"))
    environ = {
        "COLUMNS": "40",
        "LC_ALL": "zh_CN.UTF-8",
        "SLEUTH_UI_LANGUAGE": "zh-CN",
        "HOME": str(tmp_path),
        "SLEUTH_HOME": str(tmp_path / "elsewhere"),
        "SLEUTH_WEBSEARCH_MAX_RESULTS": "9",
        "FORCE_COLOR": "1",
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": source,
    }
    assert run(sys.executable, "-m", "tools.generate", "--check", **environ) == (0, "")


def test_check_names_what_is_stale(tmp_path):
    files = {"man/sleuth.1": "new", "docs/commands.md": "same"}
    (tmp_path / "man").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "man/sleuth.1").write_text("old")
    (tmp_path / "man/sleuth-gone.1").write_text("a command that was removed")
    (tmp_path / "docs/commands.md").write_text("same")
    assert stale(files, tmp_path) == ["man/sleuth-gone.1", "man/sleuth.1"]
    write(files, tmp_path)
    assert stale(files, tmp_path) == []
    assert not (tmp_path / "man/sleuth-gone.1").exists()


def test_a_wheel_installs_every_page_and_script(files):
    targets = tomllib.loads(files["pyproject.toml"])["tool"]["hatch"]["build"]["targets"]
    pages = {name: f"share/man/man{name[-1]}/{Path(name).name}" for name in files if name.startswith("man/")}
    assert targets["wheel"]["shared-data"] == pages | INSTALLED
    assert "share/man/man5/sleuth-config.5" in pages.values()


@pytest.mark.parametrize("shell", FILES)
def test_completions_prints_the_script(sleuth, shell):
    done = sleuth("completions", shell)
    assert (done.exit, done.err) == (0, "")
    assert done.out == (PROJECT / "completions" / FILES[shell]).read_text()


def test_completions_says_how_to_install(sleuth, capsys):
    assert sleuth("completions", "--help").exit == 0
    help = capsys.readouterr().out  # Typer writes help to the process's own stdout
    assert "share/bash-completion/completions/sleuth" in help
    assert all(shell in help for shell in FILES)


def test_completions_refuses_an_unknown_shell(sleuth):
    assert sleuth("completions", "csh").exit == Exit.INVALID


def test_every_command_and_option_is_documented(commands, files):
    overview, first = unescaped(files["man/sleuth.1"]), section_of(commands.root, files)
    for command in commands.root.walk():
        page, section = page_of(command, files), section_of(command, files)
        assert command.path in page
        for example in command.examples:
            assert example in page
            assert example in section
        for option in command.options:
            anywhere = option in commands.anywhere
            for flag in option.flags + option.negative:
                assert f"Fl {flag[1:]}" in (overview if anywhere else page)
                assert f"`{flag}" in (first if anywhere else section)
        for argument in command.arguments:
            assert f"Ar {argument.metavar}" in page
            assert argument.metavar in section


def test_every_command_and_option_is_completed(commands, files):
    table = files[f"{fast_tables.FOLDER}/en/completions.tsv"]
    rows = [line.split("\t") for line in table.splitlines()]
    assert all(len(row) == 5 for row in rows)
    names = {(row[0], name) for row in rows for name in row[2].split()}
    for command in commands.root.walk():
        for option in command.options:
            path = "*" if option in commands.anywhere else command.path
            assert {(path, flag) for flag in option.flags + option.negative} <= names
        assert {(command.path, below.name) for below in command.commands} <= names
    assert {("", key) for key in TABLE} <= names
    assert {("", id) for id in commands.providers} <= names


def test_every_exit_code_has_a_meaning(files):
    assert list(man_pages.MEANINGS) == list(Exit)
    assert all(f".It {code.value}\n" in files["man/sleuth.1"] for code in Exit)


def test_every_setting_is_in_its_page(files):
    page = unescaped(files["man/sleuth-config.5"])
    assert all(f".It Va {key}\n" in page and f".Ev {setting.variable} ." in page for key, setting in TABLE.items())


@needs("mandoc")
def test_mandoc_has_no_warning(pages):
    assert run("mandoc", "-Tlint", "-W", "warning", *map(str, pages)) == (0, "")


@needs("man")
def test_man_shows_the_pages_without_a_warning(pages):
    for page in pages:
        done = subprocess.run(
            ["man", "--warnings", "-l", str(page)],
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "TERM": "dumb"},
        )
        assert (done.returncode, done.stderr) == (0, "")
        if page.name == "sleuth-search.1":
            assert "大语言模型" in done.stdout
            assert "--freshness day|week|month|year|7d|FROM..TO" in done.stdout


def test_special_characters_are_escaped():
    assert man_pages._fill("It is 'so'. .Or -n \\ not") == "It is \\(aqso\\(aq.\n\\&.Or \\-n \\e not"
    assert man_pages._word("Op") == "\\&Op"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_reads_the_script(shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    assert run(shell, "-n", str(PROJECT / "completions" / FILES[shell])) == (0, "")
