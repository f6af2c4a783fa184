-- Restore: puts live orders back from the ledger while the gate is fenced.
--
-- KEYS  1 stock   2 holds   3 keys   4 visitors   5 seats   6 limited   (as in reserve.lua)
-- ARGV  1 the fence
--       then seven per order: order, visitor, key, request hash, quantity, end of the hold (ms; empty if it is sold), and its
--       cart ('' if it has none)
-- Returns 1; 0 if another rebuild has begun, and nothing was changed
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
-- Usually the hash has the fence only, and need not be searched for each order.
local hasNotes = redis.call('HLEN', KEYS[1]) > 1
for i = 2, #ARGV, 7 do
  local order, visitor, quantity, ends = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 4]), ARGV[i + 5]
  -- An order noted as ended was here and does not come back: `unfence.lua` counts it, unless it was read as sold.
  local isHere, hasEnded
  if ends == '' then
    isHere = redis.call('ZREM', KEYS[2], order) == 1
      or hasNotes and redis.call('HDEL', KEYS[1], 'ended ' .. order) == 1
  else
    hasEnded = hasNotes and redis.call('HEXISTS', KEYS[1], 'ended ' .. order) == 1
    isHere = hasEnded or redis.call('ZADD', KEYS[2], 'NX', ends, order) == 0
  end
  local parts = unitsOf(ARGV[i + 6], '')
  if not hasEnded then markSeats(KEYS[5], parts, 1) end
  -- The ledger's counts include it.
  if hasNotes then redis.call('HDEL', KEYS[1], 'begun ' .. order) end
  if not isHere then
    redis.call('HSET', KEYS[3], visitor .. ' ' .. ARGV[i + 2], order .. '|' .. ARGV[i + 3])
    local has = redis.call('HGET', KEYS[4], visitor)
    local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
    redis.call('HSET', KEYS[4], visitor, (units + quantity) .. '|' .. order)
    for _, part in ipairs(parts) do redis.call('HINCRBY', KEYS[6], part[1] .. ' ' .. visitor, part[2]) end
  end
end
return 1
