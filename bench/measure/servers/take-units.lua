-- The counter alone, for many callers at once.
--
-- KEYS  1 stock (counter)
-- ARGV  1 how many are wanted
-- Returns how many of them were taken.
local taken = math.min(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1]))
if taken > 0 then redis.call('DECRBY', KEYS[1], taken) end
return taken
