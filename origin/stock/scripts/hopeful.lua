-- Hopeful: who was told that all units are in carts, has no unit since, and still asks now and then.
--
-- KEYS  1 hopeful (zset: visitor -> asked last, ms)
-- ARGV  1 how long one counts who does not ask again (ms)   2 how many of the visitors that follow have asked;
--       the others have got a unit
-- Returns how many are hopeful.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local asked = tonumber(ARGV[2])
for i = 3, #ARGV do
  if i <= asked + 2 then redis.call('ZADD', KEYS[1], now, ARGV[i]) else redis.call('ZREM', KEYS[1], ARGV[i]) end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1])
-- Of a sale that is over nobody asks here any more, and who hoped to the last would stay.
if asked > 0 then redis.call('PEXPIRE', KEYS[1], 2 * ARGV[1]) end
return redis.call('ZCARD', KEYS[1])
