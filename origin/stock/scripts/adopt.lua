-- Adopt: takes in an order that was recorded without this gate. While the gate is fenced, the order is noted, because the
-- ledger's counts may be read without it; `restore.lua` deletes the notes of those that they include.
--
-- KEYS  1 stock   2 holds   3 keys   4 visitors   (as in reserve.lua)
-- ARGV  1 order   2 visitor   3 key   4 request hash   5 product   6 quantity   7 end of the hold (ms)
-- Returns 1; 0 if the order is here already or will be read from the ledger, and nothing was changed
local order, visitor, product, quantity = ARGV[1], ARGV[2], ARGV[5], tonumber(ARGV[6])
local fenced = redis.call('HEXISTS', KEYS[1], 'fence') == 1
if not fenced then
  local stock = redis.call('HMGET', KEYS[1], 'run', 'available ' .. product)
  if stock[1] ~= thisRun() or not stock[2] then return 0 end
end
if redis.call('ZSCORE', KEYS[2], order) then return 0 end

redis.call('ZADD', KEYS[2], ARGV[7], order)
redis.call('HSET', KEYS[3], visitor .. ' ' .. ARGV[3], order .. '|' .. ARGV[4])
local has = redis.call('HGET', KEYS[4], visitor)
local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
redis.call('HSET', KEYS[4], visitor, (units + quantity) .. '|' .. order)
if fenced then
  redis.call('HSET', KEYS[1], 'begun ' .. order, -quantity .. '|' .. -quantity .. '|' .. product)
else
  redis.call('HINCRBY', KEYS[1], 'held ' .. product, quantity)
  redis.call('HINCRBY', KEYS[1], 'available ' .. product, -quantity)
end
return 1
