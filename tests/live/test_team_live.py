"""A team on one Redis: two servers and twenty users with a mixed load; the long version is bench/team.py."""

import pytest
from bench import team
from tests.live.conftest import needs

pytestmark = pytest.mark.live


def test_every_distinct_query_is_requested_once_and_nothing_fails() -> None:
    needs("redis-server")
    found = team.run(servers=2, users=20, seconds=500, max_requests=300)
    assert found.errors == []
    assert found.repeated == {}
    assert sum(map(len, found.times.values())) == 300
    assert set(found.times) >= {"repeated search", "new search", "health", "providers"}
