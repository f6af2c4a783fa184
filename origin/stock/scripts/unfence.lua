-- Unfence: puts the counter, rebuilt from the ledger, to use in this run of the server.
--
-- KEYS  1 stock    ARGV  1 available   2 held   3 the fence, as it was put up
-- Returns 1; or 0 when another rebuild has begun meanwhile, and nothing was done.
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[3] then return 0 end
local available, held = tonumber(ARGV[1]), tonumber(ARGV[2])
-- What `settle.lua` and `adopt.lua` noted, and nobody has struck out, has ended or begun since the counts were read.
for _, noted in ipairs(redis.call('HVALS', KEYS[1])) do
  local units, back = string.match(noted, '^(-?%d+)|(-?%d+)$')
  if units then available, held = available + back, held - units end
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'available', available, 'held', held, 'lent', 0, 'moves', 0, 'epoch', ARGV[3],
  'run', thisRun())
return 1
