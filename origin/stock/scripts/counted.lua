-- Counted: holds that ended before the ledger's counts were read: `unfence.lua` does not count them again.
--
-- KEYS  1 stock    ARGV  1 the fence, as it was put up, then the orders
-- Returns how many units they held; 0 when another rebuild has begun meanwhile, and nothing was done.
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
local units = 0
for i = 2, #ARGV do
  local ended = redis.call('HGET', KEYS[1], 'ended ' .. ARGV[i])
  if ended then
    -- One that began meanwhile, too, is in no count of those put back.
    if redis.call('HDEL', KEYS[1], 'begun ' .. ARGV[i]) == 0 then
      units = units + tonumber(string.match(ended, '^%d+'))
    end
    redis.call('HDEL', KEYS[1], 'ended ' .. ARGV[i])
  end
end
return units
