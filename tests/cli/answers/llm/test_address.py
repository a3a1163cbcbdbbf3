"""However a base is written, one address comes of it; a key goes to the host it was made for."""

import pytest

from sleuth.answers.llm.address import chat_address, is_private, key_from, list_address, place_of, sends_key_in_clear


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
def test_address_is_made_of_any_base(base: str, address: str) -> None:
    assert chat_address(base) == address
    assert list_address(base) == address.replace("/chat/completions", "/models")


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
def test_key_is_found_for_the_host_it_was_made_for(base: str, variable: str) -> None:
    assert key_from({variable: " k1 "}, base) == "k1"


@pytest.mark.parametrize(
    "base",
    [
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com",
        "https://api.openai.com@evil.example/v1",
        "https://openai.com/v1",
        "http://localhost:11434",
    ],
)
def test_key_is_found_for_no_other_host(base: str) -> None:
    assert key_from({"OPENAI_API_KEY": "k1", "": "k2"}, base) == ""


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "192.168.1.9", "10.0.0.7", "nas", "box.local"])
def test_machines_of_one_s_own_are_private(host: str) -> None:
    assert is_private(f"http://{host}:8080/v1")


@pytest.mark.parametrize("host", ["api.deepseek.com", "8.8.8.8", "local.example.org"])
def test_other_machines_are_not_private(host: str) -> None:
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
def test_plain_http_to_another_machine_is_in_the_open(base: str, is_open: bool) -> None:
    assert sends_key_in_clear(base) == is_open


def test_messages_name_no_password() -> None:
    assert place_of("https://name:word@h.example:8443/v1") == "h.example:8443"
