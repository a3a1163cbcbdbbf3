"""Settings: precedence, invalid values, unknown keys, and writing without losing anything."""

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.forks import run_at_once

from sleuth.base.errors import SettingsError, UnwritableError
from sleuth.base.files import locked
from sleuth.store import default_chains, settings, toml_file
from sleuth.store.setting_types import PATTERNS, to_toml
from sleuth.store.settings import EXCLUDE_DOMAINS, TABLE, Settings, change, find_setting
from sleuth.store.toml_file import read_toml

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
KEY = "sk-secret-0123456789"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def load(file: Path, text: str = "", **environ: str) -> Settings:
    if text:
        file.write_text(text)
    return Settings(str(file), environ)


# Reading


def test_default_is_used_when_nothing_is_set(file: Path) -> None:
    found = load(file)
    assert found[settings.MAX_RESULTS] == 5
    assert found.look_up(settings.MAX_RESULTS).origin == "default"
    assert list(found.problems()) == []
    assert not file.exists()


def test_every_default_is_valid() -> None:
    for setting in TABLE.values():
        assert setting.kind.accepts(setting.default), setting.key
        assert setting.meaning, setting.key


def test_defaults_are_as_documented() -> None:
    expected = {
        "websearch.default_provider": "auto",
        "websearch.fallback": default_chains.GENERAL,
        "websearch.chains": default_chains.CHAINS,
        "websearch.keyless": True,
        "websearch.contact": "",
        "websearch.search_with_time": True,
        "websearch.max_results": 5,
        "websearch.exclude_domains": [],
        "websearch.language": "auto",
        "websearch.region": "",
        "websearch.safe_search": "moderate",
        "websearch.snippet_length": 200,
        "websearch.timeout": 15,
        "websearch.connect_timeout": 5,
        "websearch.retries": 3,
        "websearch.max_output_chars": 30000,
        "websearch.compression": {"method": "none"},
        "searxng.timeout": 5,
        "cache.ttl_minutes": 15,
        "cache.max_entries": 100,
        "cache.url": "",
        "fetch.timeout": 8,
        "fetch.concurrency": 2,
        "fetch.max_chars": 20000,
        "fetch.cache_ttl_minutes": 60,
        "fetch.jina": True,
        "fetch.archive": True,
        "fetch.browser": False,
        "fetch.allow_private": False,
        "ask.max_iterations": 3,
        "ask.pages": 3,
        "ui.language": "auto",
        "ui.theme": "auto",
    }
    assert {key: TABLE[key].default for key in expected} == expected


def test_environment_overrides_the_file_which_overrides_the_default(file: Path) -> None:
    text = "[websearch]\nmax_results = 7\n"
    assert load(file, text).look_up(settings.MAX_RESULTS) == (7, "file", "")
    found = load(file, text, SLEUTH_WEBSEARCH_MAX_RESULTS="9")
    assert found.look_up(settings.MAX_RESULTS) == (9, "SLEUTH_WEBSEARCH_MAX_RESULTS", "")


def test_no_two_settings_share_a_variable() -> None:
    assert len({setting.variable for setting in TABLE.values()}) == len(TABLE)
    assert TABLE["agent.web_search.enabled"].variable == "SLEUTH_AGENT_WEB_SEARCH_ENABLED"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("websearch.max_results", " 7 ", 7),
        ("websearch.timeout", "2.5", 2.5),
        ("websearch.timeout", "3", 3),
        ("websearch.search_with_time", "OFF", False),
        ("websearch.search_with_time", "1", True),
        ("websearch.search_with_time", "yes", True),
        ("websearch.fallback", "brave, tavily,,", ["brave", "tavily"]),
        ("websearch.fallback", '["brave", "a,b"]', ["brave", "a,b"]),
        ("websearch.fallback", "", []),
        ("websearch.region", "", ""),
        ("websearch.compression", "{method = 'cutoff', cutoff_limit = 9}", {"method": "cutoff", "cutoff_limit": 9}),
        ("llm.base_url", "http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("cache.url", "redis://localhost:6379/0", "redis://localhost:6379/0"),
    ],
)
def test_environment_variable_is_parsed(file: Path, key: str, text: str, value: Any) -> None:
    found = load(file, **{TABLE[key].variable: text}).look_up(TABLE[key])
    assert (found.value, found.problem) == (value, "")
    assert type(found.value) is type(value)


INVALID_IN_FILE = [
    ("websearch.max_results", "'7'", "a whole number from 1 to 50"),
    ("websearch.max_results", "7.5", "a whole number"),
    ("websearch.max_results", "true", "a whole number"),
    ("websearch.max_results", "0", "from 1 to 50"),
    ("websearch.max_results", "51", "from 1 to 50"),
    ("websearch.timeout", "'fast'", "a number from 0.1 to 600"),
    ("websearch.timeout", "nan", "a number"),
    ("websearch.timeout", "inf", "a number"),
    ("websearch.timeout", "true", "a number"),
    ("websearch.timeout", "-1", "a number"),
    ("websearch.safe_search", "'sometimes'", "one of off, moderate, strict"),
    ("websearch.safe_search", "1", "one of"),
    ("websearch.safe_search", "['off']", "one of"),
    ("websearch.search_with_time", "1", "true or false"),
    ("websearch.fallback", "'brave'", "a list of strings"),
    ("websearch.fallback", "[1]", "a list of strings"),
    ("websearch.region", "1", "a two-letter country code"),
    ("websearch.region", "'Switzerland'", "a two-letter country code"),
    ("websearch.language", "'german!'", "a code such as de"),
    ("llm.model", "1", "text"),
    ("llm.model", "{a = 1}", "text"),
    ("websearch.exclude_domains", "['/(/']", "valid /regex/"),
    ("websearch.exclude_domains", "['/blog']", "valid /regex/"),
    ("websearch.exclude_domains", "['*.pinterest.*']", "valid /regex/"),
    ("websearch.compression", "{cutoff_limit = 5}", "a table such as"),
    ("llm.base_url", "'http://x:99999/v1'", "an http(s) URL"),
    ("cache.url", "'redis://127.0.0.1:99999'", "a URL such as redis://"),
    ("websearch.compression", "'none'", "a table such as"),
    ("websearch.compression", "{method = 'magic'}", "a table such as"),
    ("websearch.compression", "{speed = 1}", "a table such as"),
    ("websearch.compression", "{method = 'rag', embedding_model_meta = 1}", "a table such as"),
    ("websearch.compression", "{method = 'rag', embedding_model_meta = {dimensions = 'unknown'}}", "a table such as"),
    ("websearch.compression", "{method = 'rag', embedding_model_meta = {dimensions = -5}}", "a table such as"),
    ("llm.base_url", "'ftp://x'", "an http(s) URL"),
    ("cache.url", "'http://x'", "a URL such as redis://"),
]


@pytest.mark.parametrize(("key", "written", "accepted"), INVALID_IN_FILE)
def test_invalid_value_in_the_file_is_reported_once_and_the_default_is_used(
    file: Path, key: str, written: str, accepted: str
) -> None:
    section, _, name = key.rpartition(".")
    found = load(file, f"[{section}]\n{name} = {written}\n")
    assert found[TABLE[key]] == TABLE[key].default
    assert found.look_up(TABLE[key]).origin == "default"
    problems = list(found.problems())
    assert len(problems) == 1
    assert key in problems[0]
    assert accepted in problems[0]
    assert f"({file})" in problems[0]
    assert problems[0].endswith(f"using the default {to_toml(TABLE[key].default)}")


def test_invalid_domain_leaves_the_others_excluded(file: Path) -> None:
    found = load(file, "[websearch]\nexclude_domains = ['facebook.com', '*.pinterest.*', '/(/']\n")
    assert found[EXCLUDE_DOMAINS] == ["facebook.com"]
    problem = f"ignoring '*.pinterest.*', '/(/' in websearch.exclude_domains ({file}): use {PATTERNS.description}"
    assert list(found.problems()) == [problem]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("websearch.max_results", "many"),
        ("websearch.max_results", ""),
        ("websearch.max_results", "²"),
        ("websearch.max_results", "9" * 5000),
        ("websearch.timeout", "--5"),
        ("websearch.timeout", "nan"),
        ("websearch.search_with_time", "maybe"),
        ("websearch.fallback", "[1, 2]"),
        ("websearch.fallback", "['a'"),
        ("websearch.fallback", "[" * 5000),
        ("websearch.compression", "cutoff"),
        ("websearch.compression", "{}}"),
        ("websearch.region", "\udcff"),
        ("websearch.safe_search", "none"),
    ],
)
def test_invalid_value_in_the_environment_is_reported_and_the_default_is_used(file: Path, key: str, text: str) -> None:
    setting = TABLE[key]
    found = load(file, **{setting.variable: text})
    assert found[setting] == setting.default
    assert [problem for problem in found.problems() if key in problem and setting.variable in problem]


def test_invalid_secret_is_not_shown(file: Path) -> None:
    problems = list(load(file, "[llm]\napi_key = 123456789012\n").problems())
    assert len(problems) == 1
    assert "123456789012" not in problems[0]
    problems = list(load(file, "", SLEUTH_LLM_API_KEY=f"{KEY}\udcff").problems())
    assert KEY not in " ".join(problems)
    with pytest.raises(SettingsError) as caught:
        change(str(file), "llm.api_key", f"{KEY}\udcff")
    assert KEY not in str(caught.value) + str(caught.value.values)


@pytest.mark.parametrize(
    ("text", "key", "suggestion"),
    [
        ("[websearch]\nmax_result = 5\n", "websearch.max_result", "websearch.max_results"),
        ("[websearh]\ntimeout = 5\n", "websearh.timeout", "websearch.timeout"),
        ("timeout = 5\n", "timeout", "timeout"),
        ("[agent.web_search]\nenable = true\n", "agent.web_search.enable", "agent.web_search.enabled"),
        ("[completely]\ndifferent = 5\n", "completely.different", ""),
        ("[websearch]\nbogus = 5\n", "websearch.bogus", ""),
        ("[nosuchsection]\na = 5\n", "nosuchsection.a", ""),
        ("[nosuchsection]\nkey = 5\n", "nosuchsection.key", ""),
        ("[search]\nmax = 5\n", "search.max", "websearch.max_results"),
        ("[cache]\nttl = 5\n", "cache.ttl", "cache.ttl_minutes"),
    ],
)
def test_unknown_key_is_reported_with_a_suggestion(file: Path, text: str, key: str, suggestion: str) -> None:
    problems = list(load(file, text).problems())
    assert len(problems) == 1
    assert f"unknown setting {key}" in problems[0]
    assert ("did you mean" in problems[0], suggestion in problems[0]) == (bool(suggestion), True)


def test_value_instead_of_a_table_is_reported(file: Path) -> None:
    assert [*load(file, "websearch = 5\n").problems()] == ["websearch is a section, not a setting"]


def test_table_instead_of_a_value_is_reported(file: Path) -> None:
    assert "websearch.max_results" in next(load(file, "[websearch.max_results]\na = 1\n").problems())


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"[websearch]\nmax_results = \n", "line 2, column 15"),
        (b"[websearch\n", "line 1, column 11"),
        (b"a = 1\na = 2\n", "line 2"),
        (b"[cache]\n[cache]\n", "is not valid TOML: [cache] is defined twice (at line 2, column 7)"),
        (b"[a.b]\n[a.b]\n", "[a.b] is defined twice"),
        (b"\xef\xbb\xbf[websearch\n", "line 1, column 11"),
        (b"# fine\n\xff", "line 2, column 1"),
        (b"\xef\xbb\xbfa = '\xff'", "line 1, column 6"),
        ("a = 'é'".encode("utf-16"), "line 1, column 1"),
        (b"a = " + b"[" * 5000, ""),
    ],
)
def test_syntax_error_names_line_and_column(file: Path, data: bytes, place: str) -> None:
    file.write_bytes(data)
    with pytest.raises(SettingsError, match="not valid TOML") as caught:
        Settings(str(file), {})
    assert place in str(caught.value)
    assert str(file) in str(caught.value)
    assert "config edit" in caught.value.hint


def test_unreadable_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot read") as caught:
        read_toml(str(tmp_path))
    assert caught.value.advice == f"check type, owner and permissions: ls -ld {tmp_path.parent} {tmp_path}"


def test_byte_order_mark_is_accepted(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf[websearch]\nmax_results = 7\n")
    assert Settings(str(file), {})[settings.MAX_RESULTS] == 7
    change(str(file), "websearch.max_results", "8")
    assert Settings(str(file), {})[settings.MAX_RESULTS] == 8


# Writing


COMMENTED = """# my settings
[ui]  # looks
theme = "dark"     # at night

[websearch] # searching
# the best ones first
fallback = [
  "brave",  # paid
  "searxng",
]
max_results = 7 # enough
"""


@pytest.mark.parametrize(
    "text", ['[websearch]\nfallback = ["a",\n\n[llm]\nmodel = "m"\n', '[websearch]\nfallback = ["a"\n', "[ui]\nx = {\n"]
)
def test_value_that_is_never_closed_is_found_where_it_begins(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        Settings(str(file), {})
    assert str(file) in str(caught.value)
    assert "line 2" in str(caught.value)
    assert caught.value.values["line"] == 2
    assert "line {line}" in caught.value.hint


@pytest.mark.parametrize("section", ["llm", "embedding", "rerank"])
def test_url_of_another_server_is_refused_while_a_key_is_set(file: Path, section: str) -> None:
    url, key = f"{section}.base_url", f"{section}.api_key"
    change(str(file), url, "https://one.example/v1")
    change(str(file), key, "sk-1")
    change(str(file), url, "https://one.example/v2")
    before = file.read_text()
    for other, port in (
        ("https://two.example/v1", ""),
        ("http://one.example/v1", ":443"),
        ("https://one.example:8443/v1", ":443"),
        (None, ""),
    ):
        with pytest.raises(SettingsError, match=f"{key} was set for one.example{port}$"):
            change(str(file), url, other)
    assert file.read_text() == before
    change(str(file), key, None)
    change(str(file), url, "https://two.example/v1")
    change(str(file), key, "sk-2")


def test_key_without_a_url_belongs_to_the_default_server(file: Path) -> None:
    change(str(file), "llm.api_key", "sk-1")
    with pytest.raises(SettingsError, match=r"was set for api\.deepseek\.com"):
        change(str(file), "llm.base_url", "https://two.example/v1")
    change(str(file), "rerank.api_key", "sk-1")  # there is no default server
    change(str(file), "rerank.base_url", "https://two.example/v1")


def test_new_value_stands_above_the_comment_of_the_next_section(file: Path) -> None:
    file.write_text("[websearch]\nmax_results = 7\n# about that\n\n# my models\n[llm]\nmodel = 'm'\n# end\n")
    change(str(file), "websearch.timeout", "2.5")
    change(str(file), "llm.base_url", "http://localhost/v1")
    assert file.read_text() == (
        "[websearch]\nmax_results = 7\n# about that\ntimeout = 2.5\n\n# my models\n"
        "[llm]\nmodel = 'm'\nbase_url = \"http://localhost/v1\"\n# end\n"
    )


def test_changing_a_value_keeps_comments_and_order(file: Path) -> None:
    file.write_text(COMMENTED)
    assert change(str(file), "websearch.max_results", "9") == 9
    assert file.read_text() == COMMENTED.replace("max_results = 7", "max_results = 9")


def test_adding_and_removing_values_keeps_comments_and_order(file: Path) -> None:
    file.write_text(COMMENTED)
    change(str(file), "websearch.timeout", "2.5")
    change(str(file), "cache.ttl_minutes", "0")
    change(str(file), "ui.theme", None)
    lines = file.read_text().splitlines()
    kept = [line for line in COMMENTED.splitlines() if line and not line.startswith("theme")]
    assert [line for line in lines if line in kept] == kept
    data = tomllib.loads(file.read_text())
    assert data["websearch"] == {"fallback": ["brave", "searxng"], "max_results": 7, "timeout": 2.5}
    assert data["cache"] == {"ttl_minutes": 0}
    assert data["ui"] == {}


def test_new_file_and_folders_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        change(str(tmp_path / "new/folder/config.toml"), "ui.theme", "dark")
    finally:
        os.umask(before)
    made = tmp_path / "new/folder/config.toml"
    assert made.read_text() == '[ui]\ntheme = "dark"\n'
    modes = {str(path.relative_to(tmp_path)): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {
        "new": 0o700,
        "new/folder": 0o700,
        "new/folder/config.toml": 0o600,
        "new/folder/config.toml.lock": 0o600,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# only a comment",
        "[websearch]",
        "[websearch]\nmax_results = 3",
        "websearch = { max_results = 3 }\n",
        "websearch = {}\n",
        "websearch.max_results = 3\n",
        "websearch.compression.method = 'none'\nui.theme = 'dark'\n",
        "[websearch]\nmax_results = 3\n[websearch.compression]\nmethod = 'cutoff'\n\n[ui]\ntheme = 'dark'\n",
        "[websearch.compression]\nmethod = 'none'\n[ui]\ntheme = 'dark'\n[websearch]\nmax_results = 3\n",
        "[agent.a]\nx = 1\n[ui]\ntheme = 'dark'\n[agent.b]\ny = 2\n",
        "[agent.web_search]\nenabled = true\n[ui]\n[agent.other]\ny = 2\n",
        "[[other]]\na = 1\n[[other]]\na = 2\n",
        "x = nan\nd = 2026-01-01\n'quoted.key' = 1\n",
        "s = '''\nmany\nlines'''\n[ui]\n",
    ],
)
def test_changing_a_value_changes_nothing_else_in_any_layout(file: Path, text: str) -> None:
    changes: list[tuple[str, str | None, Any]] = [
        ("websearch.max_results", "8", 8),
        ("websearch.timeout", "2.5", 2.5),
        ("websearch.compression", "{method = 'rag', document_count = 2}", {"method": "rag", "document_count": 2}),
        ("websearch.fallback", "a,b", ["a", "b"]),
        ("agent.web_search.enabled", "false", False),
        ("ui.theme", "light", "light"),
        ("websearch.max_results", None, None),
        ("websearch.compression", None, None),
        ("agent.web_search.enabled", None, None),
    ]
    for number, (key, written, value) in enumerate(changes):
        ends = "\r\n" if number % 2 else "\n"
        file.write_bytes(text.replace("\n", ends).encode())
        before = dict(toml_file.leaves(tomllib.loads(text), TABLE))
        assert change(str(file), key, written) == value
        data = file.read_bytes().decode()
        after = dict(toml_file.leaves(tomllib.loads(data), TABLE))
        assert after.pop(key, None) == value
        before.pop(key, None)
        assert {name: repr(it) for name, it in after.items()} == {name: repr(it) for name, it in before.items()}
        if ends == "\r\n" and "\n" in text:
            assert data.count("\n") == data.count("\r\n")


def test_compression_is_replaced_as_a_whole(file: Path) -> None:
    change(str(file), "websearch.compression", "{method = 'cutoff', cutoff_limit = 9, cutoff_unit = 'token'}")
    change(str(file), "websearch.compression", "{method = 'rag'}")
    assert tomllib.loads(file.read_text()) == {"websearch": {"compression": {"method": "rag"}}}


def test_removing_an_absent_setting_does_not_touch_the_file(file: Path) -> None:
    change(str(file), "ui.theme", None)
    assert not file.exists()
    file.write_text("[ui]\n")
    before = file.stat().st_mtime_ns, file.stat().st_ino
    change(str(file), "ui.theme", None)
    change(str(file), "cache.ttl_minutes", None)
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == before


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("websearch.max_results", "0"),
        ("websearch.max_results", "many"),
        ("websearch.safe_search", "sometimes"),
        ("websearch.compression", "{method = 'magic'}"),
        ("websearch.region", "\udcff"),
        ("llm.base_url", "localhost:11434"),
    ],
)
def test_invalid_value_is_refused_and_the_file_is_unchanged(file: Path, key: str, text: str) -> None:
    file.write_text(COMMENTED)
    with pytest.raises(SettingsError, match=f"invalid value .* for {key}") as caught:
        change(str(file), key, text)
    assert caught.value.exit == 2
    assert caught.value.hint == "use {accepted}"
    assert file.read_text() == COMMENTED


def test_unknown_key_is_refused(file: Path) -> None:
    with pytest.raises(SettingsError, match=r"did you mean websearch\.max_results"):
        change(str(file), "websearch.maxresults", "5")
    with pytest.raises(SettingsError, match="unknown setting nonsense"):
        find_setting("nonsense")
    assert not file.exists()


@pytest.mark.parametrize("data", [b"[websearch\n", b"a = 1\na = 2\n", b"\xff\xfe"])
def test_invalid_file_is_never_overwritten(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    for text in ("5", None):
        with pytest.raises(SettingsError, match="not valid TOML"):
            change(str(file), "websearch.max_results", text)
    assert file.read_bytes() == data


@pytest.mark.parametrize("text", ["websearch = 5\n", "websearch = 0\n", "[[websearch]]\na = 1\n", "websearch = ''\n"])
def test_section_that_is_not_a_table_is_an_error(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"cannot change websearch\.max_results in .* without damaging the file"):
        change(str(file), "websearch.max_results", "5")
    change(str(file), "websearch.max_results", None)  # there is nothing to remove
    assert file.read_text() == text


@pytest.mark.parametrize("result", ["", "[websearch]\nmax_results = 9\n", "[broken", None])
def test_file_is_unchanged_when_tomlkit_would_damage_it(
    file: Path, monkeypatch: pytest.MonkeyPatch, result: str | None
) -> None:
    import tomlkit

    def dumps(_: Any) -> str:
        if result is None:
            raise AttributeError("a bug in tomlkit")
        return result

    file.write_text(COMMENTED)
    monkeypatch.setattr(tomlkit, "dumps", dumps)
    with pytest.raises(SettingsError, match="without damaging the file"):
        change(str(file), "websearch.max_results", "9")
    assert file.read_text() == COMMENTED


def test_symbolic_link_is_kept(tmp_path: Path, file: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(COMMENTED)
    file.symlink_to(real)
    change(str(file), "websearch.max_results", "9")
    assert file.is_symlink()
    assert real.read_text() == COMMENTED.replace("= 7", "= 9")


@pytest.mark.parametrize("place", ["file/config.toml", "/proc/config.toml"])
def test_unwritable_folder_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError):
        change(str(tmp_path / place), "ui.theme", "dark")


def test_lock_that_never_changes_hands_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_file, "locked", lambda path: locked(path, 0))
    with locked(f"{file}.lock"), pytest.raises(SettingsError, match="locked"):
        change(str(file), "ui.theme", "dark")


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES: list[Any] = [
    st.tuples(st.just("rerank.model"), TEXTS.map(lambda text: (text, text))),
    st.tuples(st.just("websearch.max_results"), st.integers(1, 50).map(lambda n: (str(n), n))),
    st.tuples(st.just("websearch.timeout"), st.floats(0.1, 600).map(lambda n: (repr(n), n))),
    st.tuples(st.just("fetch.browser"), st.booleans().map(lambda b: (str(b).lower(), b))),
    st.tuples(
        st.just("websearch.exclude_domains"),
        st.lists(st.from_regex(r"(\*\.)?[a-z-]{1,4}(\.[a-z]{1,4})?", fullmatch=True), max_size=4).map(
            lambda names: (",".join(names), names)
        ),
    ),
]


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(st.lists(st.one_of(VALUES), min_size=1, max_size=5))
def test_written_value_is_read_back(file: Path, changes: list[tuple[str, tuple[str, Any]]]) -> None:
    file.unlink(missing_ok=True)
    for key, (text, _) in changes:
        change(str(file), key, text)
    found = Settings(str(file), {})
    for key, (_, value) in dict(changes).items():
        assert found.look_up(TABLE[key]) == (value, "file", "")
    assert list(found.problems()) == []


WRITER_IMPORTS = """
import tomlkit
from sleuth.store import default_chains, settings
from sleuth.store.setting_types import whole
for key in range(64):
    settings.Setting(f"test.key{key}", 0, whole(0, 9), "a test")
"""


def test_no_setting_is_lost_when_64_processes_write_at_once(file: Path) -> None:
    run_at_once(64, WRITER_IMPORTS, 'settings.change(arguments[0], f"test.key{number}", "7")', file)
    assert read_toml(str(file)) == {"test": {f"key{number}": 7 for number in range(64)}}
