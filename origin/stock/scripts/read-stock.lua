-- Read stock: what the counters say, if they are in use.
--
-- KEYS  1 stock
-- Returns {product, available, held, product, ..}; false unless the counters were loaded in this run of the server
if redis.call('HGET', KEYS[1], 'run') ~= thisRun() then return false end
local fields, counters, answer = redis.call('HGETALL', KEYS[1]), {}, {}
for i = 1, #fields, 2 do counters[fields[i]] = tonumber(fields[i + 1]) end
for field, available in pairs(counters) do
  local product = string.match(field, '^available (.+)$')
  if product then
    local n = #answer
    answer[n + 1], answer[n + 2], answer[n + 3] = product, available, counters['held ' .. product]
  end
end
return answer
