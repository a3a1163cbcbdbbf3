"""The wheel: built, installed into an empty environment, and run."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.live, pytest.mark.slow]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(target.glob("*.whl"))


def test_wheel_contains_two_packages_handbook_and_completions(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.startswith("sleuth-")} == {"sleuth", "sleuth_providers"}
    assert "sleuth/handbook/searxng.md" in names
    assert "sleuth/py.typed" in names
    assert [name for name in names if name.endswith("share/man/man1/sleuth.1")]
    assert [name for name in names if name.endswith("share/bash-completion/completions/sleuth")]
    assert not [name for name in names if name.startswith("tests") or name.endswith(".pyc")]


def test_installed_wheel_searches(wheel: Path, sleuth: Any, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, symlinks=True, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    # Without --ignore-installed, pip would first uninstall the project from the environment of the tests.
    installer = ["install", "--quiet", "--no-deps", "--ignore-installed", "--prefix", str(home), str(wheel)]
    if subprocess.run([sys.executable, "-m", "pip", *installer], capture_output=True).returncode:
        uv = ["uv", "pip", "install", "--quiet", "--no-deps", "--python", str(home / "bin" / "python"), str(wheel)]
        subprocess.run(uv, check=True, capture_output=True)  # environments created by uv have no pip
    # The dependencies come from the environment of the tests.
    dependencies = Path(sys.prefix) / "lib" / site.parent.name / "site-packages"
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    environ = {key: value for key, value in sleuth.environ.items() if key != "PYTHONPATH"}
    environ["PATH"] = f"{home / 'bin'}{os.pathsep}{environ['PATH']}"
    done = subprocess.run(
        [str(home / "bin" / "python"), "-c", "import sleuth, sys; print(sleuth.__file__)"],
        env=environ,
        capture_output=True,
        text=True,
    )
    assert str(home) in done.stdout
    command = [str(home / "bin" / "python"), "-m", "sleuth", "search", "--offline", "--json", "searxng 403"]
    found = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "handbook/searxng.md#" in found.stdout
    page = home / "share" / "man" / "man1" / "sleuth-search.1"
    assert page.exists()
