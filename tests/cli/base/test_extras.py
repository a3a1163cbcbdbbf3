"""The hint for a missing extra installs its packages into the environment of the running sleuth."""

import sys
from pathlib import Path

import pytest

from sleuth.base.extras import MODULES, install_command, upgrade_command


@pytest.mark.parametrize("extra", MODULES)
def test_command_names_the_packages_and_never_sleuth(extra: str, tmp_path: Path) -> None:
    command = install_command(extra, str(tmp_path))
    assert command.startswith(f"{sys.executable} -m pip install ")
    assert "sleuth" not in command.removeprefix(sys.executable)


def test_command_fits_the_installer(tmp_path: Path) -> None:
    home = tmp_path / "venvs" / "sleuth"
    home.mkdir(parents=True)
    (home / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.5.1\n")
    assert install_command("keyring", str(home)) == f"uv pip install --python {sys.executable} 'keyring>=25'"
    (home / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (home / "uv-receipt.toml").touch()
    assert install_command("keyring", str(home)).startswith("uv pip install --python ")
    (home / "pipx_metadata.json").touch()
    assert install_command("keyring", str(home)) == "pipx inject sleuth 'keyring>=25'"


def test_upgrade_comes_from_the_source(tmp_path: Path) -> None:
    assert upgrade_command(str(tmp_path)) == f"{sys.executable} -m pip install --upgrade ."
    (tmp_path / "uv-receipt.toml").touch()
    assert upgrade_command(str(tmp_path)) == "uv tool install --force ."
    (tmp_path / "pipx_metadata.json").touch()
    assert upgrade_command(str(tmp_path)) == "pipx install --force ."


def test_no_text_tells_people_to_install_sleuth_from_an_index() -> None:
    root = Path(__file__).parents[3]
    folders = [root / "cli", root / "providers", root / "docs"]
    texts = [path for folder in folders for kind in ("py", "md", "toml") for path in folder.rglob(f"*.{kind}")]
    assert [path for path in (*texts, root / "README.md") if "install 'sleuth[" in path.read_text()] == []
