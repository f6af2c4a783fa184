-- Learn unpaid: how many orders of a visitor failed, as the ledger counted them a moment ago. The gate may have
-- counted more since.
--
-- KEYS  1 unpaid (as in reserve.lua)
-- ARGV  1 visitor   2 how many
-- Returns nothing
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) < tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
