"""Error responses of every kind of server become the right error, with their message and without keys."""

import json
from typing import Any

import pytest

from sleuth.answers.llm.errors import ModelError, RequestTarget, classify, error_text, is_error, response_error
from sleuth.base import logs
from sleuth.base.errors import Exit
from sleuth_providers.base import Response

TARGET = RequestTarget("api.example.org", "m1", "https://api.example.org/v1/chat/completions")


def error_for(status: int, document: Any = None, **headers: str) -> ModelError:
    body = b"" if document is None else json.dumps(document).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return response_error(TARGET, Response(status, named, body))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"error": {"message": "No such thing", "type": "x", "code": None}}, "No such thing"),
        ({"error": "model 'x' not found, try pulling it first"}, "model 'x' not found, try pulling it first"),
        ({"code": 20012, "message": "Model does not exist", "data": None}, "Model does not exist"),
        ({"object": "error", "message": "The model `x` does not exist.", "code": 404}, "The model `x` does not exist."),
        ({"detail": "Not Found"}, "Not Found"),
        (
            {"detail": [{"loc": ["body", "messages"], "msg": "Field required", "type": "missing"}]},
            "messages: Field required",
        ),
        ({"detail": [{"msg": "a"}, {"msg": "b"}]}, "a; b"),
        ({"msg": "nope"}, "nope"),
        ({"error": {"code": "boom"}}, "boom"),
        ({"error": {"message": None}}, ""),
        ({"error": [1]}, ""),
        ([], ""),
        ({}, ""),
    ],
)
def test_message_is_found_in_every_form(document: Any, message: str) -> None:
    assert error_text(document) == message


def test_message_is_cleaned_shortened_and_redacted() -> None:
    logs.hide("k-12345678")
    words = error_text({"error": {"message": "\x1b[31mkey k-12345678\n is bad " + "x " * 1000}})
    assert "\x1b" not in words
    assert "k-12345678" not in words
    assert len(words) <= 300


def error_with(message: str = "", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message} | more}


@pytest.mark.parametrize(
    ("status", "document", "code", "exit"),
    [
        (401, error_with("Authentication Fails"), "API_KEY_INVALID", Exit.KEY),
        (403, error_with("Country not supported"), "API_KEY_INVALID", Exit.KEY),
        (402, error_with("Insufficient Balance"), "RATE_LIMIT_EXCEEDED", Exit.LIMIT),
        (429, error_with("slow down", code="rate_limit_exceeded"), "RATE_LIMIT_EXCEEDED", Exit.LIMIT),
        (400, error_with("Model Not Exist"), "MODEL_NOT_FOUND", Exit.INVALID),
        (404, error_with("no", code="model_not_found"), "MODEL_NOT_FOUND", Exit.INVALID),
        (404, {"error": "model 'x' not found"}, "MODEL_NOT_FOUND", Exit.INVALID),
        (400, error_with("m1 is not a valid model ID"), "MODEL_NOT_FOUND", Exit.INVALID),
        (404, {"detail": "Not Found"}, "BAD_RESPONSE", Exit.FAILED),
        (404, None, "BAD_RESPONSE", Exit.FAILED),
        (400, error_with("This model's maximum context length is 8192 tokens"), "CONTEXT_TOO_LONG", Exit.INVALID),
        (400, error_with("no", code="context_length_exceeded"), "CONTEXT_TOO_LONG", Exit.INVALID),
        (400, error_with("request exceeds the available context size"), "CONTEXT_TOO_LONG", Exit.INVALID),
        (413, None, "CONTEXT_TOO_LONG", Exit.INVALID),
        (400, error_with("messages must alternate"), "INVALID_REQUEST", Exit.INVALID),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "bad"}]}, "INVALID_REQUEST", Exit.INVALID),
        (405, None, "INVALID_REQUEST", Exit.INVALID),
        (500, None, "PROVIDER_UNAVAILABLE", Exit.UNREACHABLE),
        (503, error_with("overloaded"), "PROVIDER_UNAVAILABLE", Exit.UNREACHABLE),
        (529, None, "PROVIDER_UNAVAILABLE", Exit.UNREACHABLE),
        (307, None, "BAD_RESPONSE", Exit.FAILED),
        (204, None, "FAILED", Exit.FAILED),
    ],
)
def test_status_and_message_decide(status: int, document: Any, code: str, exit: Exit) -> None:
    error = error_for(status, document)
    assert (error.code, error.exit, error.status) == (code, exit, status)
    assert error.hint
    assert "api.example.org" in str(error)


@pytest.mark.parametrize(
    ("status", "message", "retryable"),
    [
        (429, "slow down", True),
        (429, "insufficient_quota", False),
        (429, "You exceeded your current quota, please check your plan", False),
        (429, "余额不足或无可用资源包,请充值。", False),
        (403, "Sorry, your account balance is insufficient", False),
        (402, "", False),
        (500, "", True),
        (401, "", False),
        (400, "", False),
    ],
)
def test_only_transient_errors_are_retryable(status: int, message: str, retryable: bool) -> None:
    assert error_for(status, error_with(message)).retryable == retryable


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (error_with("boom", code=502), "PROVIDER_UNAVAILABLE"),
        (error_with("slow down", code="rate_limit_exceeded"), "RATE_LIMIT_EXCEEDED"),
        (error_with("no", type="server_error"), "PROVIDER_UNAVAILABLE"),
        (error_with("Invalid API key"), "API_KEY_INVALID"),
        (error_with("boom"), "FAILED"),
    ],
)
def test_errors_with_http_200_are_classified_too(document: Any, code: str) -> None:
    assert is_error(document)
    assert classify(TARGET, document, 200).code == code


@pytest.mark.parametrize(
    "document", [{"choices": []}, {"error": None, "choices": []}, {"usage": {}}, {"type": "ping"}, {}]
)
def test_other_documents_are_not_errors(document: Any) -> None:
    assert not is_error(document)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "999999999"}, 31 * 86400.0),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert error_for(429, **headers).retry_after == seconds


def test_hint_contains_the_time_to_wait() -> None:
    error = error_for(429, retry_after="7")
    assert error.advice == "try again in 7 s"


def test_time_to_wait_is_in_whole_seconds() -> None:
    error = classify(TARGET, {}, 503, 0.4)
    assert (error.advice, str(error.retry_after)) == ("try again in 1 s", "1")


def test_message_names_the_parameter() -> None:
    assert "temperature: Unsupported value" in str(error_for(400, error_with("Unsupported value", param="temperature")))


def test_redirect_error_names_both_urls() -> None:
    error = error_for(301, location="https://other.example/v1")
    assert "https://other.example/v1" in str(error)
    assert TARGET.url in str(error)
