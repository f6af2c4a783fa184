-- Waiting for stock: visitors who found all units in carts, have none since, and keep asking.
--
-- KEYS  1 waiting (zset: visitor -> last request, ms)
-- ARGV  1 how long a visitor counts without asking again (ms)
--       2 how many of the visitors below asked; the others have got a unit
--       3.. visitors
-- Returns how many are waiting
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local asked = tonumber(ARGV[2])
for i = 3, #ARGV do
  if i <= asked + 2 then redis.call('ZADD', KEYS[1], now, ARGV[i]) else redis.call('ZREM', KEYS[1], ARGV[i]) end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1])
-- Once the sale is over nobody calls this again, and the last who waited would stay.
if asked > 0 then redis.call('PEXPIRE', KEYS[1], 2 * ARGV[1]) end
return redis.call('ZCARD', KEYS[1])
