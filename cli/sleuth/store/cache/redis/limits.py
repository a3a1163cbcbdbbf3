"""How often a provider may be asked by all machines together: a sliding window by the shared server's clock."""

import os
import time

from sleuth.store.cache.redis.server import PREFIX, RedisServer, RedisUnavailableError

# KEYS: a window for each limit. ARGV: who asks, then limit and milliseconds of each window.
# Answers 0 when a place was taken in all of them, else the milliseconds until there may be one.
RESERVE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for index, key in ipairs(KEYS) do
  local limit, span = tonumber(ARGV[2 * index]), tonumber(ARGV[2 * index + 1])
  local kind = redis.call('TYPE', key)['ok']
  if kind ~= 'zset' and kind ~= 'none' then redis.call('DEL', key) end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - span)
  redis.call('ZREMRANGEBYSCORE', key, now + span, '+inf')
  local place = redis.call('ZREVRANGE', key, limit - 1, limit - 1, 'WITHSCORES')
  if place[2] then return math.max(1, tonumber(place[2]) + span - now) end
end
for index, key in ipairs(KEYS) do
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2 * index + 1])
end
return 0
"""


class RedisLimits:
    """The allowances of providers, by their ids; no key of a provider has a part in it."""

    def __init__(self, server: RedisServer) -> None:
        self.server = server

    def reserve(self, provider: str, per_minute: int, per_day: int) -> float | None:
        """Take a place in the allowance of all machines; returns when the next one is free if there is none now."""
        windows = {"minute": (per_minute, 60_000), "day": (per_day, 86_400_000)}
        windows = {name: window for name, window in windows.items() if window[0]}
        names = [f"{PREFIX}limit:{{{provider}}}:{name}" for name in windows]
        numbers = [number for window in windows.values() for number in window]
        try:
            [wait] = self.server.ask(("EVAL", RESERVE, len(names), *names, os.urandom(8).hex(), *numbers))
        except RedisUnavailableError:
            return None  # this machine's own count holds
        return time.time() + wait / 1000 if isinstance(wait, int) and wait > 0 else None
