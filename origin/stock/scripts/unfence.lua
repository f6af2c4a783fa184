-- Unfence: puts the counter, rebuilt from the ledger, into use in this run of the server.
--
-- KEYS  1 stock
-- ARGV  1 available   2 held   3 the fence
-- Returns 1; 0 if another rebuild has begun, and nothing was changed
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[3] then return 0 end
local available, held = tonumber(ARGV[1]), tonumber(ARGV[2])
-- Notes of `settle.lua` and `adopt.lua` that are left: these holds ended or began after the counts were read.
for _, note in ipairs(redis.call('HVALS', KEYS[1])) do
  local units, back = string.match(note, '^(-?%d+)|(-?%d+)$')
  if units then available, held = available + back, held - units end
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'available', available, 'held', held, 'run', thisRun())
return 1
