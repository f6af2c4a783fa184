-- Block: marks the seats that operators block, during a rebuild.
--
-- KEYS  1 stock   2 seats   3 claims   (as in reserve.lua)
-- ARGV  1 the fence   2.. the seats
-- Returns 1; 0 if another rebuild has begun, and nothing was changed
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
for i = 2, #ARGV do claimSeat(KEYS[2], KEYS[3], ARGV[i], 1) end
return 1
