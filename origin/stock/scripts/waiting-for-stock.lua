-- Waiting for stock: visitors who found all units in carts, or come after others who want them, have none since, and
-- keep asking.
--
-- KEYS for each number of unpaid orders, from none: waiting (zset: visitor -> last request, ms); and one for those
--       without who wait for the use of a promo code alone
-- ARGV  1 how long a visitor counts without asking again (ms)
--       2.. for each visitor: name, and which of the keys is theirs, from 0; '' once they have got a unit
-- Returns how many are waiting, for each key
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV, 2 do
  local own = tonumber(ARGV[i + 1])
  for k, waiting in ipairs(KEYS) do
    if k - 1 == own then redis.call('ZADD', waiting, now, ARGV[i]) else redis.call('ZREM', waiting, ARGV[i]) end
  end
end
local counts = {}
for k, waiting in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', waiting, '-inf', now - ARGV[1])
  counts[k] = redis.call('ZCARD', waiting)
  -- The key expires by itself, because the script is not called after the sale and would leave the last visitors.
  if counts[k] > 0 then redis.call('PEXPIRE', waiting, 2 * ARGV[1]) end
end
return counts
