"""Mistakes in settings.yml: each is found at its line and fixed without touching anything else."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleuth.doctor.files.schema import SECTIONS
from sleuth.doctor.files.settings import check_settings, diff, fix_settings, write_fix
from sleuth.doctor.files.yaml_source import MAX_BYTES
from sleuth.doctor.finding import Finding
from sleuth.render.doctor import MARKS

SECRET = "a-long-random-text-of-my-own"
HEAD = "use_default_settings: true\nsearch:\n  formats: [html, json]\n"
GOOD = f"{HEAD}server:\n  secret_key: {SECRET}\n"
OWN = "use_default_settings:\n  engines:\n    keep_only: []\nsearch:\n  formats: [html, json]\n"
OWN += f"server:\n  secret_key: {SECRET}\n"  # seven lines
ENGINE = "engine: json_engine, search_url: 'http://x/?q={query}'"
OTHER = f"{{name: r, {ENGINE}"
ONE = f"{OWN}engines:\n- {{name: q, {ENGINE}"  # nine lines, the last unfinished
REST = GOOD.partition("\n")[2]
STANDALONE = f"server: {{secret_key: {SECRET}}}\ndoi_resolvers: {{a: 'https://a/'}}\ndefault_doi_resolver: a\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str, **beside: str) -> Path:
        path = tmp_path / "settings.yml"
        path.write_bytes(text.encode())
        for name, content in beside.items():
            (tmp_path / name.replace("__", ".").replace("_", "-")).write_text(content)
        return path

    return put


def problems(path: Path, *states: str) -> list[Finding]:
    return [finding for finding in check_settings(str(path)) if finding.state in (states or ("warn", "fail"))]


# What is written, what is found, how bad it is, in which line. Each was tried on a real server.
MISTAKES = {
    "tab": ("search:\n\tformats: [html]\n", "settings.yaml", "fail", "2:1"),
    "tab in a list": (f"{GOOD}engines: [a,\tb]\n", "settings.yaml", "fail", "6:13"),
    "wrong indent": ("search:\n  formats:\n   - html\n  - json\n", "settings.yaml", "fail", "4:3"),
    "missing blank": ("search:\n  formats: [html]\n  safe_search:0\n  max_page: 0\n", "settings.yaml", "fail", "3:3"),
    "open quote": ("server:\n  secret_key: 'abc\n", "settings.yaml", "fail", "3:1"),
    "unknown tag": (f"{GOOD}x: !!python/object:os.system y\n", "settings.yaml", "fail", "6:4"),
    "two documents": ("a: 1\n---\nb: 1\n", "settings.yaml", "fail", "2:1"),
    "control character": ("a: \x07\n", "settings.yaml", "fail", "1:4"),
    "top level list": ("- a\n", "settings.yaml", "fail", "1"),
    "top level text": ("hello\n", "settings.yaml", "fail", "1"),
    "defaults missing": (REST, "settings.defaults", "fail", "1"),
    "defaults false": (GOOD.replace("true", "false"), "settings.defaults", "fail", "1"),
    "defaults quoted": (GOOD.replace("true", "'true'"), "settings.defaults", "fail", "1"),
    "defaults a list": (GOOD.replace("true", "[a]"), "settings.defaults", "fail", "1"),
    "defaults not needed": (f"{STANDALONE}engines: [{{name: q, {ENGINE}}}]\n", "settings.defaults", "warn", "1"),
    "formats missing": (f"use_default_settings: true\n{STANDALONE}", "settings.formats", "fail", "1"),
    "formats not in search": (GOOD.replace("formats: [html, json]", "max_page: 1"), "settings.formats", "fail", "2"),
    "formats without json": (GOOD.replace(", json", ""), "settings.formats", "fail", "3"),
    "formats upper case": (GOOD.replace("json", "JSON"), "settings.formats", "fail", "3"),
    "formats one word": (GOOD.replace("[html, json]", "json"), "settings.values", "fail", "3"),
    "formats empty": (GOOD.replace("[html, json]", ""), "settings.values", "fail", "3"),
    "formats no items": (GOOD.replace("[html, json]", "[]"), "settings.formats", "fail", "3"),
    "formats nested": (GOOD.replace("[html, json]", "[[json]]"), "settings.formats", "fail", "3"),
    "secret default": (GOOD.replace(SECRET, "ultrasecretkey"), "settings.secret_key", "fail", "5"),
    "secret missing": (HEAD, "settings.secret_key", "fail", "1"),
    "secret missing in server": (f"{HEAD}server:\n  limiter: false\n", "settings.secret_key", "fail", "4"),
    "secret a number": (GOOD.replace(SECRET, "123456"), "settings.values", "fail", "5"),
    "secret empty": (GOOD.replace(SECRET, "''"), "settings.secret_key", "warn", "5"),
    "limiter without valkey": (f"{GOOD}  limiter: true\n", "settings.limiter", "fail", "6"),
    "limiter quoted": (f'{GOOD}  limiter: "false"\n', "settings.values", "fail", "6"),
    "limiter quoted and on": (f'{GOOD}  limiter: "yes"\n', "settings.values", "fail", "6"),
    "limiter a number": (f"{GOOD}  limiter: 1\n", "settings.values", "fail", "6"),
    "limiter for all": (f"{GOOD}  limiter: yes\nvalkey: {{url: 'valkey://v/0'}}\n", "settings.limiter", "warn", "6"),
    "public instance": (f"{GOOD}  public_instance: true\n", "settings.public_instance", "fail", "6"),
    "public instance quoted": (f"{GOOD}  public_instance: 'no'\n", "settings.values", "fail", "6"),
    "redis": (f"{GOOD}redis:\n  url: redis://r:6379/0\n", "settings.valkey", "warn", "7"),
    "valkey without scheme": (f"{GOOD}valkey:\n  url: localhost:6379\n", "settings.valkey", "fail", "7"),
    "valkey at home": (f"{GOOD}valkey:\n  url: valkey://localhost:6379/0\n", "settings.valkey", "warn", "7"),
    "open to all": (f"{GOOD}  bind_address: 0.0.0.0\n", "settings.address", "warn", "6"),
    "port out of range": (f"{GOOD}  port: 80800\n", "settings.address", "fail", "6"),
    "base url without scheme": (f"{GOOD}  base_url: search.example.org\n", "settings.base_url", "fail", "6"),
    "base url without slash": (f"{GOOD}  base_url: https://a.example/sx\n", "settings.base_url", "warn", "6"),
    "base url with search": (f"{GOOD}  base_url: http://a.example/search\n", "settings.base_url", "fail", "6"),
    "base url without host": (f"{GOOD}  base_url: 'http://'\n", "settings.base_url", "fail", "6"),
    "base url of everywhere": (f"{GOOD}  base_url: http://0.0.0.0:8080/\n", "settings.base_url", "warn", "6"),
    "base url empty": (f"{GOOD}  base_url:\n", "settings.values", "fail", "6"),
    "proxy at home": (f"{GOOD}outgoing:\n  proxies:\n    all://: http://[::1]:1\n", "settings.proxies", "warn", "8"),
    "proxy without scheme": (f"{GOOD}outgoing:\n  proxies:\n    all://: [a:1]\n", "settings.proxies", "warn", "8"),
    "proxies a list": (f"{GOOD}outgoing:\n  proxies: ['http://a:1']\n", "settings.values", "fail", "7"),
    "no engines kept": (OWN, "settings.engines", "fail", "3"),
    "all disabled": (f"{OWN}engines:\n- {{name: q, {ENGINE}, disabled: true}}\n", "settings.engines", "fail", "3"),
    "kept but off": (OWN.replace("[]", "[google, bing]"), "settings.engines", "warn", "3"),
    "kept as a word": (OWN.replace("[]", "wikipedia"), "settings.engines", "warn", "3"),
    "kept without saying so": (f"use_default_settings: {{engines: [a]}}\n{REST}", "settings.engines", "fail", "1"),
    "no engines alone": (STANDALONE, "settings.engines", "fail", "1"),
    "name twice": (f"{ONE}, shortcut: a}}\n- {{name: Q, {ENGINE}, shortcut: b}}\n", "settings.engines", "fail", "10"),
    "shortcut twice": (f"{ONE}, shortcut: a}}\n- {OTHER}, shortcut: a}}\n", "settings.engines", "fail", "10"),
    "no shortcut twice": (f"{ONE}}}\n- {OTHER}}}\n", "settings.engines", "fail", "10"),
    "module misspelt": (f"{GOOD}engines:\n- {{name: q, engine: jsn_engine}}\n", "settings.engines", "warn", "7"),
    "module unknown": (f"{GOOD}engines:\n- {{name: q, engine: mine}}\n", "settings.engines", "warn", "7"),
    "named off": (f"{GOOD}engines:\n- name: off\n  disabled: true\n", "settings.engines", "fail", "7"),
    "named no": (f"{GOOD}engines:\n- name: no\n", "settings.engines", "fail", "7"),
    "named by number": (f"{GOOD}engines:\n- name: 360\n", "settings.engines", "fail", "7"),
    "named with _": (f"{GOOD}engines:\n- name: a_b\n", "settings.engines", "warn", "7"),
    "engine without name": (f"{GOOD}engines:\n- disabled: true\n", "settings.engines", "fail", "7"),
    "engine a word": (f"{GOOD}engines:\n- wikipedia\n", "settings.engines", "fail", "7"),
    "engine nothing": (f"{GOOD}engines:\n- name: a\n-\n", "settings.engines", "fail", "8"),
    "engines a mapping": (f"{GOOD}engines:\n  name: wikipedia\n  disabled: true\n", "settings.engines", "fail", "6"),
    "engine without module": (f"{OWN}engines: [{{name: q}}, {{name: r, {ENGINE}}}]\n", "settings.engines", "warn", "8"),
    "timeout quoted": (f"{GOOD}engines:\n- name: q\n  timeout: '3'\n", "settings.engines", "fail", "8"),
    "categories empty": (f"{GOOD}engines:\n- name: q\n  categories:\n", "settings.engines", "fail", "8"),
    "disabled quoted": (f"{GOOD}engines:\n- name: q\n  disabled: 'false'\n", "settings.engines", "warn", "8"),
    "empty section": (f"{GOOD}ui:\n", "settings.values", "fail", "6"),
    "section a list": (f"{GOOD}plugins: [a]\n", "settings.values", "fail", "6"),
    "number quoted": (f"{GOOD}outgoing: {{request_timeout: '3'}}\n", "settings.values", "fail", "6"),
    "method lower case": (f"{GOOD}  method: get\n", "settings.values", "fail", "6"),
    "version a number": (f"{GOOD}  http_protocol_version: 1.1\n", "settings.values", "fail", "6"),
    "language upper case": (GOOD.replace("search:", "search:\n  default_lang: EN"), "settings.values", "fail", "3"),
    "brand unknown": (f"{GOOD}brand:\n  colour: red\n", "settings.values", "fail", "7"),
    "section misspelt": (f"{GOOD}genral: {{debug: false}}\n", "settings.keys", "warn", "6"),
    "key misspelt": (f"{GOOD}  image_prxy: true\n", "settings.keys", "warn", "6"),
    "key at the wrong level": (f"{GOOD}limiter: false\n", "settings.keys", "warn", "6"),
    "key gone": (f"{GOOD}enabled_plugins: []\n", "settings.keys", "warn", "6"),
    "section unknown": (f"{GOOD}zzz: 1\n", "settings.keys", "warn", "6"),
    "section twice": (f"{GOOD}search: {{formats: [json]}}\n", "settings.keys", "warn", "2"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_found_at_its_line(name: str, write: Write) -> None:
    text, id, state, line = MISTAKES[name]
    found = problems(write(text))
    assert any((f.id, f.state) == (id, state) and f.evidence.startswith(f"settings.yml:{line}:") for f in found), found
    assert all(f.title and f.cause and f.fix and f.link.startswith("searxng.md#") for f in found)


def test_switch_in_quotes_has_one_fix(write: Write) -> None:
    assert [finding.id for finding in problems(write(f'{GOOD}  limiter: "yes"\n'))] == ["settings.values"]


# Cannot be fixed without guessing.
UNFIXABLE = {"wrong indent", "missing blank", "open quote", "unknown tag", "two documents", "control character"}
UNFIXABLE |= {"top level list", "top level text"}


@pytest.mark.parametrize("name", MISTAKES)
def test_fixed_file_has_no_failure(name: str, write: Write, tmp_path: Path) -> None:
    path = write(MISTAKES[name][0])
    failed = bool(problems(path, "fail"))
    fixed = fix_settings(str(path))
    if name in UNFIXABLE:
        assert fixed is None
    elif failed:
        assert fixed is not None
        (tmp_path / "settings.yml").write_text(fixed)
        assert not problems(path, "fail"), fixed
        assert fix_settings(str(path)) is None  # nothing is fixed twice


def test_good_file_passes(write: Write) -> None:
    path = write(GOOD)
    findings = check_settings(str(path))
    assert {finding.state for finding in findings} == {"ok"}
    assert fix_settings(str(path)) is None


def test_comments_order_and_quotes_survive(write: Write) -> None:
    text = """\
# My SearXNG. Do not touch!
---
server:   # the server
    limiter : "false"     # quoted by mistake
    # image_proxy: true
    base_url:   'https://search.example.org/'  # quotes stay

search:
    formats:
    - html   # for people
    # - csv

# the end
"""
    fixed = fix_settings(str(write(text)))
    assert fixed is not None
    kept = [line for line in text.splitlines() if line and "limiter" not in line]
    assert [line for line in fixed.splitlines() if line in kept] == kept
    assert "    limiter : false     # quoted by mistake\n" in fixed
    assert "    - html   # for people\n    - json\n" in fixed
    assert fixed.index("use_default_settings: true") > fixed.index("---")
    assert 'secret_key: "' in fixed


def test_line_endings_survive(write: Write) -> None:
    fixed = fix_settings(str(write("use_default_settings: true\r\nserver:\r\n  limiter: false\r\n")))
    assert fixed is not None
    assert fixed.count("\n") == fixed.count("\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "{use_default_settings: true}",
        "{}",
        "{server: {limiter: 'false'}, search: {}}",
        "",
        "# nothing yet\n",
        "  server:\n    limiter: false\n",
        "search: ~\nserver: null\n",
        "search:\n  # formats:\n  #   - html\nserver:\n  port: 8888",
        "base: &base {limiter: false}\nserver: *base\n",
        "base: &base {limiter: 'no'}\nserver:\n  <<: *base\n",
        "use_default_settings: true\n...\n",
    ],
)
def test_any_notation_is_fixed(text: str, write: Write) -> None:
    path = write(text)
    fixed = fix_settings(str(path))
    assert fixed is not None
    path.write_text(fixed)
    assert not problems(path, "fail"), fixed


def test_formats_become_lower_case(write: Write) -> None:
    path = write(GOOD.replace("[html, json]", "[HTML, csv, JSON]"))
    assert "SearXNG ignores HTML, JSON" in problems(path)[0].cause
    assert fix_settings(str(path)) == GOOD.replace("[html, json]", "[html, csv, json]")


def test_misspelt_section_is_renamed_not_doubled(write: Write) -> None:
    fixed = fix_settings(str(write(GOOD.replace("search:", "serach:"))))
    assert fixed == GOOD


def test_engines_with_the_same_name_are_renamed(write: Write) -> None:
    fixed = fix_settings(str(write(f"{GOOD}engines:\n" + "- {name: q, engine: e, shortcut: s}\n" * 3)))
    assert fixed is not None
    assert fixed.splitlines()[-3:] == [
        "- {name: q, engine: e, shortcut: s}",
        '- {name: "q 2", engine: e, shortcut: "s2"}',
        '- {name: "q 3", engine: e, shortcut: "s3"}',
    ]


def test_tabs_become_spaces(write: Write) -> None:
    text = GOOD.replace("  ", "\t")
    path = write(text)
    assert problems(path)[0].id == "settings.yaml"
    assert fix_settings(str(path)) == GOOD


def test_fix_is_written_beside_and_private(write: Write) -> None:
    path = write("search: {}\n")
    text = fix_settings(str(path))
    assert text is not None
    target = Path(write_fix(str(path), text))
    assert target.read_text() == text
    assert target == path.with_name("settings.fixed.yml")
    assert target.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "search: {}\n"
    assert not [f for f in check_settings(str(target)) if f.state == "fail"]
    assert all("settings.fixed.yml" in f.evidence for f in check_settings(str(target)) if f.id == "settings.formats")


def test_diff_shows_changes_and_hides_secrets(write: Write) -> None:
    text = f"server:\n  secret_key: {SECRET}\n"
    fixed = fix_settings(str(write(text)))
    assert fixed is not None
    shown = diff(text, fixed, "settings.yml")
    assert "+use_default_settings: true" in shown
    assert "+    - json" in shown
    assert SECRET not in shown
    assert "secret_key: …" in shown


@pytest.mark.parametrize(
    "value",
    [
        f"\n    {SECRET}",
        f"\n    '{SECRET}'",
        f">-\n    {SECRET}",
        f"|\n    first {SECRET}\n    {SECRET}",
        f"[a, '{SECRET}']",
        f"\n    one: {{two: {SECRET}}}",
        f"'one {SECRET}'",
        f"&name {SECRET}",
    ],
)
@pytest.mark.parametrize("name", ["secret_key", "api_key", "tokens"])
@pytest.mark.parametrize("tab", ["", "ui:\n\tstatic: x\n"])
def test_secret_below_its_name_is_hidden(name: str, value: str, tab: str, write: Write) -> None:
    if tab and ("first" in value or "one" in value or "[" in value):
        return  # without a tree, only the first word is known to be a secret
    path = write(f"server:\n  {name}: {value}\n  limiter: 'x'\n{tab}")
    fixed = fix_settings(path)
    assert fixed is not None
    shown = diff(Path(path).read_text(), fixed, "settings.yml")
    assert "@@ -1," in shown
    assert "+use_default_settings: true" in shown
    assert SECRET not in shown
    assert SECRET not in repr(check_settings(path))


@pytest.mark.parametrize(
    "option",
    [
        f"headers: {{Authorization: 'Bearer {SECRET}'}}",
        f"headers:\n      Authorization: Bearer {SECRET}",
        f"cookies: {{session: {SECRET}}}",
        f"credentials: {SECRET}",
        f"private_key: {SECRET}",
        f"pass: {SECRET}",
        f"http_digest_auth_pass: {SECRET}",
        f"auth_key: {SECRET}",
        f"appkey: {SECRET}",
        f"key: {SECRET}",
        f"userpass: {SECRET}",
        f"headers: {{Ocp-Apim-Subscription-Key: {SECRET}}}",
        f"headers: {{X-Api-Key: {SECRET}}}",
        f"headers:\n      x-api-key: {SECRET}",
        f"search_url: 'http://x.example/?q={{query}}&appkey={SECRET}'",
    ],
)
def test_secret_of_an_engine_is_hidden(option: str, write: Write) -> None:
    engine = f"  - name: a\n    engine: json_engine\n    timeout: abc\n    {option}\n"
    for tail in ("", "    # x: {", "ui:\n\tstatic: x\n"):
        path = write(f"server:\n  limiter: 'x'\nengines:\n{engine}{tail}")
        assert SECRET not in repr(check_settings(path))
        if fixed := fix_settings(path):
            assert SECRET not in diff(Path(path).read_text(), fixed, "settings.yml")
    flow = option.replace("\n      ", " ")
    if flow == option:
        path = write(f"server:\n  limiter: 'x'\nengines:\n  - {{name: a, engine: json_engine, timeout: abc, {flow}}}\n")
        assert SECRET not in repr(check_settings(path)) + diff(Path(path).read_text(), str(fix_settings(path)), "s")


def test_what_is_no_secret_is_shown(write: Write) -> None:
    options = "results_xpath: '//div[@class=\"x\"]', require_api_key: false, sort_key: date, tokenizer: ngram"
    path = write(f"server:\n  limiter: 'x'\nengines:\n  - {{name: a, timeout: abc, {options}}}\n")
    shown = diff(Path(path).read_text(), str(fix_settings(path)), "s")
    assert options in shown


def test_change_of_a_secret_is_shown_without_it(write: Write) -> None:
    path = write(f"{HEAD}server:\n  secret_key: 123456\n")
    shown = diff(Path(path).read_text(), str(fix_settings(path)), "settings.yml")
    assert '-  secret_key: …\n+  secret_key: "…"' in shown


@pytest.mark.parametrize("url", [f"redis://:{SECRET}@redis:6379/0", f"me:{SECRET}@redis", f"{SECRET}@redis:6379"])
def test_password_of_valkey_is_kept_and_not_shown(url: str, write: Write) -> None:
    path = write(f"{GOOD.replace(SECRET, 'abc123')}redis:\n  url: {url}\n")
    assert SECRET not in repr(check_settings(path))
    fixed = str(fix_settings(path))
    assert f"{SECRET}@redis" in fixed
    assert SECRET not in diff(Path(path).read_text(), fixed, "settings.yml")


def test_login_of_a_proxy_without_a_scheme_is_hidden(write: Write) -> None:
    path = write(f"{GOOD.replace(SECRET, 'abc123')}outgoing:\n  proxies:\n    all://: [me:{SECRET}@proxy:1]\n")
    assert SECRET not in repr(check_settings(path))


def test_secrets_never_reach_a_finding(write: Write) -> None:
    path = write(
        f"server: {{secret_key: {SECRET}, limiter: 'x'}}\nvalkey: {{url: 'valkey://me:{SECRET}@localhost/0'}}\n",
        __env=f"SEARXNG_SECRET={SECRET}\nSEARXNG_METHOD=x\n",
    )
    assert SECRET not in repr(check_settings(str(path)))


@pytest.mark.parametrize(
    ("variable", "state"),
    [(f"SEARXNG_SECRET={SECRET}", "ok"), ("SEARXNG_SECRET=", "skipped"), ("SEARXNG_SECRET=ultrasecretkey", "skipped")],
)
def test_secret_may_come_from_the_environment(variable: str, state: str, write: Write) -> None:
    findings = check_settings(str(write(HEAD, __env=f"# mine\n{variable}\n")))
    found = next(finding for finding in findings if finding.id == "settings.secret_key")
    assert (found.state, found.evidence.startswith(".env:2:")) == (state, True)


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("SEARXNG_LIMITER=no", "fail"),
        ("SEARXNG_LIMITER=", "fail"),
        ("SEARXNG_METHOD=get", "fail"),
        ("SEARXNG_PORT=tcp://10.0.0.1:80", "fail"),
        ("SEARXNG_SECRET=ultrasecretkey", "fail"),
        ("SEARXNG_VALKEY_URL=localhost:6379", "fail"),
        ("SEARXNG_SECRET=", "warn"),
        ("UWSGI_WORKERS=4", "warn"),
        ("BIND_ADDRESS=0.0.0.0:80", "warn"),
        ("BASE_URL=http://a/", "warn"),
        ("SEARXNG_SECRET_KEY=x", "warn"),
        ("SEARXNG_FORMATS=json", "warn"),
    ],
)
def test_bad_variables_are_found(line: str, state: str, write: Write) -> None:
    found = [f for f in problems(write(GOOD, __env=f"{line}\n")) if f.id == "environment.variables"]
    assert [(f.state, f.evidence.startswith(".env:1: ")) for f in found] == [(state, True)]


def test_malformed_line_in_env_is_found(write: Write) -> None:
    found = problems(write(GOOD, __env="SEARXNG_SECRET=x1234567\nwhat is this\n"))
    assert [(f.id, f.state) for f in found] == [("environment.file", "fail")]
    assert found[0].evidence.startswith(".env:2:")


def test_environment_overrides_the_file(write: Write) -> None:
    assert not problems(write(f'{GOOD}  limiter: "false"\n', __env="SEARXNG_LIMITER=false\n"))
    found = problems(write(f"{GOOD}  limiter: false\n", __env="SEARXNG_LIMITER=true\n"))
    assert [(f.id, f.state) for f in found] == [("settings.limiter", "fail")]
    assert found[0].evidence.startswith(".env:1:")


@pytest.mark.parametrize(
    ("text", "id", "state", "line"),
    [
        ("[botdetection\n", "limiter.file", "fail", "1:14"),
        ("[botdetection]\nfoo = 1\n", "limiter.file", "fail", "2"),
        ("\npass_ip = ['127.0.0.1']\n", "limiter.file", "fail", "2"),
        ("[botdetection.ip_lists]\npass_ip = '127.0.0.1'\n", "limiter.file", "fail", "2"),
        ("[botdetection.ip_limit]\nlink_token = 'true'\n", "limiter.file", "fail", "2"),
        ("[botdetection.ip_limit]\nlink_token = true\n", "limiter.link_token", "fail", "2"),
        ("[botdetection.ip_lists]\npass_ip = ['257.1.1.1']\n", "limiter.addresses", "warn", "2"),
        ("[botdetection.ip_lists]\npass_ip = [1]\n", "limiter.addresses", "warn", "2"),
        ("[botdetection.ip_lists]\npass_ip = ['0.0.0.0/0']\n", "limiter.addresses", "warn", "2"),
        ("[botdetection]\ntrusted_proxies = ['nonsense']\n", "limiter.addresses", "fail", "2"),
        ("[real_ip]\nx_for = 1\n", "limiter.file", "warn", "1"),
    ],
)
def test_mistakes_in_limiter_toml_are_found(text: str, id: str, state: str, line: str, write: Write) -> None:
    path = write(f"{GOOD}  limiter: true\nvalkey: {{url: 'valkey://v/0'}}\n", limiter__toml=text)
    found = [(f.id, f.state, f.evidence) for f in problems(path)]
    assert any(f[:2] == (id, state) and f[2].startswith(f"limiter.toml:{line}:") for f in found), found


def test_limiter_with_pass_ip_passes(write: Write) -> None:
    limiter = "[botdetection.ip_lists]\npass_ip = ['127.0.0.0/8', '172.17.0.1/12']\n"
    path = write(f"{GOOD}  limiter: true\nvalkey: {{url: 'valkey://v/0'}}\n", limiter__toml=limiter)
    assert not problems(path)


def test_missing_file_and_folder_in_its_place_are_findings(tmp_path: Path) -> None:
    missing = tmp_path / "settings.yml"
    (finding,) = check_settings(str(missing))
    assert (finding.id, finding.state) == ("settings.file", "fail")
    assert finding.evidence == f"{missing}: No such file or directory"
    assert fix_settings(str(missing)) is None
    missing.mkdir()
    found = check_settings(str(missing))[0]
    assert "Docker" in found.cause


@pytest.mark.parametrize("text", [b"\xff\xfe a: 1", b"a: \x00", b"a" * (MAX_BYTES + 1), b"[" * 5000, b"- " * 5000])
def test_hostile_files_are_findings(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "settings.yml"
    path.write_bytes(text)
    assert check_settings(str(path))[0].state == "fail"
    assert fix_settings(str(path)) is None


def bomb(levels: int) -> str:
    """Return a small text that means an astronomic number of words."""
    return "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, levels))


@pytest.mark.cpu_limit(30)
@pytest.mark.parametrize(
    "text",
    [
        GOOD + bomb(40),
        f"{bomb(40)}use_default_settings: *a39\nengines: *a39\nsearch: {{formats: *a39, default_lang: *a39}}\n"
        "server: {secret_key: *a39, limiter: *a39, base_url: *a39, port: *a39}\nredis: {url: *a39}\nui: *a39\n",
        f"{GOOD}engines: &e [*e]\nui: &u {{<<: *u, a: *u}}\n",
        f"{GOOD}x: &x\n" + "".join(f"{'  ' * n}- &y{n}\n" for n in range(1, 60)) + f"{'  ' * 60}- 1\n"
        + "".join(f"{'  ' * n}- *y{n}\n" for n in range(59, 0, -1)),
        "b0: &b0 {a: 1}\n" + "".join(f"b{n}: &b{n} {{<<: [{f'*b{n - 1}, ' * 300}]}}\n" for n in range(1, 9))
        + "server:\n  <<: *b8\n",
        GOOD + "".join(f"k{n}: 1\n" for n in range(5000)),
        f"{GOOD}engines:\n" + "- {name: q, engine: e, shortcut: s}\n" * 900,
    ],
)  # fmt: skip
def test_no_file_takes_long(text: str, write: Write) -> None:
    path = write(text)
    assert check_settings(str(path))
    fix_settings(str(path))


LINE = st.sampled_from(
    [*GOOD.splitlines(), "engines:", "- name: q", "  - {", "\tx: 1", "&a [*a]", "<<: *a", "...", "---"]
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(st.text(max_size=300), st.lists(st.one_of(LINE, st.text(max_size=12)), max_size=12).map("\n".join))
)
def test_any_text_is_handled(text: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.yml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / "docker-compose.yml").write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / "limiter.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / ".env").write_bytes(text.encode("utf-8", "surrogatepass"))
    findings = check_settings(str(path))
    assert findings
    for finding in findings:
        assert finding.state in MARKS
        assert finding.evidence.isprintable()
    fix_settings(str(path))


SCALAR = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 99999),
    st.floats(0, 9),
    st.sampled_from(["", "true", "no", "x", "1.0", "é"]),
)
VALUE = st.one_of(
    SCALAR, st.lists(SCALAR, max_size=2), st.dictionaries(st.sampled_from(["a", "url"]), SCALAR, max_size=2)
)
NAMES = [(section, key) for section, keys in SECTIONS.items() for key in keys]
ENGINES = st.lists(
    st.one_of(SCALAR, st.dictionaries(st.sampled_from(["name", "engine", "shortcut", "disabled", "timeout"]), SCALAR)),
    max_size=3,
)
TOP = st.sampled_from(["use_default_settings", "search", "server", "ui", "plugins", "valkey", "brand", "zzz"])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Settings with a few values that may be anything."""
    document: dict[str, Any] = {}
    for section, key in draw(st.lists(st.sampled_from(NAMES), max_size=5)):
        document.setdefault(section, {})[key] = draw(VALUE)
    document |= draw(st.dictionaries(TOP, VALUE, max_size=2))
    if draw(st.booleans()):
        document["engines"] = draw(ENGINES)
    return document


def block(value: Any, indent: int = 0) -> str:
    """Return a value as YAML in block style."""
    pad = " " * indent
    if isinstance(value, dict) and value:
        return "".join(f"\n{pad}{key}:{block(entry, indent + 2)}" for key, entry in value.items())
    if isinstance(value, list) and value:
        return "".join(f"\n{pad}-{block(entry, indent + 2)}" for entry in value)
    return " " + json.dumps(value)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(document=documents(), flow=st.booleans())
def test_fixed_settings_have_no_failure_whatever_the_values(
    document: dict[str, Any], flow: bool, tmp_path: Path
) -> None:
    path = tmp_path / "settings.yml"
    path.write_text(json.dumps(document) if flow else block(document).lstrip("\n") + "\n")
    fixed = fix_settings(str(path))
    if fixed is not None:
        path.write_text(fixed)
    assert not problems(path, "fail"), fixed


def test_parser_is_loaded_only_when_a_file_is_read() -> None:
    script = "import sys, sleuth.commands.doctor, sleuth.doctor.files.settings; print('ruamel.yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
