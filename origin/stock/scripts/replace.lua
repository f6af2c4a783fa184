-- Replaces a value unless somebody else has replaced it since it was read.
--
-- KEYS  1 value (string)
-- ARGV  1 the value that was read; empty: there was none
--       2 the new value
--       3 its time to live (ms)
-- Returns 1 if it was replaced, else 0
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
