-- Settle: ends holds, each at most once: only the call that removes the order from the holds counts.
--
-- KEYS 1 stock 2 holds 3 keys 4 visitors 5 unrecorded 6 unpaid 7 seats 8 limited 9 networks 10 claims (as in
--       reserve.lua)
-- ARGV six per order: order, visitor, product (or cart), quantity, key, and how: 'release' (the units come back),
--       'unpaid' (they come back, and the visitor's order counts as failed), 'declined' (the same, from the visitor's
--       second one on), 'sell' (they stay gone), 'refuse' (the ledger has noted that there is no such order: the
--       units come back, the key may be used again, and no worker records the order any more) or 'give back' (the
--       same, unless the intent is promised, taken to be recorded, or gone)
-- Returns how many holds were ended, followed for each 'give back' by 'given back', or by why it was not: 'promised',
-- 'taken' or 'gone'.
local stock = redis.call('HMGET', KEYS[1], 'fence', 'run')
local fence = stock[1]
local hasNetworks = redis.call('EXISTS', KEYS[9]) == 1
local ended, backOf, heldOf, answer = 0, {}, {}, {}

-- What becomes of an intent that is to be given back. Its marks follow its time: see intents.ts.
local function givingBack(order)
  local stored = redis.call('HGET', KEYS[5], order)
  if not stored then return 'gone' end
  local promised, taken = string.match(stored, '^%d+(p?)(t?)')
  return promised == 'p' and 'promised' or taken == 't' and 'taken' or 'given back'
end

local function settleOne(order, visitor, product, quantity, key, how)
  local isHeld = redis.call('ZREM', KEYS[2], order) == 1
  -- The units no longer count for the buyer's networks.
  local note = hasNetworks and redis.call('HGET', KEYS[9], 'order ' .. order)
  if note then
    redis.call('HDEL', KEYS[9], 'order ' .. order)
    local units = string.match(note, '^%d+')
    for network in string.gmatch(note, ' (%S+)') do
      if redis.call('HINCRBY', KEYS[9], network, -units) <= 0 then redis.call('HDEL', KEYS[9], network) end
    end
  end
  if isHeld then
    ended = ended + 1
    local parts, notes = unitsOf(product, quantity), {}
    for k, part in ipairs(parts) do
      local product, units = part[1], part[2]
      local back = how == 'sell' and 0 or units
      heldOf[product], backOf[product] = (heldOf[product] or 0) + units, (backOf[product] or 0) + back
      notes[k] = units .. '|' .. back .. '|' .. product
    end
    -- The counts that the gate opens with may not include this end: `unfence.lua` counts the ends still noted.
    if fence then redis.call('HSET', KEYS[1], 'ended ' .. order, table.concat(notes, ';')) end
    if how ~= 'sell' then
      claimSeats(KEYS[7], KEYS[10], parts, -1)
      for _, part in ipairs(parts) do
        local field = part[1] .. ' ' .. visitor
        if redis.call('HEXISTS', KEYS[8], field) == 1 and redis.call('HINCRBY', KEYS[8], field, -part[2]) <= 0 then
          redis.call('HDEL', KEYS[8], field)
        end
      end
      local has = redis.call('HGET', KEYS[4], visitor)
      local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
      if units > quantity then
        redis.call('HSET', KEYS[4], visitor, (units - quantity) .. string.match(has, '(|.*)$'))
      elseif has then
        redis.call('HDEL', KEYS[4], visitor)
      end
    end
    local isFailed = how == 'unpaid' or how == 'declined' and redis.call('HINCRBY', KEYS[6], '% ' .. visitor, 1) > 1
    if isFailed then redis.call('HINCRBY', KEYS[6], visitor, 1) end
    if how == 'refuse' then
      -- The key may have another order by now.
      local known = redis.call('HGET', KEYS[3], visitor .. ' ' .. key)
      if known and string.match(known, '^[^|]*') == order then redis.call('HDEL', KEYS[3], visitor .. ' ' .. key) end
    end
  end
  if how == 'refuse' then redis.call('HDEL', KEYS[5], order) end
  -- The rebuild may restore the order as it was before: it ends the hold again (rebuild.ts).
  if fence and not isHeld and how ~= 'refuse' then
    redis.call('HSET', KEYS[1], 'over ' .. order, cjson.encode({ order, visitor, product, quantity, key, how }))
  end
end

for i = 1, #ARGV, 6 do
  local order, how = ARGV[i], ARGV[i + 5]
  local became = how == 'give back' and givingBack(order)
  if became then answer[#answer + 1] = became end
  if became == 'given back' then how = 'refuse' end
  if how ~= 'give back' then settleOne(order, ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3]), ARGV[i + 4], how) end
end
if stock[2] then
  for product, held in pairs(heldOf) do
    if redis.call('HEXISTS', KEYS[1], 'held ' .. product) == 1 then
      redis.call('HINCRBY', KEYS[1], 'held ' .. product, -held)
      redis.call('HINCRBY', KEYS[1], 'available ' .. product, backOf[product])
    end
  end
end
table.insert(answer, 1, ended)
return answer
