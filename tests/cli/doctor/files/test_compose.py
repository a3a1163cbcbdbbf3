"""Checks of a compose file next to the settings: variables, ports and mounts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sleuth.doctor.files.environment import Variable, interpolate
from sleuth.doctor.files.settings import check_settings, fix_settings
from sleuth.doctor.finding import Finding

SECRET = "a-long-random-text-of-my-own"
SETTINGS = "use_default_settings: true\nsearch: {formats: [html, json]}\nserver: {limiter: false}\n"
COMPOSE = """\
services:
  core:
    image: searxng/searxng:latest
    restart: always
    ports:
      - "127.0.0.1:8080:8080"
    env_file: ./.env
    volumes:
      - ./core-config/:/etc/searxng/
"""
VALKEY = "  valkey:\n    container_name: my-valkey\n    image: valkey/valkey:9-alpine\n"
# SearXNG's own template publishes on all interfaces and lets .env change that.
UPSTREAM_PORT = "${SEARXNG_HOST:+${SEARXNG_HOST}:}${SEARXNG_PORT:-8080}:${SEARXNG_PORT:-8080}"

Check = Callable[..., list[Finding]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Give a function that checks settings in core-config next to a compose file and .env."""

    def run(
        compose: str = COMPOSE, settings: str = SETTINGS, env: str | None = f"SEARXNG_SECRET={SECRET}\n"
    ) -> list[Finding]:
        (tmp_path / "core-config").mkdir(exist_ok=True)
        (tmp_path / "core-config" / "settings.yml").write_text(settings)
        (tmp_path / "docker-compose.yml").write_text(compose)
        if env is not None:
            (tmp_path / ".env").write_text(env)
        return check_settings(str(tmp_path / "core-config" / "settings.yml"))

    return run


def problems(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(f.id, f.state, f.evidence) for f in findings if f.state in ("warn", "fail")]


def with_line(line: str) -> str:
    return f"{COMPOSE}{line}\n"


def test_good_deployment_passes(check: Check) -> None:
    findings = check()
    assert not problems(findings)
    assert {"compose.ports", "compose.volumes", "compose.env_file", "compose.restart"} <= {f.id for f in findings}
    assert all(f.state == "ok" for f in findings)


MISTAKES = {
    "open to all": (COMPOSE.replace("127.0.0.1:8080:", "8080:"), "compose.ports", "warn", 6),
    "open to all, spelt out": (COMPOSE.replace("127.0.0.1", "0.0.0.0"), "compose.ports", "warn", 6),
    "open to all, IPv6": (COMPOSE.replace("127.0.0.1", "[::]"), "compose.ports", "warn", 6),
    "open to all, as upstream": (COMPOSE.replace("127.0.0.1:8080:8080", UPSTREAM_PORT), "compose.ports", "warn", 6),
    "open to all, long form": (
        COMPOSE.replace('"127.0.0.1:8080:8080"', "{target: 8080, published: 8080}"),
        "compose.ports",
        "warn",
        6,
    ),
    "wrong port inside": (COMPOSE.replace(":8080:8080", ":8888:8888"), "compose.ports", "fail", 6),
    "no port": (COMPOSE.replace('    ports:\n      - "127.0.0.1:8080:8080"\n', ""), "compose.ports", "warn", 2),
    "network of the host": (with_line("    network_mode: host"), "compose.ports", "warn", 10),
    "file that is missing": (
        COMPOSE.replace("./core-config/:/etc/searxng/", "./settings.yml:/etc/searxng/settings.yml"),
        "compose.volumes",
        "fail",
        9,
    ),
    "file by itself": (
        COMPOSE.replace("./core-config/:/etc/searxng/", "./core-config/settings.yml:/etc/searxng/settings.yml:ro"),
        "compose.volumes",
        "warn",
        9,
    ),
    "read only": (COMPOSE.replace("/etc/searxng/", "/etc/searxng/:ro"), "compose.volumes", "warn", 9),
    "other folder": (COMPOSE.replace("./core-config/", "./searxng/"), "compose.volumes", "warn", 9),
    "named volume": (COMPOSE.replace("./core-config/", "config"), "compose.volumes", "warn", 9),
    "nothing mounted": (COMPOSE.replace(":/etc/searxng/", ":/var/cache/searxng"), "compose.volumes", "fail", 8),
    "uwsgi.ini": (with_line("      - ./uwsgi.ini:/etc/searxng/uwsgi.ini"), "compose.volumes", "warn", 10),
    "capabilities": (with_line("    cap_drop: [ALL]"), "compose.capabilities", "warn", 10),
    "some capabilities": (
        with_line("    cap_drop: [ALL]\n    cap_add: [CHOWN, SETGID, SETUID]"),
        "compose.capabilities",
        "warn",
        10,
    ),
    "no restart": (COMPOSE.replace("    restart: always\n", ""), "compose.restart", "warn", 2),
    "restart no": (COMPOSE.replace("always", "no"), "compose.restart", "warn", 4),
    "curl in health check": (
        with_line('    healthcheck: {test: ["CMD", "curl", "-f", "http://localhost:8080"]}'),
        "compose.healthcheck",
        "warn",
        10,
    ),
    "old image": (COMPOSE.replace("searxng/searxng", "searx/searx"), "compose.service", "warn", 3),
    "old variable": (with_line("    environment: [UWSGI_WORKERS=4]"), "environment.variables", "warn", 10),
    "old variable, mapping": (
        with_line("    environment:\n      BASE_URL: http://a/"),
        "environment.variables",
        "warn",
        11,
    ),
    "switch": (with_line("    environment: {SEARXNG_LIMITER: 'no'}"), "environment.variables", "fail", 10),
    "not YAML": (COMPOSE.replace("    ports", "\tports"), "compose.file", "fail", 5),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_found_at_its_line(name: str, check: Check) -> None:
    compose, id, state, line = MISTAKES[name]
    findings = check(compose)
    found = problems(findings)
    assert any(f[:2] == (id, state) and f[2].startswith(f"docker-compose.yml:{line}:") for f in found), found
    for finding in findings:
        if finding.state in ("warn", "fail"):
            assert finding.cause
            assert finding.fix
            assert finding.link.startswith("searxng.md#")


@pytest.mark.parametrize(
    "compose",
    [
        COMPOSE.replace('"127.0.0.1:8080:8080"', "127.0.0.1:8888:8080/tcp"),
        COMPOSE.replace("127.0.0.1", "[::1]"),
        COMPOSE.replace("127.0.0.1", "192.168.1.10"),
        COMPOSE.replace('"127.0.0.1:8080:8080"', "{host_ip: 127.0.0.1, target: 8080, published: 8080}"),
        COMPOSE.replace("./core-config/:/etc/searxng/", "./core-config:/etc/searxng:Z"),
        COMPOSE.replace(
            "./core-config/:/etc/searxng/", "{type: bind, source: ./core-config, target: /etc/searxng}"
        ),
        with_line("    cap_drop: [ALL]\n    cap_add: [CHOWN, SETGID, SETUID, DAC_OVERRIDE]"),
        COMPOSE.replace("./.env", "[{path: ./other.env, required: false}, ./.env]"),
        COMPOSE.replace("always", "unless-stopped"),
    ],
)  # fmt: skip
def test_other_valid_notations_pass(compose: str, check: Check) -> None:
    assert not problems(check(compose))


def test_loopback_port_is_reported_as_this_machine_only(check: Check) -> None:
    found = next(f for f in check() if f.id == "compose.ports")
    assert "this machine only" in found.evidence


def test_missing_env_file_stops_the_start(check: Check) -> None:
    found = problems(check(env=None))
    assert ("compose.env_file", "fail", "docker-compose.yml:7: env_file: ./.env") in found
    assert any(id == "settings.secret_key" and state == "fail" for id, state, _ in found)


def test_secret_in_env_counts_only_where_it_reaches_the_container(check: Check) -> None:
    without = COMPOSE.replace("    env_file: ./.env\n", "")
    assert any(id == "settings.secret_key" for id, _, _ in problems(check(without)))
    handed = f"{without}    environment: ['SEARXNG_SECRET=${{SEARXNG_SECRET}}']\n"
    assert not problems(check(handed))
    by_name = f"{without}    environment: [SEARXNG_SECRET]\n"
    assert not problems(check(by_name))


def test_secret_from_the_shell_is_skipped(check: Check) -> None:
    compose = COMPOSE.replace("    env_file: ./.env\n", "    environment: {SEARXNG_SECRET: '${MY_SECRET}'}\n")
    found = next(f for f in check(compose) if f.id == "settings.secret_key")
    assert found.state == "skipped"
    assert SECRET not in repr(check(compose))


def test_port_inside_follows_the_variables(check: Check) -> None:
    env = f"SEARXNG_SECRET={SECRET}\nSEARXNG_HOST=127.0.0.1\nSEARXNG_PORT=8888\n"
    assert not problems(check(COMPOSE.replace("127.0.0.1:8080:8080", UPSTREAM_PORT), env=env))
    found = problems(check(env=env))
    assert [(id, state) for id, state, _ in found] == [("compose.ports", "fail")]


def test_port_and_address_have_no_effect_in_a_container(check: Check) -> None:
    settings = SETTINGS.replace("limiter: false", "limiter: false, port: 8080, bind_address: 127.0.0.1")
    found = problems(check(settings=settings))
    assert [(id, state) for id, state, _ in found] == [("settings.address", "warn")] * 2


@pytest.mark.parametrize(("limiter", "state"), [("true", "fail"), ("false", "warn")])
def test_valkey_on_localhost_fails_in_a_container(limiter: str, state: str, check: Check, tmp_path: Path) -> None:
    settings = SETTINGS.replace("false", limiter) + "valkey:\n  url: valkey://localhost:6379/0\n"
    found = problems(check(COMPOSE + VALKEY, settings))
    assert ("settings.valkey", state, "settings.yml:5: url: valkey://localhost:6379/0") in found
    fixed = fix_settings(str(tmp_path / "core-config" / "settings.yml"))
    assert fixed is not None
    assert "url: valkey://my-valkey:6379/0" in fixed
    assert not [f for f in check(COMPOSE + VALKEY, fixed) if f.state == "fail"]


def test_limiter_without_url_gets_the_valkey_of_the_compose_file(check: Check, tmp_path: Path) -> None:
    check(COMPOSE + VALKEY, SETTINGS.replace("false", "true"))
    fixed = fix_settings(str(tmp_path / "core-config" / "settings.yml"))
    assert fixed is not None
    assert fixed.endswith("valkey:\n  url: valkey://my-valkey:6379/0\n")


def test_localhost_works_with_the_host_network(check: Check) -> None:
    settings = (
        f"{SETTINGS}valkey: {{url: 'valkey://localhost:6379/0'}}\noutgoing: {{proxies: 'http://localhost:3128'}}\n"
    )
    found = problems(check(with_line("    network_mode: host"), settings))
    assert [id for id, _, _ in found] == ["compose.ports"]


def test_proxy_on_localhost_fails_in_a_container(check: Check, tmp_path: Path) -> None:
    settings = f"{SETTINGS}outgoing:\n  proxies:\n    all://:\n      - http://me:{SECRET}@localhost:3128 # mine\n"
    findings = check(settings=settings)
    assert ("settings.proxies", "fail", "settings.yml:7: - http://…@localhost:3128 # mine") in problems(findings)
    assert SECRET not in repr(findings)
    fixed = fix_settings(str(tmp_path / "core-config" / "settings.yml"))
    assert fixed == settings.replace(
        f"http://me:{SECRET}@localhost:3128", f'"http://me:{SECRET}@host.docker.internal:3128"'
    )


def test_restart_names_the_service_of_the_compose_file(check: Check) -> None:
    settings = SETTINGS.replace("[html, json]", "[html]")
    for name in ("core", "my-searxng"):
        found = {finding.id: finding for finding in check(COMPOSE.replace("  core:", f"  {name}:"), settings)}
        assert found["settings.formats"].fix.endswith(f"docker compose restart {name}")


def test_compose_file_without_searxng_is_skipped(check: Check) -> None:
    findings = check("services: {web: {image: nginx}}\n")
    assert [f.state for f in findings if f.id == "compose.service"] == ["skipped"]
    assert not [f for f in findings if f.id == "compose.volumes"]


@pytest.mark.parametrize(
    ("text", "filled", "complete"),
    [
        ("a$$b", "a$b", True),
        ("${A}", "1", True),
        ("$A-${B:-2}-${B-3}", "1-2-3", True),
        ("${A:+x}${B:+y}", "x", True),
        ("${B}", "", False),
        ("${EMPTY:-4}${EMPTY-5}", "4", True),
        ("${A:+${A}:}8080", "1:8080", True),
        ("${C:?needed}", "", False),
        ("$(rm -rf /)", "$(rm -rf /)", True),
        ("${LOOP}", "${LOOP}", True),
    ],
)
def test_only_variables_are_interpolated(text: str, filled: str, complete: bool) -> None:
    known = {name: Variable(value, ".env", 1) for name, value in {"A": "1", "EMPTY": "", "LOOP": "${LOOP}"}.items()}
    assert interpolate(text, known) == (filled, complete)
