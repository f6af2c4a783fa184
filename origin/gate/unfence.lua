-- Unfence: puts the counter, rebuilt from the ledger, to use in this run of the server.
--
-- KEYS  1 stock    ARGV  1 available   2 held   3 the fence, as it was put up
-- Returns 1; or 0 when another rebuild has begun meanwhile, and nothing was done.
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[3] then return 0 end
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'available', ARGV[1], 'held', ARGV[2], 'lent', 0, 'moves', 0, 'epoch', ARGV[3], 'run', run)
return 1
