"""Times in messages, and secrets that must not be in them."""

import time

from sleuth.base import logs
from sleuth.base.errors import SleuthError, describe, local_time
from sleuth.base.messages import error_as_json
from sleuth_providers.errors import UnreachableError


def test_time_in_a_message_is_not_over_yet() -> None:
    begin = time.mktime((2026, 11, 5, 4, 34, 0, 0, 0, -1))
    assert [local_time(begin + more) for more in (0, 1, 45)] == ["2026-11-05 04:34", *["2026-11-05 04:35"] * 2]


def test_secrets_that_a_server_repeats_are_not_shown() -> None:
    logs.hide("sk-secret-0123456789", "sunflower")
    detail = "no SK-Secret-0123456789 in the sunflower field"
    problem = UnreachableError(detail, message="{host} is down", hint="not sk%2Dsecret-0123456789", host=detail)
    message, hint = describe(problem)
    shown = "no [hidden] in the sunflower field"  # a common word stays
    assert message == f"{shown} is down ({shown})"
    assert hint == "not [hidden]"
    body = error_as_json(SleuthError("{text}", "{text}", text=detail))
    assert body["message"] == body["hint"] == shown
