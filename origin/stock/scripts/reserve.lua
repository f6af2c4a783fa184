-- Reserve: the hot path, and the only place where the counter goes down. One call serves many callers: it reads what is
-- known of all of them at once and writes all changes at once, which takes half the time of a command each.
--
-- KEYS  1 stock (hash: available, held, run)             2 holds (zset: order -> end of the hold, ms)
--       3 keys (hash: visitor key -> order|request hash)  4 visitors (hash: visitor -> units|order)
--       5 unrecorded (hash: order -> its intent: time (ms), quantity, key, request hash, number, payment method, visitor)
--       6 unpaid (hash: visitor -> orders that came to nothing|end of the last one, ms); most sales have it empty for long
--       A space separates the parts of one text. Only a visitor may contain a space, and comes last; or
--       first before a key.
-- ARGV  1 length of the hold (ms)   2 limit per visitor (units)   3 units that others may want who wait
--       4 unpaid orders from which a visitor always comes after those
--       then six per caller: order, visitor, key, request hash, quantity, number and payment method (may be empty, and the
--       buyer's contact may follow: see intents.ts)
-- Returns {'fenced'}, and nothing was changed, unless the counter was loaded in this run of the server: after a restart, a
--       flush or a failover it may be too high, and must be rebuilt from the ledger. Otherwise
--       {available, held, verdicts, detail, detail, ..}. The verdicts are one letter per caller, in their order:
--       r reserved | n none | k known key: order|request hash | l limit: units|latest order ('' if none)
--       u unpaid: others want what is left, and come first: ms until the visitor may ask again | e none, and u if there were
--       Each k, l and u has a detail. Most callers have none, which makes the reply cheap to write and to read.
local stock = redis.call('HMGET', KEYS[1], 'run', 'available', 'held')
if stock[1] ~= thisRun() then return { 'fenced' } end

local available, held = tonumber(stock[2]), tonumber(stock[3])
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
-- As text: a number is formatted again, slowly, wherever it is used.
local now, ends = string.format('%d', nowMs), string.format('%d', nowMs + ARGV[1])
local limit, wanted, maxUnpaid = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local keys, visitors = {}, {}
for i = 5, #ARGV, 6 do
  keys[#keys + 1] = ARGV[i + 1] .. ' ' .. ARGV[i + 2]
  visitors[#visitors + 1] = ARGV[i + 1]
end

-- By key and by visitor: what Redis has, and then what earlier callers of this call have done.
local known, has = {}, {}
for i, found in ipairs(redis.call('HMGET', KEYS[3], unpack(keys))) do known[keys[i]] = found end
for i, found in ipairs(redis.call('HMGET', KEYS[4], unpack(visitors))) do has[visitors[i]] = found end

-- How long others come before a visitor (ms): for the length of a hold after an order that came to nothing, and always after
-- too many.
local unpaid = {}
if redis.call('EXISTS', KEYS[6]) == 1 then
  for i, found in ipairs(redis.call('HMGET', KEYS[6], unpack(visitors))) do
    if found then
      local bar = string.find(found, '|', 1, true)
      local isAlways = tonumber(string.sub(found, 1, bar - 1)) >= maxUnpaid
      local leftMs = isAlways and ARGV[1] or string.sub(found, bar + 1) + ARGV[1] - nowMs
      if tonumber(leftMs) > 0 then unpaid[visitors[i]] = string.format('%d', leftMs) end
    end
  end
end

local answer, verdicts, newHolds, newKeys, newVisitors, newIntents = { 0, 0, '' }, {}, {}, {}, {}, {}
for i, key in ipairs(keys) do
  local at, visitor = 6 * i - 1, visitors[i]
  local verdict = unpaid[visitor] and 'e' or 'n'
  if known[key] then
    verdict, answer[#answer + 1] = 'k', known[key]
  else
    local units, latest = 0, ''
    if has[visitor] then
      local bar = string.find(has[visitor], '|', 1, true)
      units, latest = tonumber(string.sub(has[visitor], 1, bar - 1)), string.sub(has[visitor], bar + 1)
    end
    local order, quantity = ARGV[at], tonumber(ARGV[at + 4])
    if units + quantity > limit then
      verdict, answer[#answer + 1] = 'l', units .. '|' .. latest
    elseif available >= quantity and unpaid[visitor] and available - quantity < wanted then
      verdict, answer[#answer + 1] = 'u', unpaid[visitor]
    elseif available >= quantity then
      verdict = 'r'
      available, held = available - quantity, held + quantity
      known[key] = order .. '|' .. ARGV[at + 3]
      has[visitor] = (units + quantity) .. '|' .. order
      local n = #newHolds
      newHolds[n + 1], newHolds[n + 2] = ends, order
      newKeys[n + 1], newKeys[n + 2] = key, known[key]
      newVisitors[n + 1], newVisitors[n + 2] = visitor, has[visitor]
      newIntents[n + 1] = order
      newIntents[n + 2] = now .. ' ' .. ARGV[at + 4] .. ' ' .. ARGV[at + 2] .. ' ' .. ARGV[at + 3] .. ' ' .. ARGV[at + 5]
        .. ' ' .. visitor
    end
  end
  verdicts[i] = verdict
end

if #newHolds > 0 then
  redis.call('ZADD', KEYS[2], unpack(newHolds))
  redis.call('HSET', KEYS[3], unpack(newKeys))
  redis.call('HSET', KEYS[4], unpack(newVisitors))
  redis.call('HSET', KEYS[5], unpack(newIntents))
  redis.call('HSET', KEYS[1], 'available', available, 'held', held)
end
answer[1], answer[2], answer[3] = available, held, table.concat(verdicts)
return answer
