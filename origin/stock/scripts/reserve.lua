-- Reserve: the hot path, and the only place where the counter goes down. One call serves many callers: it reads what is
-- known of all of them at once and writes all changes at once, which halves the time of a command each.
--
-- KEYS  1 stock (hash: available, held, run)             2 holds (zset: order -> end of the hold, ms)
--       3 keys (hash: visitor key -> order|request hash)  4 visitors (hash: visitor -> units|order)
--       5 intents (stream)
--       A space separates visitor and key, because no key has one.
-- ARGV  1 length of the hold (ms)   2 limit per visitor (units)
--       3.. one per caller: the reservation as JSON. The script reads order, visitor, key, hash and quantity, and appends
--       the JSON unchanged to the stream.
-- Returns {'fenced'}, and nothing was changed, unless the counter was loaded in this run of the server: after a restart, a
--       flush or a failover it may be too high, and must be rebuilt from the ledger. Otherwise
--       {available, held, verdict, detail, verdict, detail, ..} in the callers' order, the verdicts being
--       reserved, stream id | replay, order|request hash | limit, units|latest order ('' if none) | none, ''
local stock = redis.call('HMGET', KEYS[1], 'run', 'available', 'held')
if stock[1] ~= thisRun() then return { 'fenced' } end

local available, held = tonumber(stock[2]), tonumber(stock[3])
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
local limit = tonumber(ARGV[2])

local callers, keys, visitors = {}, {}, {}
for i = 3, #ARGV do
  local caller = cjson.decode(ARGV[i])
  callers[#callers + 1] = caller
  keys[#keys + 1] = caller.visitor .. ' ' .. caller.key
  visitors[#visitors + 1] = caller.visitor
end

-- By key and by visitor: what Redis has, and then what earlier callers of this call have done.
local known, has = {}, {}
for i, found in ipairs(redis.call('HMGET', KEYS[3], unpack(keys))) do known[keys[i]] = found end
for i, found in ipairs(redis.call('HMGET', KEYS[4], unpack(visitors))) do has[visitors[i]] = found end

local answer, newHolds, newKeys, newVisitors = { 0, 0 }, {}, {}, {}
for i, caller in ipairs(callers) do
  local key, visitor = keys[i], visitors[i]
  local verdict, detail = 'none', ''
  if known[key] then
    verdict, detail = 'replay', known[key]
  else
    local units, latest = 0, ''
    if has[visitor] then
      local bar = string.find(has[visitor], '|', 1, true)
      units, latest = tonumber(string.sub(has[visitor], 1, bar - 1)), string.sub(has[visitor], bar + 1)
    end
    if units + caller.quantity > limit then
      verdict, detail = 'limit', units .. '|' .. latest
    elseif available >= caller.quantity then
      available, held = available - caller.quantity, held + caller.quantity
      known[key] = caller.order .. '|' .. caller.hash
      has[visitor] = (units + caller.quantity) .. '|' .. caller.order
      local n = #newHolds
      newHolds[n + 1], newHolds[n + 2] = ends, caller.order
      newKeys[n + 1], newKeys[n + 2] = key, known[key]
      newVisitors[n + 1], newVisitors[n + 2] = visitor, has[visitor]
      verdict, detail = 'reserved', redis.call('XADD', KEYS[5], '*', 'reservation', ARGV[i + 2])
    end
  end
  answer[#answer + 1] = verdict
  answer[#answer + 1] = detail
end

if #newHolds > 0 then
  redis.call('ZADD', KEYS[2], unpack(newHolds))
  redis.call('HSET', KEYS[3], unpack(newKeys))
  redis.call('HSET', KEYS[4], unpack(newVisitors))
  redis.call('HSET', KEYS[1], 'available', available, 'held', held)
end
answer[1], answer[2] = available, held
return answer
