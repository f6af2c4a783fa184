-- Unfence: puts the counters, rebuilt from the ledger, into use in this run of the server.
--
-- KEYS  1 stock
-- ARGV  1 the fence   then three per product: product, available, held
-- Returns 1; 0 if another rebuild has begun, and nothing was changed
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
-- Notes of `settle.lua` and `adopt.lua` that are left: these holds ended or began after the counts were read.
local backOf, endedOf = {}, {}
for _, note in ipairs(redis.call('HVALS', KEYS[1])) do
  for ended, back, product in string.gmatch(note, '(-?%d+)|(-?%d+)|([^;]+)') do
    backOf[product], endedOf[product] = (backOf[product] or 0) + back, (endedOf[product] or 0) + ended
  end
end
redis.call('DEL', KEYS[1])
for i = 2, #ARGV, 3 do
  local product = ARGV[i]
  redis.call('HSET', KEYS[1], 'available ' .. product, ARGV[i + 1] + (backOf[product] or 0),
    'held ' .. product, ARGV[i + 2] - (endedOf[product] or 0))
end
redis.call('HSET', KEYS[1], 'run', thisRun())
return 1
