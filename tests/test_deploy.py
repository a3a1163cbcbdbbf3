"""deploy/ is consistent: every service is hardened and checked, and its options and settings exist in sleuth."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from typer.main import get_command

from sleuth.commands.serve import app
from sleuth.store.settings import TABLE

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = YAML(typ="safe").load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_hardened_and_checked(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    # The binary in the image has this file capability as effective: the kernel refuses to run it without.
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    if "image" in service:
        assert re.search(r":\d", service["image"]), "the version is pinned"
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"]), "not root"


def test_several_servers_wait_for_cache_and_search_engine() -> None:
    assert SERVICES["sleuth"]["deploy"]["replicas"] >= 2
    assert set(SERVICES["sleuth"]["depends_on"]) == {"searxng", "valkey"}
    places = json.dumps(SERVICES["sleuth"]["environment"])
    assert all(f"//{name}:" in places for name in ("searxng", "valkey"))
    assert COMPOSE["secrets"].keys() == set(SERVICES["sleuth"]["secrets"])


def test_mounted_files_exist() -> None:
    mounted = [volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])]
    assert sorted(mounted) == ["./Caddyfile", "./searxng-settings.yml"]
    assert all((ROOT / "deploy" / name).is_file() for name in mounted)


def test_options_and_settings_exist() -> None:
    command: Any = get_command(app)
    words = [re.sub(r"\$\{\w+:-(.*)\}", r"\1", word) for word in SERVICES["sleuth"]["command"][1:]]
    assert command.make_context("serve", words).params["token_file"] == "/run/secrets/tokens"
    variables = {setting.variable for setting in TABLE.values()}
    assert {name for name in SERVICES["sleuth"]["environment"] if name.startswith("SLEUTH_")} <= variables


def test_image_runs_as_an_ordinary_user_and_is_checked() -> None:
    final = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", final, re.MULTILINE)
    assert "HEALTHCHECK" in final
    assert "ADD " not in DOCKERFILE
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) == ["python:3.13-slim"] * 2
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [installed] = re.findall(r"/src\[([\w,]+)\]", DOCKERFILE)
    assert set(installed.split(",")) <= set(extras)
    words = json.loads(re.findall(r"^CMD (.*)$", final, re.MULTILINE)[-1])
    get_command(app).make_context("serve", words[1:])


def test_image_is_built_from_what_the_wheel_needs_and_nothing_else() -> None:
    """Keys, tokens and virtual environments in the folder must not reach the builder."""
    ignored, *kept = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored == "*"
    names = {name.removeprefix("!") for name in kept}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = build["tool"]["hatch"]["build"]["targets"]["wheel"]
    sources = [*wheel["packages"], *wheel["force-include"], *wheel["shared-data"], wheel["hooks"]["custom"]["path"]]
    project = build["project"]
    assert names == {path.partition("/")[0] for path in sources} | {
        "pyproject.toml",
        project["readme"],
        *project["license-files"],
    }


def test_search_engine_answers_programs() -> None:
    settings = YAML(typ="safe").load((ROOT / "deploy" / "searxng-settings.yml").read_text(encoding="utf-8"))
    assert "json" in settings["search"]["formats"]
    assert settings["server"]["limiter"] is False
