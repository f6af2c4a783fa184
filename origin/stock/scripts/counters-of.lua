-- The counters of a gate as {product, available, held, product, ..}; prepended to every script. False unless they were
-- loaded in this run of the server.
local function countersOf(stock)
  if redis.call('HGET', stock, 'run') ~= thisRun() then return false end
  local fields, counters, answer = redis.call('HGETALL', stock), {}, {}
  for i = 1, #fields, 2 do counters[fields[i]] = fields[i + 1] end
  for field, available in pairs(counters) do
    local product = string.match(field, '^available (.+)$')
    if product then
      local n = #answer
      answer[n + 1], answer[n + 2], answer[n + 3] = product, available, counters['held ' .. product]
    end
  end
  return answer
end

