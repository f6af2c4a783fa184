-- Restore: puts live orders back, as they are in the ledger, while the gate is fenced.
--
-- KEYS  1 stock   2 holds   3 keys   4 visitors   (as in reserve.lua)
-- ARGV  1 the fence, as it was put up
--       then six per order: order, visitor, key, request hash, quantity, end of its hold (ms; empty when it is sold)
-- Returns how many units are held by those of them that were not here yet, or only as noted by `adopt.lua`; 0 when another
--       rebuild has begun meanwhile, and nothing was done.
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
local held = 0
-- Mostly the fence stands alone, and need not be searched for each order.
local areNotes = redis.call('HLEN', KEYS[1]) > 1
for i = 2, #ARGV, 6 do
  local order, visitor, quantity, ends = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 4]), ARGV[i + 5]
  -- What is noted to have ended was here, and does not come back: `unfence.lua` counts it, unless it was read as sold.
  local isHere
  if ends == '' then
    isHere = redis.call('ZREM', KEYS[2], order) == 1
      or areNotes and redis.call('HDEL', KEYS[1], 'ended ' .. order) == 1
  else
    isHere = areNotes and redis.call('HEXISTS', KEYS[1], 'ended ' .. order) == 1
      or redis.call('ZADD', KEYS[2], 'NX', ends, order) == 0
  end
  local isNoted = areNotes and redis.call('HDEL', KEYS[1], 'begun ' .. order) == 1
  if not isHere then
    redis.call('HSET', KEYS[3], visitor .. ' ' .. ARGV[i + 2], order .. '|' .. ARGV[i + 3])
    local has = redis.call('HGET', KEYS[4], visitor)
    local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
    redis.call('HSET', KEYS[4], visitor, (units + quantity) .. '|' .. order)
  end
  if ends ~= '' and (isNoted or not isHere) then held = held + quantity end
end
return held
