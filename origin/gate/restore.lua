-- Restore: puts live orders back, as they are in the ledger, while the gate is fenced.
--
-- KEYS  1 holds   2 keys   3 visitors   (as in reserve.lua)
-- ARGV  six per order: order, visitor, key, request hash, quantity, end of its hold (ms; empty when it is sold)
-- Returns how many units are held by those orders.
local held = 0
for i = 1, #ARGV, 6 do
  local order, visitor, quantity, ends = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 4]), ARGV[i + 5]
  redis.call('HSET', KEYS[2], visitor .. '|' .. ARGV[i + 2], order .. '|' .. ARGV[i + 3])
  local has = redis.call('HGET', KEYS[3], visitor)
  local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
  redis.call('HSET', KEYS[3], visitor, (units + quantity) .. '|' .. order)
  if ends ~= '' then
    redis.call('ZADD', KEYS[1], ends, order)
    held = held + quantity
  end
end
return held
