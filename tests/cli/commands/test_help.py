"""`--help` in the user's language."""

import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from sleuth.commands.fast.help import FOLDER

ENGLISH, CHINESE = (
    {path.name: path.read_text("utf-8") for path in Path(FOLDER, language).glob("*.txt")}
    for language in ("en", "zh_CN")
)
FRAMEWORK = re.compile(r"(Usage|Options|Arguments|Commands|\[OPTIONS|COMMAND \[|Examples?|default|required)")
# One sentence may name a few things in English: "JSON", "search -p library". More words in a row are not translated.
SENTENCE = re.compile(r"(?:\b[A-Za-z]+ ){3}[a-z]+")


def test_every_command_has_chinese_help() -> None:
    assert len(ENGLISH) > 40
    assert CHINESE.keys() == ENGLISH.keys()


def test_help_says_what_a_time_limit_is_for() -> None:
    limits = {
        name.removeprefix("sleuth-").removesuffix(".txt"): " ".join(found[1].split())
        for name, text in ENGLISH.items()
        if (found := re.search(r"--timeout S +(.*?)\s+\[0\.1", text, re.DOTALL))
    }
    search, page = "Time limit for a search, in seconds.", "Time limit for each page, in seconds."
    request, answer = "Time limit for each request, in seconds.", "Time limit for each search, in seconds"
    assert limits == {
        **dict.fromkeys(("search", "watch-run", "doctor", "mcp"), search),
        **dict.fromkeys(("ask", "chat"), f"{answer}; for the model: llm.timeout."),
        **dict.fromkeys(("providers-test", "providers-compare"), request),
        "read": page,
        "summarize": page.replace(".", "; for the model: llm.timeout."),
    }


@pytest.mark.parametrize("name", ENGLISH)
def test_chinese_help_has_no_english_sentence(name: str) -> None:
    lines = [line for line in CHINESE[name].splitlines() if line not in ENGLISH[name].splitlines()]  # not examples
    prose = [re.sub(r"`.*`|：[a-zA-Z_]+, .*", "", line) for line in lines]
    assert len(lines) > 3
    assert [line for line in prose if SENTENCE.search(line)] == []
    assert [line for line in prose if FRAMEWORK.search(line)] == []


@pytest.mark.parametrize("name", ENGLISH)
def test_chinese_help_fits_80_columns(name: str) -> None:
    too_long = [line for line in CHINESE[name].splitlines() if cell_len(line) > 80]
    assert [line for line in too_long if line not in ENGLISH[name].splitlines()] == []


@pytest.mark.parametrize("name", ENGLISH)
def test_chinese_help_has_the_same_options(name: str) -> None:
    option = re.compile(r"^  (-[^\u4e00-\u9fff]*?)(?:  |$)", re.MULTILINE)
    heading = re.compile(r"^\S.*[:：]$", re.MULTILINE)  # prose is above the first one
    lists = [heading.split(text, maxsplit=1)[-1] for text in (CHINESE[name], ENGLISH[name])]
    assert option.findall(lists[0]) == option.findall(lists[1])


@pytest.mark.parametrize("language", [{"LC_ALL": "zh_CN.UTF-8"}, {"LANG": "zh"}, {"SLEUTH_UI_LANGUAGE": "zh-CN"}])
def test_help_is_in_the_language_of_the_environment(make_sleuth: Any, language: dict[str, str]) -> None:
    sleuth = make_sleuth(PYTHONUTF8="1", **language)
    assert sleuth.process("config", "--help").out == CHINESE["sleuth-config.txt"]
    assert sleuth.process("--debug", "config", "--help", COLUMNS="80").out == CHINESE["sleuth-config.txt"]  # by Typer


def test_help_is_in_the_language_of_the_settings(make_sleuth: Any) -> None:
    sleuth = make_sleuth(PYTHONUTF8="1", COLUMNS="80")
    assert sleuth("config", "set", "ui.language", "zh-CN").exit == 0
    assert sleuth.process("config", "--help").out == CHINESE["sleuth-config.txt"]
    assert sleuth.process("config").out == CHINESE["sleuth-config.txt"]
    assert sleuth.process("config", "--help", SLEUTH_UI_LANGUAGE="en").out == ENGLISH["sleuth-config.txt"]


def test_help_needs_no_readable_settings(sleuth: Any) -> None:
    path = Path(sleuth("config", "path").out.strip())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[ui\nlanguage = 1")
    assert sleuth.process("config", "--help", COLUMNS="80").out == ENGLISH["sleuth-config.txt"]


@pytest.mark.parametrize("command", ["search", "cite"])
def test_options_fit_60_columns(sleuth: Any, command: str) -> None:
    out = sleuth.process(command, "--help", COLUMNS="60").out
    options = "".join(re.split(r"^Options:|^Query:", out, flags=re.MULTILINE)[1:])
    assert [line for line in options.splitlines() if len(line) > 60] == []


def test_narrow_terminal_has_room_for_descriptions(sleuth: Any) -> None:
    out = sleuth.process("search", "--help", COLUMNS="24").out
    assert "\n  --page N\n    Page of results to\n" in out
    assert "\n  --timeout S\n    Time limit for a\n" in out
