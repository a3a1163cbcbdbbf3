-- Rate limits of a provider over all machines: a sliding window on the clock of the server.
-- KEYS: one sorted set per window. ARGV: a unique id of the request, then limit and milliseconds of each window.
-- Returns 0 when the request was counted in all windows, else the milliseconds until one has room.
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
