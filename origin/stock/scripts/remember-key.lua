-- Remember key: a key that was answered with another key's order returns that order from now on. The number of such
-- keys per visitor is limited; it is counted under the empty key, which nobody can send.
--
-- KEYS  1 keys (as in reserve.lua)
-- ARGV  1 visitor   2 key   3 order|request hash   4 limit per visitor
-- Returns nothing
local count = ARGV[1] .. ' '
if tonumber(redis.call('HGET', KEYS[1], count) or 0) >= tonumber(ARGV[4]) then return end
-- HSETNX: an order reserved under the key meanwhile stays.
if redis.call('HSETNX', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], ARGV[3]) == 1 then
  redis.call('HINCRBY', KEYS[1], count, 1)
end
