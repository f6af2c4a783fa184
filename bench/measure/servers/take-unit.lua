-- A reserve script as the field writes it, one caller per call.
--
-- KEYS  1 stock (counter)   2 seen (hash: visitor|key -> order)
-- ARGV  1 visitor|key       2 order
-- Returns the order of this key, or '' when there is no unit left.
local known = redis.call('HGET', KEYS[2], ARGV[1])
if known then return known end
if tonumber(redis.call('GET', KEYS[1]) or '0') < 1 then return '' end
redis.call('DECR', KEYS[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return ARGV[2]
