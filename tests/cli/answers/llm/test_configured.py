"""Which models the settings lead to, and which key goes where."""

from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth.answers.llm import address
from sleuth.answers.llm.configured import find_models
from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.store.settings import Settings

KEY = "sk-secret-0123456789"


def found(tmp_path: Path, **environ: str) -> Any:
    named = {name if name.isupper() else f"SLEUTH_LLM_{name.upper()}": value for name, value in environ.items()}
    return find_models(Settings(str(tmp_path / "config.toml"), named), named)


def test_no_key_is_no_model(tmp_path: Path) -> None:
    assert found(tmp_path) is None
    assert found(tmp_path, OPENAI_API_KEY=KEY) is None
    assert found(tmp_path, base_url="https://api.example.org/v1", OPENAI_API_KEY=KEY, DEEPSEEK_API_KEY=KEY) is None


@pytest.mark.parametrize("setting", ["base_url", "model"])
def test_nothing_named_is_no_model(setting: str, tmp_path: Path) -> None:
    assert found(tmp_path, **{setting: "", "DEEPSEEK_API_KEY": KEY}) is None


def test_key_of_the_environment_is_enough(tmp_path: Path) -> None:
    models = found(tmp_path, DEEPSEEK_API_KEY=KEY)
    assert (models.writer.name, models.writer.endpoint.key) == ("deepseek-flash", KEY)
    assert models.reasoner is models.writer


@pytest.mark.parametrize("value", [KEY, "env:MINE", f"cmd:echo {KEY}"])
def test_key_of_the_settings_wins(value: str, tmp_path: Path) -> None:
    models = found(tmp_path, api_key=value, MINE=KEY, DEEPSEEK_API_KEY="another")
    assert models.writer.endpoint.key == KEY
    assert KEY not in logs.safe(f"it is {KEY}")


def test_key_of_the_settings_that_leads_nowhere_is_none(tmp_path: Path) -> None:
    assert found(tmp_path, api_key="env:NOBODY", DEEPSEEK_API_KEY=KEY) is None


@pytest.mark.parametrize("host", ["localhost:11434", "127.0.0.1:8080", "192.168.1.9:8000", "box.local", "[::1]:80"])
def test_server_of_one_s_own_needs_no_key(host: str, tmp_path: Path) -> None:
    models = found(tmp_path, base_url=f"http://{host}/v1", model="llama", OPENAI_API_KEY=KEY)
    assert (models.writer.name, models.writer.endpoint.key) == ("llama", "")


def test_key_is_not_sent_in_the_open(tmp_path: Path) -> None:
    for host in ("api.example.org", "192.168.1.9"):
        with pytest.raises(SettingsError, match="unencrypted") as caught:
            found(tmp_path, base_url=f"http://{host}/v1", api_key=KEY)
        assert caught.value.hint.format_map(caught.value.values).endswith(f"llm.base_url https://{host}/v1")
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("address", ["http://[::1", "http://h:99999", "https://a b/"])
def test_address_that_is_none_is_said(address: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"llm\.base_url"):
        found(tmp_path, base_url=address, api_key=KEY)


def test_reasoner_is_the_writer_unless_it_is_named(tmp_path: Path) -> None:
    local = {"base_url": "http://localhost:11434", "model": "llama"}
    models = found(tmp_path, **local)
    assert (models.writer.name, models.reasoner) == ("llama", models.writer)
    models = found(tmp_path, **local, reasoner_model="qwq")
    assert (models.writer.name, models.reasoner.name) == ("llama", "qwq")


def test_price_is_what_was_set(tmp_path: Path) -> None:
    models = found(tmp_path, DEEPSEEK_API_KEY=KEY, price_input="2", price_output="auto")
    assert models.writer.endpoint.price.input == 2
    assert models.writer.endpoint.price.output > 0


@pytest.mark.parametrize(
    ("value", "good"), [("0", True), ("1.5", True), ("auto", True), ("-1", False), ("cheap", False)]
)
def test_price_is_a_number_or_auto(value: str, good: bool, sleuth: Any) -> None:
    assert sleuth("config", "set", "llm.price_input", value).exit == (0 if good else 2)


def test_doctor_looks_for_key_and_address_in_the_same_places(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(address.KEY_VARIABLES, httpserver.host, "MY_KEY")
    headers = {"Authorization": f"Bearer {KEY}"}
    httpserver.expect_request("/v1/models", headers=headers).respond_with_json({"data": [{"id": "m"}]})
    server = {"SLEUTH_LLM_BASE_URL": httpserver.url_for("/"), "SLEUTH_LLM_MODEL": "m"}
    done = sleuth("doctor", "--only", "model", "--json", MY_KEY=KEY, **server)
    assert [check["state"] for check in done.json["checks"]] == ["ok"]
    assert KEY not in done.out + done.err
