-- Settle: ends holds, each at most once: only the call that removes the order from the holds counts.
--
-- KEYS  1 stock   2 holds   3 keys   4 visitors   (as in reserve.lua)
-- ARGV  five per order: order, visitor, quantity, key, and how: 'release' (the units come back), 'sell' (they stay gone) or
--       'refuse' (the ledger never had the order: the units come back, and the key may be used again)
-- Returns how many holds were ended
local fenced = redis.call('HEXISTS', KEYS[1], 'fence') == 1
local ended, back, held = 0, 0, 0
for i = 1, #ARGV, 5 do
  local order, visitor, quantity, key, how = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3], ARGV[i + 4]
  if redis.call('ZREM', KEYS[2], order) == 1 then
    ended, held = ended + 1, held + quantity
    -- During a rebuild the ledger's counts may or may not include this end: `unfence.lua` counts the ends still noted.
    if fenced then
      redis.call('HSET', KEYS[1], 'ended ' .. order, quantity .. '|' .. (how == 'sell' and 0 or quantity))
    end
    if how ~= 'sell' then
      back = back + quantity
      local has = redis.call('HGET', KEYS[4], visitor)
      local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
      if units > quantity then
        redis.call('HSET', KEYS[4], visitor, (units - quantity) .. string.match(has, '(|.*)$'))
      elseif has then
        redis.call('HDEL', KEYS[4], visitor)
      end
    end
    if how == 'refuse' then redis.call('HDEL', KEYS[3], visitor .. ' ' .. key) end
  end
end
if ended > 0 and redis.call('HEXISTS', KEYS[1], 'run') == 1 then
  redis.call('HINCRBY', KEYS[1], 'held', -held)
  redis.call('HINCRBY', KEYS[1], 'available', back)
end
return ended
