-- Notes a value unless a higher one holds.
--
-- KEYS  1 the highest value (string)
-- ARGV  1 the value
--       2 how long it holds (ms)
-- Returns 1 if it is the highest now, else 0
local known = tonumber(redis.call('GET', KEYS[1]) or '')
if known and known > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
