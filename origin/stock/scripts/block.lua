-- Block: an operator blocks seats of a section, or releases them. A fenced gate reads the blocks with its counts.
--
-- KEYS  1 stock   2 seats   (as in reserve.lua)
-- ARGV  1 section   2 the bit: 1 blocked, 0 free   3.. the seats
-- Returns how many bits have changed; the section's units for sale change by as many
if redis.call('HGET', KEYS[1], 'run') ~= thisRun() then return 0 end
local changed = 0
for i = 3, #ARGV do
  if redis.call('SETBIT', KEYS[2], ARGV[i], ARGV[2]) ~= tonumber(ARGV[2]) then changed = changed + 1 end
end
redis.call('HINCRBY', KEYS[1], 'available ' .. ARGV[1], ARGV[2] == '1' and -changed or changed)
return changed
