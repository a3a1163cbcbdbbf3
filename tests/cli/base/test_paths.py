"""Files live where the platform wants them, or where SLEUTH_HOME and SLEUTH_CONFIG say."""

import os
import pwd
import sys
from pathlib import Path

import platformdirs
import pytest

from sleuth.base.paths import find_paths

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG folders")
XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """The real environment, as platformdirs sees it, without what would move things."""
    for name in (*XDG, "SLEUTH_HOME", "SLEUTH_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return dict(os.environ)


@linux_only
@pytest.mark.parametrize("value", [None, "", "  ", "/elsewhere", "/with blank/x", "/trailing/"])
@pytest.mark.parametrize("name", XDG)
def test_folders_are_the_same_as_with_platformdirs(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, name: str, value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv(name, value)
        environ[name] = value
    paths = find_paths(environ)
    assert [os.path.normpath(path) for path in (paths.config, paths.data, paths.cache, paths.state)] == [
        os.path.normpath(path)
        for path in (
            platformdirs.user_config_dir("sleuth", False),
            platformdirs.user_data_dir("sleuth", False),
            platformdirs.user_cache_dir("sleuth", False),
            platformdirs.user_state_dir("sleuth", False),
        )
    ]


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_other_systems_use_platformdirs(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert find_paths(environ).data == platformdirs.user_data_dir("sleuth", False)


def test_sleuth_home_moves_everything(environ: dict[str, str], tmp_path: Path) -> None:
    paths = find_paths(environ | {"SLEUTH_HOME": str(tmp_path / "one"), "XDG_CONFIG_HOME": "/elsewhere"})
    for name in ("config", "data", "cache", "state"):
        assert getattr(paths, name) == str(tmp_path / "one" / name)
    assert paths.config_file == str(tmp_path / "one/config/config.toml")
    assert paths.database == str(tmp_path / "one/data/sleuth.db")
    assert paths.library == str(tmp_path / "one/data/library.db")


def test_sleuth_config_names_the_file(environ: dict[str, str], tmp_path: Path) -> None:
    paths = find_paths(environ | {"SLEUTH_HOME": str(tmp_path / "one"), "SLEUTH_CONFIG": "/etc/sleuth.toml"})
    assert paths.config_file == "/etc/sleuth.toml"
    assert paths.config == str(tmp_path / "one/config")


def test_relative_paths_start_at_the_current_folder(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = find_paths(environ | {"SLEUTH_HOME": "here", "SLEUTH_CONFIG": "./mine.toml"})
    assert paths.config == str(tmp_path / "here/config")
    assert paths.config_file == str(tmp_path / "mine.toml")


def test_tilde_is_the_home_folder(environ: dict[str, str], tmp_path: Path) -> None:
    paths = find_paths(environ | {"SLEUTH_HOME": "~/s", "SLEUTH_CONFIG": "~/c.toml"})
    assert paths.data == str(tmp_path / "s/data")
    assert paths.config_file == str(tmp_path / "c.toml")


def test_empty_variables_count_as_absent(environ: dict[str, str]) -> None:
    assert vars(find_paths(environ | {"SLEUTH_HOME": "", "SLEUTH_CONFIG": ""})) == vars(find_paths(environ))


@linux_only
def test_missing_home_is_read_from_the_system(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    del environ["HOME"]
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert find_paths(environ).config == os.path.join(home, ".config/sleuth")


@linux_only
@pytest.mark.parametrize("value", ["relative/folder", "~/tilde", " /blank", "."])
def test_relative_xdg_folder_is_ignored(environ: dict[str, str], value: str) -> None:
    assert vars(find_paths(environ | dict.fromkeys(XDG, value))) == vars(find_paths(environ))


@linux_only
@pytest.mark.parametrize("home", [None, "", "relative"])
def test_current_folder_is_not_used_without_a_home(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    def nobody(_: int) -> None:
        raise KeyError("no such user")

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("HOME")
    del environ["HOME"]
    if home is not None:
        monkeypatch.setenv("HOME", home)
        environ["HOME"] = home
    assert all(os.path.isabs(path) for path in vars(find_paths(environ)).values())
