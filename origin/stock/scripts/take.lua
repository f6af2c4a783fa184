-- Take: units lent by another bucket come in.
--
-- KEYS  1 stock    ARGV  1 units   2 the epoch in which they were lent
-- Returns 1; or 0, and nothing was done, when the gate has been rebuilt since, which counted them where they were.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[2] then return 0 end
redis.call('HINCRBY', KEYS[1], 'available', ARGV[1])
redis.call('HINCRBY', KEYS[1], 'moves', 1)
return 1
