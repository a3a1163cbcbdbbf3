"""The completion scripts in real shells: bash and zsh in a terminal, fish by its own `complete -C`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from sleuth.store.settings import TABLE

pytestmark = pytest.mark.live

PROJECT = Path(__file__).parents[2]
SCRIPTS = PROJECT / "completions"
BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
OWN = "work-searxng"  # a provider that the user added
START, END = "\x01", "\x05"  # the keys that go to the start and the end of a line
POWERSHELL = shutil.which("pwsh")

# A line, and the same line after Tab.
UNIQUE = [
    ("sleuth prov", "sleuth providers"),
    ("sleuth config val", "sleuth config validate"),
    ("sleuth --color never prov", "sleuth --color never providers"),
    ("sleuth search --prov", "sleuth search --provider"),
    ("sleuth search --no-fall", "sleuth search --no-fallback"),
    ("sleuth search 大语言 --saf", "sleuth search 大语言 --safe"),
    ("sleuth providers list --de", "sleuth providers list --debug"),
    ("sleuth search --safe mod", "sleuth search --safe moderate"),
    ("sleuth search --safe=mod", "sleuth search --safe=moderate"),
    ("sleuth search -f mark", "sleuth search -f markdown"),
    ("sleuth search --freshness mon", "sleuth search --freshness month"),
    ("sleuth search -p tav", "sleuth search -p tavily"),
    ("sleuth search -p brave,tav", "sleuth search -p brave,tavily"),
    ("sleuth search -p work", f"sleuth search -p {OWN}"),
    ("sleuth search --provider=brave,work", f"sleuth search --provider=brave,{OWN}"),
    ("sleuth search --fields title,ur", "sleuth search --fields title,url"),
    ("sleuth providers show work", f"sleuth providers show {OWN}"),
    ("sleuth providers test brave tav", "sleuth providers test brave tavily"),
    ("sleuth providers set tavily --api-key env:KEY --ty", "sleuth providers set tavily --api-key env:KEY --type"),
    ("sleuth config get websearch.max_r", "sleuth config get websearch.max_results"),
    ("sleuth config set ui.theme da", "sleuth config set ui.theme dark"),
    ("sleuth config set websearch.default_provider work", f"sleuth config set websearch.default_provider {OWN}"),
    ("sleuth config set websearch.fallback brave,tav", "sleuth config set websearch.fallback brave,tavily"),
    ("sleuth search -o readable", "sleuth search -o readable.txt"),
    ("sleuth search --output=readable", "sleuth search --output=readable.txt"),
    ("sleuth completions pow", "sleuth completions powershell"),
]

# Lines without completions.
NOTHING = [
    "sleuth search readable",  # search words are not files
    "sleuth search prov",  # nor commands
    "sleuth search -- --prov",
    "sleuth search -n 1",
    "sleuth search -p tavily,tav",  # a list has no duplicates
    "sleuth providers list tav",
    "sleuth nonsense li",
]

# A line, and all its completions.
ALL = [
    ("sleuth config ", {"show", "get", "set", "unset", "edit", "path", "validate"}),
    ("sleuth completions ", {"bash", "zsh", "fish", "powershell"}),
    ("sleuth search --category ", {"general", "news", "images", "videos", "science", "it", "books"}),
    ("sleuth config set websearch.safe_search ", {"off", "moderate", "strict"}),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a `sleuth` to run, a home with a provider that the user added, and a file."""
    folder = tmp_path_factory.mktemp("completions")
    (folder / "bin").mkdir()
    (folder / "here").mkdir()
    (folder / "here" / "readable.txt").touch()
    paths = os.pathsep.join(str(PROJECT / root) for root in ("cli", "providers"))
    make_program(folder / "bin", f'PYTHONPATH="{paths}" exec "{sys.executable}" -m sleuth "$@"')
    add = ["providers", "add", "--id", OWN, "--adapter", "searxng", "--api-host", "http://127.0.0.1:1"]
    subprocess.run([folder / "bin" / "sleuth", *add], env=environ(folder), check=True, capture_output=True)
    return folder


def make_program(folder, line):
    (folder / "sleuth").write_text(f"#!/bin/sh\n{line}\n")
    (folder / "sleuth").chmod(0o755)


def environ(folder):
    return {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "SLEUTH_HOME": str(folder / "home"),
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
    }


def needs(shell):
    return shutil.which(shell) or pytest.skip(f"{shell} is not installed")


class Terminal:
    """A shell in a terminal. It writes completed words to a file, because its screen is full of escape sequences."""

    def __init__(self, folder, program, arguments, setup, every):
        self.file = folder / "words"
        self.every = every  # the keys that insert all completions
        self.shell = pexpect.spawn(
            needs(program),
            arguments,
            env=environ(folder),
            cwd=str(folder / "here"),
            encoding="utf-8",
            dimensions=(50, 200),
            timeout=20,
        )
        self.shell.delaybeforesend = None
        self.shell.sendline(f"{setup}; echo re''ady")
        self.shell.expect("ready\r\n")

    def complete(self, line, keys="\t"):
        """Type a line and the keys, and return the words of the completed line."""
        self.file.unlink(missing_ok=True)
        partial = f"{self.file}.partial"
        self.shell.send(f"{line}{keys}{START}printf '%s\\n' {END} >{partial}; mv {partial} {self.file}\r")
        while not self.file.exists():  # pytest's timeout ends a shell that hangs
            try:
                self.shell.read_nonblocking(100_000, 0.02)  # a shell blocks when its output is not read
            except pexpect.TIMEOUT:
                continue
        return self.file.read_text().splitlines()

    def offers(self, line):
        """Type a line and return all its completions."""
        return set(self.complete(line, self.every)[len(line.split()) :])

    def close(self):
        self.shell.close(force=True)


@pytest.fixture(scope="module", params=["bash", "bash-completion", "bash-few-breaks", "zsh", "zsh-sourced"])
def terminal(request, place):
    """The shells that need a terminal, in the usual set-ups."""
    zsh = (
        "autoload -Uz compinit; compinit -D -u; LISTMAX=1000; "
        "zle -C every complete-word _generic; bindkey '^Xa' every; "
        "zstyle ':completion:every::::' completer _all_matches _complete; zstyle ':completion:every:*' insert true"
    )
    bash = f"set -u; source {SCRIPTS}/sleuth.bash; bind 'set bell-style none'"
    if request.param == "bash-completion" and not BASH_COMPLETION.exists():
        pytest.skip("bash-completion is not installed")
    made = {
        "bash": lambda: Terminal(place, "bash", ["--norc", "--noprofile"], bash, "\x1b*"),
        "bash-few-breaks": lambda: Terminal(
            place, "bash", ["--norc", "--noprofile"], f"COMP_WORDBREAKS=${{COMP_WORDBREAKS//[=:]}}; {bash}", "\x1b*"
        ),
        "bash-completion": lambda: Terminal(
            place, "bash", ["--norc", "--noprofile"], f"source {BASH_COMPLETION}; {bash}", "\x1b*"
        ),
        "zsh": lambda: Terminal(place, "zsh", ["-f", "-i"], f"fpath=({SCRIPTS} $fpath); {zsh}", "\x18a"),
        "zsh-sourced": lambda: Terminal(place, "zsh", ["-f", "-i"], f"{zsh}; source {SCRIPTS}/_sleuth", "\x18a"),
    }[request.param]()
    yield made
    made.close()


@pytest.mark.parametrize(("line", "completed"), UNIQUE)
def test_shell_completes_a_unique_prefix(terminal, line, completed):
    assert terminal.complete(line) == completed.split()


@pytest.mark.parametrize("line", NOTHING)
def test_shell_offers_nothing_where_there_is_no_completion(terminal, line):
    assert terminal.complete(line) == line.split()


@pytest.mark.parametrize(("line", "offered"), ALL)
def test_shell_offers_every_completion(terminal, line, offered):
    assert terminal.offers(line) == offered


def test_shell_offers_built_in_providers_and_those_of_the_user(terminal):
    assert {OWN, "brave", "searxng", "library", "auto", "all"} <= terminal.offers("sleuth search -p ")


def fish(folder, line):
    """Return what fish offers for a line: text and description."""
    script = f"source {SCRIPTS}/sleuth.fish; complete -C {line!r}"
    done = subprocess.run(
        [needs("fish"), "--no-config", "-c", script],
        env=environ(folder),
        cwd=folder / "here",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return dict(entry.partition("\t")[::2] for entry in done.stdout.splitlines())


@pytest.mark.parametrize(("line", "completed"), UNIQUE)
def test_fish_completes_a_unique_prefix(place, line, completed):
    assert list(fish(place, line)) == [completed.split()[-1]]


@pytest.mark.parametrize("line", NOTHING)
def test_fish_offers_nothing_where_there_is_no_completion(place, line):
    assert fish(place, line) == {}


@pytest.mark.parametrize(("line", "offered"), ALL)
def test_fish_offers_every_completion(place, line, offered):
    assert set(fish(place, line)) == offered


def test_fish_describes_what_it_offers(place):
    assert fish(place, "sleuth comp") == {"completions": "Print the completion script for a shell."}
    assert fish(place, "sleuth config get websearch.max_r") == {
        "websearch.max_results": TABLE["websearch.max_results"].meaning
    }


def test_zsh_describes_what_it_offers(place):
    setup = f"fpath=({SCRIPTS} $fpath); autoload -Uz compinit; compinit -D -u"
    terminal = Terminal(place, "zsh", ["-f", "-i"], setup, "")
    terminal.shell.send("sleuth c\t")
    terminal.shell.expect(r"completions +-- Print the completion script for a shell\.")
    terminal.close()


if POWERSHELL:  # a skipped test would be a skip on nearly every machine

    @pytest.mark.parametrize(("line", "completed"), [pair for pair in UNIQUE if "readable" not in pair[0]])
    def test_powershell_completes_a_unique_prefix(place, line, completed):
        script = (
            f". '{SCRIPTS}/sleuth.ps1'; $found = TabExpansion2 '{line}' {len(line)}; "
            "foreach ($match in $found.CompletionMatches) { "
            f"'{line}'.Substring(0, $found.ReplacementIndex) + $match.CompletionText }}"
        )
        words = [POWERSHELL, "-NoProfile", "-NonInteractive", "-Command", script]
        done = subprocess.run(words, env=environ(place), capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.splitlines() == [completed]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_line_stays_as_it_is_when_sleuth_fails(tmp_path, shell):
    (tmp_path / "bin").mkdir()
    (tmp_path / "here").mkdir()
    make_program(tmp_path / "bin", "echo 'error: broken' >&2; exit 1")
    if shell == "fish":
        assert fish(tmp_path, "sleuth search -p tav") == {}
        return
    setup = {
        "bash": f"source {SCRIPTS}/sleuth.bash",
        "zsh": f"fpath=({SCRIPTS} $fpath); autoload -Uz compinit; compinit -D -u",
    }
    arguments = {"bash": ["--norc", "--noprofile"], "zsh": ["-f", "-i"]}
    terminal = Terminal(tmp_path, shell, arguments[shell], setup[shell], "")
    assert terminal.complete("sleuth search -p tav") == ["sleuth", "search", "-p", "tav"]
    terminal.close()
