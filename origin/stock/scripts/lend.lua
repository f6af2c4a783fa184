-- Lend: a bucket that has units left lends some to one that has none. They are on their way until `arrived.lua`.
--
-- KEYS  1 stock (hash: available, held, lent, moves, epoch, run)
-- ARGV  1 units wanted: at least these, or half of what is there where that is more; 0 only looks
-- Returns {'fenced'}, and nothing was done, unless the gate is open; else {units lent, available, held, on their way,
--       moves, epoch}. Moves count what has come in from other buckets: who looks at all buckets twice, and finds them
--       all empty with the same moves, knows that they all were empty at one moment in between.
local stock = redis.call('HMGET', KEYS[1], 'run', 'available', 'held', 'lent', 'moves', 'epoch')
if stock[1] ~= thisRun() then return { 'fenced' } end

local available, wanted = tonumber(stock[2]), tonumber(ARGV[1])
local lent = tonumber(stock[4] or 0)
local units = 0
if wanted > 0 and available > 0 then
  units = math.min(available, math.max(wanted, math.ceil(available / 2)))
  available, lent = available - units, lent + units
  redis.call('HSET', KEYS[1], 'available', available, 'lent', lent)
end
return { units, available, tonumber(stock[3]), lent, tonumber(stock[5] or 0), stock[6] or '' }
