-- Reserve: the hot path. Many callers in one call; the only place where the counter goes down.
--
-- KEYS  1 stock (hash: available, held, run)             2 holds (zset: order -> end of the hold, ms)
--       3 keys (hash: visitor|key -> order|request hash)  4 visitors (hash: visitor -> units|order)
--       5 intents (stream)
-- ARGV  1 length of the hold (ms)   2 limit per visitor (units)
--       then seven per caller: order, visitor, key, request hash, quantity, ticket number, payment method (or empty)
-- Returns {'fenced'}, and nothing was done, unless the counter was loaded into this very run of the server: after a
--       restart, a flush or a failover it may be too high, and is used again only when rebuilt from the ledger; else
--       {available, held, verdict, detail, verdict, detail, ..} in the callers' order:
--       reserved, stream id | replay, order|request hash | limit, order | none, ''
local stock = redis.call('HMGET', KEYS[1], 'run', 'available', 'held')
if stock[1] ~= string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') then return { 'fenced' } end

local available, held = tonumber(stock[2]), tonumber(stock[3])
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
local limit = tonumber(ARGV[2])
local answer = { 0, 0 }
local before = available

for i = 3, #ARGV, 7 do
  local order, visitor, key, hash, quantity = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], tonumber(ARGV[i + 4])
  local verdict, detail = 'none', ''
  local known = redis.call('HGET', KEYS[3], visitor .. '|' .. key)
  if known then
    verdict, detail = 'replay', known
  else
    local has = redis.call('HGET', KEYS[4], visitor)
    local units, standing = 0, nil
    if has then
      local bar = string.find(has, '|', 1, true)
      units, standing = tonumber(string.sub(has, 1, bar - 1)), string.sub(has, bar + 1)
    end
    if units + quantity > limit then
      verdict, detail = 'limit', standing or ''
    elseif available >= quantity then
      available, held = available - quantity, held + quantity
      redis.call('ZADD', KEYS[2], ends, order)
      redis.call('HSET', KEYS[3], visitor .. '|' .. key, order .. '|' .. hash)
      redis.call('HSET', KEYS[4], visitor, (units + quantity) .. '|' .. order)
      verdict, detail = 'reserved', redis.call('XADD', KEYS[5], '*', 'order', order, 'visitor', visitor, 'key', key,
        'hash', hash, 'quantity', quantity, 'number', ARGV[i + 5], 'method', ARGV[i + 6])
    end
  end
  answer[#answer + 1] = verdict
  answer[#answer + 1] = detail
end

if available ~= before then redis.call('HSET', KEYS[1], 'available', available, 'held', held) end
answer[1], answer[2] = available, held
return answer
