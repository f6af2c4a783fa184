-- Settle: ends holds, each at most once: only the call that removes the order from the holds counts.
--
-- KEYS  1 stock   2 holds   3 keys   4 visitors   5 unrecorded   6 unpaid   (as in reserve.lua)
-- ARGV  1 the fence, if a rebuild settles ends that the ledger's counts include; '' otherwise
--       then five per order: order, visitor, quantity, key, and how: 'release' (the units come back), 'unpaid' (they come
--       back, and the visitor's order came to nothing), 'declined' (the same, but others do not come first for it alone),
--       'sell' (they stay gone) or 'refuse' (the ledger has no such order: the units come back, the key may be used again,
--       and no worker records the order any more)
-- Returns how many holds were ended; 0 if another rebuild has begun, and nothing was changed
local fence = redis.call('HGET', KEYS[1], 'fence')
local isCounted = ARGV[1] ~= ''
if isCounted and fence ~= ARGV[1] then return 0 end
local ended, back, held = 0, 0, 0
for i = 2, #ARGV, 5 do
  local order, visitor, quantity, key, how = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3], ARGV[i + 4]
  local isHeld = redis.call('ZREM', KEYS[2], order) == 1
  if isHeld then
    ended, held = ended + 1, held + quantity
    -- The counts that the gate opens with may not include this end: `unfence.lua` counts the ends still noted.
    if fence and not isCounted then
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
    if how == 'unpaid' or how == 'declined' then
      local orders, last = string.match(redis.call('HGET', KEYS[6], visitor) or '0|0', '^(%d+)|(%-?%d+)$')
      if how == 'unpaid' then
        local time = redis.call('TIME')
        last = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
      end
      redis.call('HSET', KEYS[6], visitor, string.format('%d', orders + 1) .. '|' .. last)
    end
    if how == 'refuse' then redis.call('HDEL', KEYS[3], visitor .. ' ' .. key) end
  end
  if how == 'refuse' then redis.call('HDEL', KEYS[5], order) end
  if isCounted and (redis.call('HDEL', KEYS[1], 'ended ' .. order) == 1 or isHeld) then
    redis.call('HDEL', KEYS[1], 'begun ' .. order)
  end
end
if ended > 0 and redis.call('HEXISTS', KEYS[1], 'run') == 1 then
  redis.call('HINCRBY', KEYS[1], 'held', -held)
  redis.call('HINCRBY', KEYS[1], 'available', back)
end
return ended
