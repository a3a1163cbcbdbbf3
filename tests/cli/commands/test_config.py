"""`sleuth config`, through the real main."""

import json
from typing import Any

import pytest


def test_show_prints_the_origin(sleuth: Any) -> None:
    sleuth("config", "set", "cache.ttl_minutes", "5")
    out = sleuth("config", "show", "--origin", SLEUTH_WEBSEARCH_MAX_RESULTS="9").out
    assert "websearch.max_results      = 9  # SLEUTH_WEBSEARCH_MAX_RESULTS" in out
    assert any(line.startswith("cache.ttl_minutes") and line.endswith("= 5  # file") for line in out.splitlines())
    shown = sleuth("config", "show", "cache", "--origin", "--json").json
    assert shown["cache.ttl_minutes"] == {"value": 5, "origin": "file"}


def test_flag_beats_environment_beats_file(sleuth: Any) -> None:
    sleuth("config", "set", "websearch.max_results", "2")
    search = ("search", "--json", "--offline", "searxng")
    assert len(sleuth(*search).json["results"]) == 2
    assert len(sleuth(*search, SLEUTH_WEBSEARCH_MAX_RESULTS="3").json["results"]) == 3
    assert len(sleuth(*search, "-n", "4", SLEUTH_WEBSEARCH_MAX_RESULTS="3").json["results"]) == 4


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("websearch.fallback", "brave, kagi", ["brave", "kagi"]),
        ("websearch.fallback", "['brave']", ["brave"]),
        ("websearch.fallback", "[]", []),
        ("websearch.compression", "{ method = 'cutoff', cutoff_limit = 9 }", {"method": "cutoff", "cutoff_limit": 9}),
        ("websearch.timeout", "2.5", 2.5),
        ("fetch.jina", "off", False),
        ("agent.web_search.enabled", "false", False),
        ("llm.model", "模型", "模型"),
    ],
)
def test_values_are_parsed(sleuth: Any, key: str, text: str, value: Any) -> None:
    assert sleuth("config", "set", key, text).exit == 0
    assert sleuth("config", "get", key, "--json").json == value
    assert sleuth("config", "validate").exit == 0
    assert sleuth("config", "unset", key).exit == 0
    assert sleuth("config", "show", key, "--origin", "--json").json[key]["origin"] == "default"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("websearch.max_results", "0"),
        ("websearch.max_results", "ten"),
        ("websearch.max_results", "1.5"),
        ("websearch.safe_search", "maybe"),
        ("websearch.compression", "{ method = 'zip' }"),
        ("websearch.compression", "nonsense"),
        ("cache.url", "http://x"),
        ("fetch.jina", "perhaps"),
        ("llm.base_url", "not an address"),
        ("websearch.exclude_domains", "['/(a+)+$/']"),
        ("websearch.exclude_domains", "['//']"),
        ("websearch.exclude_domains", "['']"),
        ("websearch.exclude_domains", "['http://']"),
        ("llm.api_key", "sk-1\nX-Header: 2"),
        ("embedding.api_key", "sk-\x01"),
        ("llm.api_key", "env:"),
    ],
)
def test_invalid_value_is_refused(sleuth: Any, key: str, text: str) -> None:
    done = sleuth("config", "set", key, text)
    assert done.exit == 2
    assert key in done.err
    assert "hint: use " in done.err
    assert not (sleuth.home / "config" / "config.toml").exists()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("websearch.fallback", "nosuch,duckduckgo"),
        ("websearch.default_provider", "nosuch"),
        ("websearch.chains", "{ news = ['bing-news+nosuch'] }"),
    ],
)
def test_unknown_provider_is_refused_by_set_and_found_by_validate(sleuth: Any, key: str, text: str) -> None:
    done = sleuth("config", "set", key, text)
    assert (done.exit, "unknown provider 'nosuch'" in done.err) == (3, True)
    written = sleuth("config", "validate", **{f"SLEUTH_{key.upper().replace('.', '_')}": text})
    assert (written.exit, f"{key}: unknown provider 'nosuch'" in written.err) == (2, True)


def test_auto_is_no_part_of_a_chain(sleuth: Any) -> None:
    for id in ("auto", "AUTO", ""):
        assert sleuth("config", "set", "websearch.default_provider", id).exit == 0
        assert sleuth("config", "validate").exit == 0
        assert sleuth("providers", "show", "duckduckgo", "--json").json["isDefault"] is False
    assert sleuth("config", "set", "websearch.fallback", "auto").exit == 3
    assert sleuth("config", "validate", SLEUTH_WEBSEARCH_FALLBACK="auto,brave").exit == 2


def test_validate_names_every_unknown_provider(sleuth: Any) -> None:
    done = sleuth("config", "validate", SLEUTH_WEBSEARCH_FALLBACK="serxng,duckduckgo,wikpedia")
    assert done.err.splitlines() == [
        "warning: websearch.fallback: unknown provider 'serxng'; did you mean searxng?",
        "warning: websearch.fallback: unknown provider 'wikpedia'; did you mean wikipedia?",
    ]


@pytest.mark.parametrize("entry", ["", "+", "searxng+", " "])
def test_empty_id_in_a_chain_is_reported(sleuth: Any, entry: str) -> None:
    for name, text in (("fallback", f"['{entry}']"), ("chains", f"{{ news = ['{entry}'] }}")):
        done = sleuth("config", "set", f"websearch.{name}", text)
        assert (done.exit, "unknown provider '" in done.err) == (3, True)
        done = sleuth("config", "validate", **{f"SLEUTH_WEBSEARCH_{name.upper()}": text})
        assert (done.exit, f"websearch.{name}: unknown provider '" in done.err) == (2, True)
    assert sleuth("config", "set", "websearch.fallback", "[]").exit == 0


def test_providers_of_a_chain_may_be_joined(sleuth: Any) -> None:
    assert sleuth("config", "set", "websearch.fallback", "crossref+arxiv,library").exit == 0
    assert sleuth("config", "set", "websearch.chains", "{ news = ['bing-news+google-news'], books = [] }").exit == 0


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("redis://:secret-1@10.1.2.3:6379/0", "redis://…@10.1.2.3:6379/0"),
        ("valkey://10.1.2.3?password=secret-1", "valkey://10.1.2.3?password=…"),
        ("redis+sentinel://u:secret-1@node1:26379,node2:26379/main", "redis+sentinel://…@node1:26379,node2:26379/main"),
        ("rediss://:secret-1@10.1.2.3:6379/0", ""),
        ("redis://:secret-1@127.0.0.1:6379/0", ""),
        ("redis://10.1.2.3:6379/0", ""),
        ("env:CACHE_URL", ""),
    ],
)
def test_password_that_travels_unencrypted_is_warned_of(sleuth: Any, url: str, warned: str) -> None:
    done = sleuth("config", "set", "cache.url", "-", stdin=f"{url}\n")
    assert (done.exit, f"of cache.url is sent unencrypted to {warned}\n" in done.err) == (0, bool(warned))
    assert "secret-1" not in done.err


def test_validate_reports_that_there_is_no_file(sleuth: Any) -> None:
    done = sleuth("config", "validate")
    assert (done.exit, done.err) == (0, "")
    assert done.out.startswith("there is no file ")
    assert "config.toml; the defaults apply" in done.out
    sleuth("config", "set", "websearch.max_results", "3")
    assert sleuth("config", "validate").out.endswith("config.toml is valid\n")


def test_unknown_key_suggests_the_closest_one(sleuth: Any) -> None:
    assert "did you mean websearch.max_results?" in sleuth("config", "set", "websearch.max_result", "3").err
    assert "did you mean cache.ttl_minutes?" in sleuth("config", "get", "ttl_minutes").err


def test_secret_is_read_from_stdin_and_shown_masked(sleuth: Any) -> None:
    assert sleuth("config", "set", "llm.api_key", "-", stdin="sk-abcdefghijklmnop\n").exit == 0
    out = sleuth("config", "show").out
    assert "sk-a…op" in out
    assert "abcdefghijklmnop" not in out + json.dumps(sleuth("config", "show", "--json").json)


@pytest.mark.parametrize(
    ("key", "value", "warned"),
    [
        ("llm.api_key", "sk-abcdefghijklmnop", True),
        ("cache.url", "redis://:secret-1@127.0.0.1:6379/0", True),
        ("cache.url", "redis://127.0.0.1:6379/0", False),
        ("rerank.api_key", "env:RERANK_KEY", False),
    ],
)
def test_secret_on_the_command_line_is_warned_of(sleuth: Any, key: str, value: str, warned: bool) -> None:
    done = sleuth("config", "set", key, value)
    assert (done.exit, "ends up in the shell history" in done.err) == (0, warned)


def test_edit_opens_the_editor_on_a_commented_file(sleuth: Any) -> None:
    done = sleuth("config", "edit", EDITOR="sed -i s/^#.max_results.*/max_results=4/", VISUAL="")
    assert done.exit == 0
    assert sleuth("config", "get", "websearch.max_results").out == "4\n"
    assert sleuth("config", "edit", EDITOR="false").exit == 2
    assert sleuth("config", "edit", EDITOR="no-such-editor").exit == 2


def test_path_prints_the_path_of_the_file(sleuth: Any) -> None:
    assert sleuth("config", "path").out == f"{sleuth.home}/config/config.toml\n"
    assert sleuth("config", "path", SLEUTH_CONFIG="/etc/other.toml").out == "/etc/other.toml\n"


def test_chosen_file_that_does_not_exist_is_reported(sleuth: Any) -> None:
    done = sleuth("config", "validate", SLEUTH_CONFIG="/no/such.toml")
    assert done.exit == 2
    assert done.err == "warning: there is no file /no/such.toml, which SLEUTH_CONFIG names\n"
