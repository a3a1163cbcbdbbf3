"""The command tree as data: commands, options and the completions of values."""

from typing import Annotated, Literal

import pytest
import typer
from tools import command_tree
from typer.main import get_command

from sleuth.commands.app import COMMANDS, app
from sleuth.commands.fast.parser import CommandLine
from sleuth.store.settings import TABLE
from sleuth_providers import registry

EPILOG = "Install:\n\n\b\n  a   b\n    c\n\nExample: sleuth one -n 5"


@pytest.fixture(scope="module")
def real():
    return command_tree.read(get_command(app))


@pytest.fixture(scope="module")
def sample():
    """A small app, so that these tests do not depend on the real commands."""
    sample_app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @sample_app.command(epilog=EPILOG)
    def one(
        folder: Annotated[str, typer.Argument(metavar="DIR", help="Where.")],
        words: Annotated[list[str] | None, typer.Argument(help="What.")] = None,
        count: Annotated[int, typer.Option("--count", "-n", min=1, max=50, metavar="N", help="How\nmany.")] = 5,
        keep: Annotated[bool, typer.Option("--keep/--drop")] = True,
        mode: Annotated[Literal["a", "b"] | None, typer.Option()] = None,
        when: Annotated[str | None, typer.Option(metavar="day|week|FROM..TO")] = None,
        tag: Annotated[list[str] | None, typer.Option()] = None,
        output: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    ) -> None:
        """Do one thing.

        More of it,
        on two lines.
        """

    @sample_app.callback()
    def main() -> None:
        """Show what a tree is read from."""

    return command_tree.read(get_command(sample_app)).root


def options(command):
    return {option.name: option for option in command.options}


def test_command_has_path_short_and_full_help(sample):
    (one,) = sample.commands
    assert one.path == "sleuth one"
    assert one.short == "Do one thing."
    assert [part.text for part in one.help] == ["Do one thing.", "More of it, on two lines."]


def test_epilog_is_split_into_examples_and_notes(sample):
    (one,) = sample.commands
    assert one.examples == ("sleuth one -n 5",)
    assert one.notes == (command_tree.Paragraph("Install:"), command_tree.Paragraph("a   b\n  c", literal=True))


def test_option_has_flags_metavar_default_and_range(sample):
    count = options(sample.commands[0])["--count"]
    assert count.flags == ("-n", "--count")
    assert (count.metavar, count.default, count.bounds, count.help) == ("N", "5", "1 to 50", "How many.")
    assert command_tree.details(count) == "How many. From 1 to 50. Default: 5."


def test_flag_with_an_opposite_names_its_default(sample):
    keep = options(sample.commands[0])["--keep"]
    assert (keep.negative, keep.default, keep.metavar) == (("--drop",), "--keep", "")


def test_values_come_from_choices_metavars_and_files(sample):
    found = options(sample.commands[0])
    assert found["--mode"].completes == command_tree.Values(("a", "b"))
    assert found["--when"].completes == command_tree.Values(("day", "week"))
    assert found["--output"].completes.source == command_tree.FILE
    assert found["--tag"].completes == command_tree.Values()
    assert found["--tag"].repeatable


def test_arguments_may_repeat(sample):
    folder, words = sample.commands[0].arguments
    assert (folder.usage, folder.completes.source) == ("DIR", command_tree.DIRECTORY)
    assert (words.usage, words.repeatable) == ("[WORDS]...", True)


def test_every_command_of_the_table_is_in_the_tree(real):
    assert [command.name for command in real.root.commands] == list(COMMANDS)
    assert all(command.short and command.help for command in real.root.walk())


def test_options_allowed_anywhere_are_the_global_flags_of_the_parser(real):
    names = [option.name for option in real.root.options]
    assert sorted(n for n in names if CommandLine(["search", n]).global_flags) == sorted(command_tree.ANYWHERE)
    assert {option.name for option in real.anywhere} == {*command_tree.ANYWHERE, "--help"}


def test_providers_keys_and_values_of_settings_are_completed(real):
    by_path = {command.path: command for command in real.root.walk()}
    provider = options(by_path["sleuth search"])["--provider"]
    assert provider.completes == command_tree.Values(("auto", "all"), command_tree.PROVIDERS, comma=True)
    assert by_path["sleuth providers show"].arguments[0].completes.source == command_tree.PROVIDERS
    assert "auto" in by_path["sleuth providers use"].arguments[0].completes.words
    key, value = by_path["sleuth config set"].arguments
    assert (key.completes.source, value.completes.source) == (command_tree.KEYS, command_tree.SETTING)
    assert by_path["sleuth completions"].arguments[0].completes.words == ("bash", "zsh", "fish", "powershell")


def test_settings_offer_their_choices_and_providers(real):
    keys = {key.name: key for key in real.keys}
    assert list(keys) == list(TABLE)
    assert keys["websearch.safe_search"].completes.words == ("off", "moderate", "strict")
    assert keys["websearch.fallback"].completes == command_tree.Values((), command_tree.PROVIDERS, comma=True)


def test_built_in_providers_do_not_depend_on_what_else_is_installed(real):
    registry.add("plug-in", lambda: None)
    try:
        assert command_tree.built_in_providers() == real.providers
        assert {"brave", "searxng", "library"} <= set(real.providers)
    finally:
        registry._added.pop("plug-in")
