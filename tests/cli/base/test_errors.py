"""Times in messages."""

import time

from sleuth.base.errors import local_time


def test_time_in_a_message_is_not_over_yet() -> None:
    begin = time.mktime((2026, 11, 5, 4, 34, 0, 0, 0, -1))
    assert [local_time(begin + more) for more in (0, 1, 45)] == ["2026-11-05 04:34", *["2026-11-05 04:35"] * 2]
