-- Restore: puts orders back from the ledger while the gate is fenced, and of those that have ended only the keys, so
-- that the gate in use knows all of them.
--
-- KEYS  1 stock   2 holds   3 keys   4 visitors   5 seats   6 limited   7 claims   (as in reserve.lua)
-- ARGV 1 the fence then seven per order: order, visitor, key, request hash, quantity, end of the hold (ms; empty if
--       it is sold, 'ended' if it has ended), and its cart ('' if it has none)
-- Returns 1; 0 if another rebuild has begun, and nothing was changed
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
-- Usually the hash has the fence only, and need not be searched for each order.
local hasNotes = redis.call('HLEN', KEYS[1]) > 1

local function restoreLive(order, visitor, key, hash, quantity, ends, cart)
  local isHere = knowsOrder(KEYS[3], visitor, key, order)
  -- An order noted as ended does not come back: `unfence.lua` counts its end, unless it was read as sold.
  if ends == '' then
    redis.call('ZREM', KEYS[2], order)
    if hasNotes then redis.call('HDEL', KEYS[1], 'ended ' .. order) end
  elseif not (hasNotes and redis.call('HEXISTS', KEYS[1], 'ended ' .. order) == 1) then
    redis.call('ZADD', KEYS[2], 'NX', ends, order)
  end
  -- The ledger's counts include it.
  if hasNotes then redis.call('HDEL', KEYS[1], 'begun ' .. order) end
  if isHere then return end
  local parts = unitsOf(cart, '')
  claimSeats(KEYS[5], KEYS[7], parts, 1)
  redis.call('HSET', KEYS[3], visitor .. ' ' .. key, order .. '|' .. hash)
  local has = redis.call('HGET', KEYS[4], visitor)
  local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
  redis.call('HSET', KEYS[4], visitor, (units + quantity) .. '|' .. order)
  for _, part in ipairs(parts) do redis.call('HINCRBY', KEYS[6], part[1] .. ' ' .. visitor, part[2]) end
end

for i = 2, #ARGV, 7 do
  local order, visitor, key, hash = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if ARGV[i + 5] == 'ended' then
    redis.call('HSETNX', KEYS[3], visitor .. ' ' .. key, order .. '|' .. hash)
  else
    restoreLive(order, visitor, key, hash, tonumber(ARGV[i + 4]), ARGV[i + 5], ARGV[i + 6])
  end
end
return 1
