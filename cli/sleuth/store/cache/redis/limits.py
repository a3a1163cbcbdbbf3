"""Rate limits over all machines: a sliding window on the clock of the shared server."""

import os
import time

from sleuth.store.cache.redis.server import PREFIX, RedisServer, RedisUnavailableError

# KEYS: one sorted set per window. ARGV: a unique id of the request, then limit and milliseconds of each window.
# Returns 0 when the request was counted in all windows, else the milliseconds until one has room.
RESERVE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
for index, key in ipairs(KEYS) do
  local limit, span = tonumber(ARGV[2 * index]), tonumber(ARGV[2 * index + 1])
  local kind = redis.call('TYPE', key)['ok']
  if kind ~= 'zset' and kind ~= 'none' then redis.call('DEL', key) end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - span)
  redis.call('ZREMRANGEBYSCORE', key, now + span, '+inf')
  local oldest = redis.call('ZREVRANGE', key, limit - 1, limit - 1, 'WITHSCORES')
  if oldest[2] then return math.max(1, tonumber(oldest[2]) + span - now) end
end
for index, key in ipairs(KEYS) do
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, ARGV[2 * index + 1])
end
return 0
"""


class RedisLimits:
    """Rate limits by provider id; API keys are not part of them."""

    def __init__(self, server: RedisServer) -> None:
        self.server = server

    def reserve(self, provider: str, per_minute: int, per_day: int) -> float | None:
        """Count a request; if a limit is reached, return the time at which the next one is allowed instead."""
        windows = {"minute": (per_minute, 60_000), "day": (per_day, 86_400_000)}
        windows = {name: window for name, window in windows.items() if window[0]}
        names = [f"{PREFIX}limit:{{{provider}}}:{name}" for name in windows]
        numbers = [number for window in windows.values() for number in window]
        try:
            [wait] = self.server.execute(("EVAL", RESERVE, len(names), *names, os.urandom(8).hex(), *numbers))
        except RedisUnavailableError:
            return None  # the limits of this machine still apply
        return time.time() + wait / 1000 if isinstance(wait, int) and wait > 0 else None
