"""The URLs, the API key and the models that the settings lead to."""

from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth.answers.llm import endpoint
from sleuth.answers.llm.endpoint import (
    chat_url,
    find_models,
    is_private,
    models_url,
    server_name,
)
from sleuth.answers.llm.prices import Price
from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.urls import is_in_clear
from sleuth.engine.scorers import scorer
from sleuth.store.settings import Settings

KEY = "sk-secret-0123456789"
MODELS = ("llm", "rerank", "embedding")


def found(tmp_path: Path, **environ: str) -> Any:
    named = {name if name.isupper() else f"SLEUTH_LLM_{name.upper()}": value for name, value in environ.items()}
    return find_models(Settings(str(tmp_path / "config.toml"), named), named)


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://api.deepseek.com", "https://api.deepseek.com/v1/chat/completions"),
        ("https://api.deepseek.com/", "https://api.deepseek.com/v1/chat/completions"),
        ("https://api.deepseek.com/v1", "https://api.deepseek.com/v1/chat/completions"),
        ("https://api.deepseek.com/beta", "https://api.deepseek.com/beta/chat/completions"),
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/v1//", "http://localhost:11434/v1/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/v1/chat/completions/", "https://h/v1/chat/completions"),
        ("https://h/odd/chat/completions", "https://h/odd/chat/completions"),
        ("https://h/v1/models", "https://h/v1/chat/completions"),
        ("https://open.bigmodel.cn/api/paas/v4", "https://open.bigmodel.cn/api/paas/v4/chat/completions"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
        ("https://vortex.example/llm", "https://vortex.example/llm/v1/chat/completions"),
        (" https://h/v1 ", "https://h/v1/chat/completions"),
        ("https://h/v1?api-version=2", "https://h/v1/chat/completions?api-version=2"),
        ("https://name:word@h/v1", "https://h/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_urls_are_built_from_any_base_url(base: str, address: str) -> None:
    assert chat_url(base) == address
    assert models_url(base) == address.replace("/chat/completions", "/models")


@pytest.mark.parametrize(
    ("base", "variable"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("https://API.DeepSeek.com", "DEEPSEEK_API_KEY"),
        ("https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"),
        ("https://open.bigmodel.cn/api/paas/v4", "ZHIPU_API_KEY"),
        ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    ],
)
def test_environment_key_is_sent_to_the_host_that_issued_it(base: str, variable: str, tmp_path: Path) -> None:
    assert found(tmp_path, base_url=base, **{variable: " k1 "}).writer.endpoint.key == "k1"


@pytest.mark.parametrize(
    "base",
    [
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com",
        "https://openai.com/v1",
    ],
)
def test_environment_key_is_sent_to_no_other_host(base: str, tmp_path: Path) -> None:
    assert found(tmp_path, base_url=base, OPENAI_API_KEY="k1") is None


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "192.168.1.9", "10.0.0.7", "nas", "box.local"])
def test_hosts_on_the_local_network_are_private(host: str) -> None:
    assert is_private(f"http://{host}:8080/v1")


@pytest.mark.parametrize("host", ["api.deepseek.com", "8.8.8.8", "local.example.org"])
def test_public_hosts_are_not_private(host: str) -> None:
    assert not is_private(f"https://{host}/v1")


@pytest.mark.parametrize(
    ("base", "is_open"),
    [
        ("http://192.168.1.9/v1", True),
        ("http://api.deepseek.com", True),
        ("https://api.deepseek.com", False),
        ("http://localhost:1", False),
        ("http://127.0.0.2", False),
        ("http://[::1]:1", False),
        ("http://127.0.0.1.evil.example", True),
    ],
)
def test_plain_http_to_another_machine_sends_the_key_in_clear(base: str, is_open: bool) -> None:
    assert is_in_clear(base) == is_open


def test_server_name_has_no_password() -> None:
    assert server_name("https://name:word@h.example:8443/v1") == "h.example:8443"


def test_there_is_no_model_without_a_key(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    assert found(tmp_path, OPENAI_API_KEY=KEY) is None
    assert found(tmp_path, base_url="https://api.example.org/v1", OPENAI_API_KEY=KEY, DEEPSEEK_API_KEY=KEY) is None


@pytest.mark.parametrize("setting", ["base_url", "model"])
def test_there_is_no_model_without_url_and_name(setting: str, tmp_path: Path) -> None:
    assert found(tmp_path, **{setting: "", "DEEPSEEK_API_KEY": KEY}) is None


def test_a_key_in_the_environment_is_enough(tmp_path: Path) -> None:
    models = found(tmp_path, DEEPSEEK_API_KEY=KEY)
    assert (models.writer.name, models.writer.endpoint.key) == ("deepseek-flash", KEY)
    assert models.reasoner is models.writer


@pytest.mark.parametrize("value", [KEY, "env:MINE", f"cmd:echo {KEY}"])
def test_the_key_in_the_settings_comes_first(value: str, tmp_path: Path) -> None:
    models = found(tmp_path, api_key=value, MINE=KEY, DEEPSEEK_API_KEY="another")
    assert models.writer.endpoint.key == KEY
    assert KEY not in logs.safe(f"it is {KEY}")


def test_a_key_reference_that_resolves_to_nothing_is_no_key(tmp_path: Path) -> None:
    assert found(tmp_path, api_key="env:NOBODY", DEEPSEEK_API_KEY=KEY) is None


@pytest.mark.parametrize("host", ["localhost:11434", "127.0.0.1:8080", "192.168.1.9:8000", "box.local", "[::1]:80"])
def test_local_servers_need_no_key(host: str, tmp_path: Path) -> None:
    models = found(tmp_path, base_url=f"http://{host}/v1", model="llama", OPENAI_API_KEY=KEY)
    assert (models.writer.name, models.writer.endpoint.key) == ("llama", "")


def test_key_is_never_sent_unencrypted(tmp_path: Path) -> None:
    for host in ("api.example.org", "192.168.1.9"):
        with pytest.raises(SettingsError, match="unencrypted") as caught:
            found(tmp_path, base_url=f"http://{host}/v1", api_key=KEY)
        assert caught.value.hint.format_map(caught.value.values).endswith(f"llm.base_url https://{host}/v1")
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("address", ["http://[::1", "http://h:99999", "https://a b/", "ftp://h/v1"])
def test_invalid_base_url_is_an_error_and_the_key_goes_nowhere_else(address: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"llm\.base_url"):
        found(tmp_path, base_url=address, api_key=KEY)


def test_local_models_are_free(tmp_path: Path) -> None:
    models = found(tmp_path, base_url="http://localhost:11434", model="deepseek-flash")
    assert models.writer.endpoint.price == Price()


def test_reasoner_is_the_writer_by_default(tmp_path: Path, sleuth: Any) -> None:
    assert sleuth("config", "get", "llm.reasoner_model", SLEUTH_LLM_MODEL="qwq").out == "\n"
    local = {"base_url": "http://localhost:11434", "model": "llama"}
    models = found(tmp_path, **local)
    assert (models.writer.name, models.reasoner) == ("llama", models.writer)
    models = found(tmp_path, **local, reasoner_model="qwq")
    assert (models.writer.name, models.reasoner.name) == ("llama", "qwq")


def test_price_comes_from_the_settings(tmp_path: Path) -> None:
    models = found(tmp_path, DEEPSEEK_API_KEY=KEY, price_input="2", price_output="auto")
    assert models.writer.endpoint.price.input == 2
    assert models.writer.endpoint.price.output > 0


@pytest.mark.parametrize(
    ("value", "good"), [("0", True), ("1.5", True), ("auto", True), ("-1", False), ("cheap", False)]
)
def test_price_is_a_number_or_auto(value: str, good: bool, sleuth: Any) -> None:
    assert sleuth("config", "set", "llm.price_input", value).exit == (0 if good else 2)


def test_doctor_finds_the_same_key_and_url(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(endpoint.KEY_VARIABLES, httpserver.host, "MY_KEY")
    headers = {"Authorization": f"Bearer {KEY}"}
    httpserver.expect_request("/v1/models", headers=headers).respond_with_json({"data": [{"id": "m"}]})
    server = {"SLEUTH_LLM_BASE_URL": httpserver.url_for("/"), "SLEUTH_LLM_MODEL": "m"}
    done = sleuth("doctor", "--only", "model", "--json", MY_KEY=KEY, **server)
    assert [check["state"] for check in done.json["checks"]] == ["ok"]
    assert KEY not in done.out + done.err


def test_key_in_the_file_goes_to_no_host_in_the_environment(tmp_path: Path) -> None:
    tables = (f'[{name}]\nbase_url = "https://a.example/v1"\nmodel = "m"\napi_key = "{KEY}"' for name in MODELS)
    (tmp_path / "config.toml").write_text("\n".join(tables))
    (tmp_path / "config.toml").chmod(0o600)
    path = str(tmp_path / "config.toml")
    assert endpoint.find_key(Settings(path, {}), {}) == KEY
    assert scorer(Settings(path, {}), "rerank").endpoint.key == KEY
    environ = {f"SLEUTH_{name.upper()}_BASE_URL": "https://b.example/v1" for name in MODELS}
    assert endpoint.find_key(Settings(path, environ), environ) == ""
    assert [scorer(Settings(path, environ), kind).endpoint.key for kind in ("rerank", "embedding")] == ["", ""]
    both = environ | {"SLEUTH_LLM_API_KEY": "sk-for-b-0001"}
    assert endpoint.find_key(Settings(path, both), both) == "sk-for-b-0001"


def test_key_of_a_reranker_is_not_sent_in_clear(tmp_path: Path) -> None:
    environ = {"SLEUTH_RERANK_BASE_URL": "http://nas.example/v1", "SLEUTH_RERANK_MODEL": "m"}
    assert scorer(Settings(str(tmp_path / "none"), environ), "rerank").endpoint.key == ""
    environ["SLEUTH_RERANK_API_KEY"] = KEY
    with pytest.raises(SettingsError, match="unencrypted"):
        scorer(Settings(str(tmp_path / "none"), environ), "rerank")("query", ["text"])
