-- Forget ended: holds that ended before the ledger's counts were read. `unfence.lua` must not count them again.
--
-- KEYS  1 stock
-- ARGV  1 the fence   2.. orders
-- Returns 1; 0 if another rebuild has begun, and nothing was changed
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
for i = 2, #ARGV do
  if redis.call('HDEL', KEYS[1], 'ended ' .. ARGV[i]) == 1 then redis.call('HDEL', KEYS[1], 'begun ' .. ARGV[i]) end
end
return 1
