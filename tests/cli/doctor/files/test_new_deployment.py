"""`sleuth searxng init`: the files it writes, what it refuses, and its output."""

import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from sleuth.doctor.files.settings import check_settings

FILES = [".env", "core-config/settings.yml", "docker-compose.yml"]


def written(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("options", [(), ("--limiter",), ("--port", "8888"), ("--port", "8888", "--limiter")])
def test_written_deployment_passes_every_check(options: tuple[str, ...], sleuth: Any, tmp_path: Path) -> None:
    done = sleuth("searxng", "init", str(tmp_path / "s"), *options)
    assert done.exit == 0, done.err
    findings = check_settings(str(tmp_path / "s" / "core-config" / "settings.yml"))
    assert [finding for finding in findings if finding.state != "ok"] == []
    limiter = ["core-config/limiter.toml"] if "--limiter" in options else []
    assert written(tmp_path / "s") == sorted(FILES + limiter)


def test_files_are_private_whatever_the_umask(sleuth: Any, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        sleuth("searxng", "init", str(tmp_path / "s"), "--limiter")
    finally:
        os.umask(before)
    for path in [tmp_path / "s", *(tmp_path / "s").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_each_deployment_has_its_own_secret_and_does_not_print_it(sleuth: Any, tmp_path: Path) -> None:
    secrets = set()
    for name in ("one", "two"):
        done = sleuth("searxng", "init", str(tmp_path / name))
        secret = re.search("SEARXNG_SECRET=([0-9a-f]{64})\n", (tmp_path / name / ".env").read_text())
        assert secret
        assert secret[1] not in done.out + done.err
        secrets.add(secret[1])
    assert len(secrets) == 2


def test_commands_to_start_verify_and_restart_are_on_stdout(sleuth: Any, tmp_path: Path) -> None:
    folder = tmp_path / "my searxng"
    done = sleuth("searxng", "init", str(folder), "--port", "8899")
    lines = done.out.splitlines()
    assert f"cd '{folder}'" in lines
    assert "docker compose up -d" in lines
    assert "curl -s 'http://127.0.0.1:8899/search?format=json'" in lines
    assert "sleuth providers set searxng --api-host http://127.0.0.1:8899" in lines
    assert "docker compose restart core" in lines
    assert "977" in done.err
    assert '- "127.0.0.1:8899:8080"' in (folder / "docker-compose.yml").read_text()


def test_default_port_needs_no_setting_in_sleuth(sleuth: Any, tmp_path: Path) -> None:
    out = sleuth("searxng", "init", str(tmp_path / "s")).out
    assert "--api-host" not in out
    assert "sleuth doctor http://127.0.0.1:8080" in out.splitlines()


@pytest.mark.parametrize("there", FILES)
def test_nothing_is_overwritten_without_force(there: str, sleuth: Any, tmp_path: Path) -> None:
    path = tmp_path / "s" / there
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    done = sleuth("searxng", "init", str(tmp_path / "s"))
    assert done.exit == 2
    assert str(path) in done.err
    assert "--force" in done.err
    assert written(tmp_path / "s") == [there]
    assert path.read_text() == "mine"
    assert sleuth("searxng", "init", str(tmp_path / "s"), "--force").exit == 0
    assert path.read_text() != "mine"
    assert written(tmp_path / "s") == FILES


def test_existing_limiter_file_matters_only_with_the_limiter(sleuth: Any, tmp_path: Path) -> None:
    (tmp_path / "s" / "core-config").mkdir(parents=True)
    (tmp_path / "s" / "core-config" / "limiter.toml").write_text("")
    assert sleuth("searxng", "init", str(tmp_path / "s"), "--limiter").exit == 2
    assert sleuth("searxng", "init", str(tmp_path / "s")).exit == 0


def test_existing_folder_keeps_its_other_files(sleuth: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert sleuth("searxng", "init", str(tmp_path)).exit == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("x", "--port", "0"), ("x", "--port", "70000")])
def test_invalid_arguments_are_refused(
    arguments: tuple[str, ...], sleuth: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    done = sleuth("searxng", "init", *arguments)
    assert done.exit == 2
    assert written(tmp_path) == []


def test_folder_that_cannot_be_created_is_an_error(sleuth: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("file", "file/s"):
        done = sleuth("searxng", "init", str(tmp_path / folder))
        assert (done.exit, "hint: choose another folder" in done.err) == (2, True)


def test_link_of_the_container_is_replaced_and_not_its_target(sleuth: Any, tmp_path: Path) -> None:
    sleuth("searxng", "init", str(tmp_path / "s"))
    settings, other = tmp_path / "s" / "core-config" / "settings.yml", tmp_path / "other"
    settings.unlink()
    settings.symlink_to(other)
    other.write_text("mine")
    assert sleuth("searxng", "init", str(tmp_path / "s"), "--force").exit == 0
    assert (other.read_text(), settings.is_symlink()) == ("mine", False)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_replaced_file_goes_to_the_user_of_the_container(sleuth: Any, tmp_path: Path) -> None:
    folder = tmp_path / "s" / "core-config"
    sleuth("searxng", "init", str(tmp_path / "s"))
    os.chown(folder, 977, 977)  # as the container does on its first start
    sleuth("searxng", "init", str(tmp_path / "s"), "--force")
    assert (folder / "settings.yml").stat().st_uid == 977
    assert (tmp_path / "s" / ".env").stat().st_uid == 0
