-- Change seats: an operator has blocked or released seats of a section, or has given an order another seat; the
-- ledger has it already. It counts once, however often it is sent, and not where the counters were loaded with it.
-- While the gate is fenced it is noted.
--
-- KEYS  1 stock   2 seats   3 claims   4 limited   (as in reserve.lua)
-- ARGV 1 a section 2 its version with the change 3 the visitor of the order ('': none) 4 seats that are free of it
--       now, joined by ',' 5 seats that are taken by it now then three per section whose units change, the one that
--       loses a unit of the visitor first: section, by how many available, by how many held
-- Returns 1; 0 if it was counted already, and nothing was changed
local change = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('HSETNX', KEYS[3], 'change ' .. change, 1) == 0 then return 0 end
if redis.call('HEXISTS', KEYS[1], 'fence') == 1 then
  redis.call('HSET', KEYS[1], 'change ' .. change, cjson.encode(ARGV))
  return 1
end
local stock = redis.call('HMGET', KEYS[1], 'run', 'version ' .. ARGV[1])
if stock[1] ~= thisRun() or not stock[2] or tonumber(stock[2]) >= tonumber(ARGV[2]) then return 0 end
applySeatChange(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV)
return 1
