"""The cache in memory in front of another one."""

from sleuth.store.cache.disk import Cache
from sleuth.store.cache.memory import MemoryCache


def test_value_that_has_expired_evicts_nothing() -> None:
    cache = MemoryCache(Cache(), max_entries=1)
    cache.put("repeatable", 1, 60)
    cache.put("fresh", 2, 0)
    assert cache.get("fresh") is None
    known = cache.get("repeatable")
    assert known
    assert known.value == 1
