"""A key is a value, or where to find one: the environment, a command, the keyring. Looking where runs nothing."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sleuth.base.errors import Exit, MissingExtraError, SettingsError
from sleuth.store import keys
from sleuth.store.keys import find_keys, fingerprint, origin, resolve
from sleuth.store.provider_table import ProviderRow
from sleuth_providers.base import Provider


class Brave(Provider):
    """A provider whose key may come from two variables."""

    id = "brave"
    env = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")


BRAVE = Brave()


def row(api_key: str | None = None) -> ProviderRow:
    return ProviderRow("brave", "Brave", "api", api_key, None, (), False, None, None, 0, 0, True, {}, "brave", True)


@pytest.mark.parametrize(
    ("stored", "environ", "found", "source"),
    [
        (None, {}, [], None),
        ("", {}, [], None),
        ("abc", {}, ["abc"], "table"),
        ("abc", {"BRAVE_API_KEY": "other"}, ["abc"], "table"),
        ("a, b ,,c,", {}, ["a", "b", "c"], "table"),
        (" , ", {}, [], "table"),
        (None, {"BRAVE_API_KEY": "  "}, [], None),
        (None, {"BRAVE_API_KEY": ",", "BRAVE_SEARCH_API_KEY": "abc"}, ["abc"], "BRAVE_SEARCH_API_KEY"),
        ("env:MY_KEY", {"MY_KEY": " "}, [], None),
        ("env:MY_KEY", {"MY_KEY": "abc"}, ["abc"], "env:MY_KEY"),
        ("env:MY_KEY", {"MY_KEY": "a,b"}, ["a", "b"], "env:MY_KEY"),
        ("env:MY_KEY", {}, [], None),
        ("env:MY_KEY", {"MY_KEY": "", "BRAVE_API_KEY": "other"}, [], None),
        (None, {"BRAVE_API_KEY": "abc"}, ["abc"], "BRAVE_API_KEY"),
        (None, {"BRAVE_SEARCH_API_KEY": "abc"}, ["abc"], "BRAVE_SEARCH_API_KEY"),
        (None, {"BRAVE_API_KEY": "first", "BRAVE_SEARCH_API_KEY": "second"}, ["first"], "BRAVE_API_KEY"),
        (None, {"BRAVE_API_KEY": "", "BRAVE_SEARCH_API_KEY": "second"}, ["second"], "BRAVE_SEARCH_API_KEY"),
        (None, {"BRAVE_API_KEY": "a,b"}, ["a", "b"], "BRAVE_API_KEY"),
        ("with:colon", {}, ["with:colon"], "table"),
    ],
)
def test_keys_come_from_the_table_or_the_environment(
    stored: str | None, environ: dict[str, str], found: list[str], source: str | None
) -> None:
    assert find_keys(row(stored), BRAVE, environ) == found
    assert origin(row(stored), BRAVE, environ) == source


def test_key_comes_from_a_command() -> None:
    assert find_keys(row("cmd:printf ' abc\\n'"), BRAVE, {}) == ["abc"]
    assert find_keys(row("cmd:echo a,b"), BRAVE, {}) == ["a", "b"]


def test_command_is_run_without_a_shell(tmp_path: Path) -> None:
    assert find_keys(row(f"cmd:echo 'x y' > {tmp_path}/z; $HOME"), BRAVE, {}) == [f"x y > {tmp_path}/z; $HOME"]
    assert list(tmp_path.iterdir()) == []


def test_command_has_no_stdin() -> None:
    assert find_keys(row("cmd:cat"), BRAVE, {}) == []


@pytest.mark.parametrize(
    "command",
    [
        "false",
        "sh -c 'echo secret-in-output; exit 3'",
        "/no/such/program --token secret-in-output",
        "'unclosed",
        "",
        " ",
    ],
)
def test_failing_command_is_reported_without_its_arguments(command: str) -> None:
    with pytest.raises(SettingsError, match="the command for the key of brave failed") as caught:
        find_keys(row(f"cmd:{command}"), BRAVE, {})
    assert caught.value.exit == Exit.INVALID
    assert "secret-in-output" not in f"{caught.value} {caught.value.hint} {caught.value.values}"


def test_hanging_command_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "COMMAND_TIMEOUT_S", 0.1)
    with pytest.raises(SettingsError, match=r"did not end within 0\.1 s: sh"):
        find_keys(row("cmd:sh -c 'sleep 600; echo late'"), BRAVE, {})


def test_output_that_is_not_utf8_is_decoded() -> None:
    assert find_keys(row("cmd:printf '\\377abc'"), BRAVE, {}) == ["\ufffdabc"]


@pytest.mark.parametrize("stored", ["cmd:touch {mark}", "keyring:"])
def test_origin_of_a_key_runs_no_command(tmp_path: Path, stored: str) -> None:
    mark = tmp_path / "mark"
    assert origin(row(stored.format(mark=mark)), BRAVE, {}) == stored.partition(":")[0]
    assert not mark.exists()


def test_key_in_the_environment_is_not_interpreted(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    assert find_keys(row(), BRAVE, {"BRAVE_API_KEY": f"cmd:touch {mark}"}) == [f"cmd:touch {mark}"]
    assert find_keys(row("env:MY_KEY"), BRAVE, {"MY_KEY": "env:OTHER"}) == ["env:OTHER"]
    assert not mark.exists()


def test_missing_keyring_package_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(MissingExtraError, match="keyring") as caught:
        find_keys(row("keyring:"), BRAVE, {})
    assert "pip install" in str(caught.value.values["install"])
    assert caught.value.exit == Exit.INVALID


@pytest.mark.parametrize(
    ("stored", "asked"),
    [("keyring:", ("sleuth", "brave")), ("keyring:work/me", ("work", "me")), ("keyring:work", ("work", "api-key"))],
)
def test_keyring_entry_is_read_by_name(monkeypatch: pytest.MonkeyPatch, stored: str, asked: tuple[str, str]) -> None:
    entries = {asked: "abc"}
    fake = SimpleNamespace(get_password=lambda service, user: entries.get((service, user)))
    monkeypatch.setitem(sys.modules, "keyring", fake)
    assert find_keys(row(stored), BRAVE, {}) == ["abc"]
    assert find_keys(row("keyring:no/body"), BRAVE, {}) == []


def test_locked_keyring_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: str) -> str:
        raise RuntimeError("locked")

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=refuse))
    with pytest.raises(SettingsError, match="the key of brave from the system keyring"):
        find_keys(row("keyring:"), BRAVE, {})


def test_other_secrets_are_resolved_the_same_way() -> None:
    assert resolve("abc", {}, "sleuth/llm") == "abc"
    assert resolve("env:X", {"X": "abc"}, "sleuth/llm") == "abc"
    assert resolve("cmd:echo abc", {}, "sleuth/llm") == "abc"
    assert resolve("", {}, "sleuth/llm") == ""


def test_fingerprints_differ_and_do_not_reveal_the_key() -> None:
    one, two = fingerprint("brave", "key-number-one"), fingerprint("brave", "key-number-two")
    assert one != two
    assert one == fingerprint("brave", "key-number-one")
    assert one.startswith("brave#")
    assert "key" not in one
    assert fingerprint("brave", "\udcff\ud800")
