-- Arrived: units that this bucket lent are where they were sent, and on their way no more.
--
-- KEYS  1 stock    ARGV  1 units   2 the epoch in which they were lent
-- Returns 1; or 0 when the gate has been rebuilt since, and there is nothing to note.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[2] then return 0 end
redis.call('HINCRBY', KEYS[1], 'lent', -ARGV[1])
return 1
