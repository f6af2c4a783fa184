-- Read gate: all that a comparison with the ledger needs, at one moment.
--
-- KEYS  1 stock   2 holds   3 unrecorded   4 seats   (as in reserve.lua)
-- ARGV  1 how many intents at most
-- Returns {bitmap of the taken seats, {product, available, held, ..}, {order that holds units, ..}, {order, its
-- intent, ..}}; of more
--       intents false instead; false alone unless the counters were loaded in this run of the server
if redis.call('HGET', KEYS[1], 'run') ~= thisRun() then return false end
local fields, counters, stock = redis.call('HGETALL', KEYS[1]), {}, {}
for i = 1, #fields, 2 do counters[fields[i]] = fields[i + 1] end
for field, available in pairs(counters) do
  local product = string.match(field, '^available (.+)$')
  if product then
    local n = #stock
    stock[n + 1], stock[n + 2], stock[n + 3] = product, available, counters['held ' .. product]
  end
end
local intents = redis.call('HLEN', KEYS[3]) <= tonumber(ARGV[1]) and redis.call('HGETALL', KEYS[3])
return { redis.call('GET', KEYS[4]) or '', stock, redis.call('ZRANGE', KEYS[2], 0, -1), intents }
