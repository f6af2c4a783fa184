-- Remember: a key that was answered with an order of another key stands for that order from now on. Each visitor has so
-- many and no more, counted under the empty key, which nobody can send.
--
-- KEYS  1 keys (as in reserve.lua)
-- ARGV  1 visitor   2 key   3 order|request hash   4 how many a visitor may have
local count = ARGV[1] .. ' '
if tonumber(redis.call('HGET', KEYS[1], count) or 0) >= tonumber(ARGV[4]) then return end
-- What was reserved under the key meanwhile stands.
if redis.call('HSETNX', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], ARGV[3]) == 1 then redis.call('HINCRBY', KEYS[1], count, 1) end
