-- Adopt: takes in an order that was recorded without this gate. While the gate is fenced, the order is noted, because
-- the ledger's counts may be read without it; `restore.lua` deletes the notes of those that they include.
--
-- KEYS  1 stock   2 holds   3 keys   4 visitors   5 seats   6 limited   7 claims   (as in reserve.lua)
-- ARGV  1 order   2 visitor   3 key   4 request hash   5 product, or cart   6 quantity   7 end of the hold (ms)
-- Returns 1; 0 if the order is or was here, or will be read from the ledger, and nothing was changed
local order, visitor, quantity = ARGV[1], ARGV[2], tonumber(ARGV[6])
local parts = unitsOf(ARGV[5], ARGV[6])
local fenced = redis.call('HEXISTS', KEYS[1], 'fence') == 1
if not fenced then
  if redis.call('HGET', KEYS[1], 'run') ~= thisRun() then return 0 end
  for _, part in ipairs(parts) do
    if redis.call('HEXISTS', KEYS[1], 'available ' .. part[1]) == 0 then return 0 end
  end
end
if knowsOrder(KEYS[3], visitor, ARGV[3], order) then return 0 end

redis.call('ZADD', KEYS[2], ARGV[7], order)
redis.call('HSET', KEYS[3], visitor .. ' ' .. ARGV[3], order .. '|' .. ARGV[4])
local has = redis.call('HGET', KEYS[4], visitor)
local units = has and tonumber(string.match(has, '^(%d+)|')) or 0
redis.call('HSET', KEYS[4], visitor, (units + quantity) .. '|' .. order)
claimSeats(KEYS[5], KEYS[7], parts, 1)
local notes = {}
for i, part in ipairs(parts) do
  local product, units = part[1], part[2]
  if parts[1][1] ~= ARGV[5] then redis.call('HINCRBY', KEYS[6], product .. ' ' .. visitor, units) end
  notes[i] = -units .. '|' .. -units .. '|' .. product
  if not fenced then
    redis.call('HINCRBY', KEYS[1], 'held ' .. product, units)
    redis.call('HINCRBY', KEYS[1], 'available ' .. product, -units)
  end
end
if fenced then redis.call('HSET', KEYS[1], 'begun ' .. order, table.concat(notes, ';')) end
return 1
