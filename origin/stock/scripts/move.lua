-- Move: an order has another seat. The ledger has decided it, so the bits are set whatever they are; while the gate is fenced its
-- counts are read from there.
--
-- KEYS  1 stock   2 holds   3 seats   4 limited   (as in reserve.lua)
-- ARGV  1 order   2 visitor   3 the section and 4 the seat it had   5 the section and 6 the seat it has
-- Returns nothing
local order, visitor, from, to = ARGV[1], ARGV[2], ARGV[3], ARGV[5]
redis.call('SETBIT', KEYS[3], ARGV[4], 0)
redis.call('SETBIT', KEYS[3], ARGV[6], 1)
if from == to then return end
local had = from .. ' ' .. visitor
if redis.call('HEXISTS', KEYS[4], had) == 1 then
  if redis.call('HINCRBY', KEYS[4], had, -1) <= 0 then redis.call('HDEL', KEYS[4], had) end
  redis.call('HINCRBY', KEYS[4], to .. ' ' .. visitor, 1)
end
if redis.call('HGET', KEYS[1], 'run') ~= thisRun() then return end
local isHeld = redis.call('ZSCORE', KEYS[2], order)
for section, units in pairs({ [from] = -1, [to] = 1 }) do
  if isHeld then redis.call('HINCRBY', KEYS[1], 'held ' .. section, units) end
  redis.call('HINCRBY', KEYS[1], 'available ' .. section, -units)
end
