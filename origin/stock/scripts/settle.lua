-- Settle: ends holds, each at most once, since only the call that takes the order out of the holds counts.
--
-- KEYS  1 stock   2 holds   3 visitors   4 keys   (as in reserve.lua)
-- ARGV  five per order: order, visitor, quantity, key, and how: 'release' (the unit comes back), 'sell' (it stays
--       gone) or 'refuse' (the ledger never had it: the unit comes back, and the key may be used again)
-- Returns how many holds were ended.
local fenced = redis.call('HEXISTS', KEYS[1], 'fence') == 1
local ended, back, held = 0, 0, 0
for i = 1, #ARGV, 5 do
  local order, visitor, quantity, key, how = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3], ARGV[i + 4]
  if redis.call('ZREM', KEYS[2], order) == 1 then
    ended, held = ended + 1, held + quantity
    -- While the gate is fenced its counter is being rebuilt from the ledger, which knows of this end already or does not:
    -- `unfence.lua` is told of those it does not know.
    if fenced then
      redis.call('HSET', KEYS[1], 'ended ' .. order, quantity .. '|' .. (how == 'sell' and 0 or quantity))
    end
    if how ~= 'sell' then
      back = back + quantity
      local has = redis.call('HGET', KEYS[3], visitor)
      local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
      if units > quantity then
        redis.call('HSET', KEYS[3], visitor, (units - quantity) .. string.match(has, '(|.*)$'))
      elseif has then
        redis.call('HDEL', KEYS[3], visitor)
      end
    end
    if how == 'refuse' then redis.call('HDEL', KEYS[4], visitor .. ' ' .. key) end
  end
end
if ended > 0 and redis.call('HEXISTS', KEYS[1], 'run') == 1 then
  redis.call('HINCRBY', KEYS[1], 'held', -held)
  redis.call('HINCRBY', KEYS[1], 'available', back)
end
return ended
