-- Take calls: from the budget of a payment provider's account, a bucket that fills at the account's rate. The lower a
-- kind's rank number, the earlier its turn: while a kind of a higher rank wants more than it gets, others get
-- nothing, except that no kind waits for more than a second: then it gets the calls of one job on credit.
--
-- KEYS 1 budget (hash: tokens, at (ms); for each rank: 'short RANK', until when (ms) it wants more, 'last RANK', when
--       it got some) 2 waiting (string: charges that wait), for who steers the lines
-- ARGV 1 calls a second 2 the most tokens 3 rank (1: charges) 4 jobs 5 calls of each job 6 how long waiting holds
--       (ms) 7 charges that wait ('' for other kinds)
-- Returns how many jobs may begin
local perSecond, most, jobs, each = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
local rank = tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fields = { 'tokens', 'at', 'last ' .. rank }
for above = 1, rank - 1 do fields[#fields + 1] = 'short ' .. above end
local known = redis.call('HMGET', KEYS[1], unpack(fields))

-- A clock that was put back adds nothing.
local elapsed = math.max(0, now - (tonumber(known[2]) or now))
local tokens = math.min(most, (tonumber(known[1]) or most) + elapsed * perSecond / 1000)
local isBehind = false
for i = 4, #fields do isBehind = isBehind or (tonumber(known[i]) or 0) > now end
local granted = isBehind and 0 or math.max(0, math.min(jobs, math.floor(tokens / each)))
if granted == 0 and tokens >= 0 and math.abs(now - (tonumber(known[3]) or 0)) >= 1000 then granted = 1 end

redis.call('HSET', KEYS[1], 'tokens', string.format('%.3f', tokens - granted * each), 'at', now,
  'short ' .. rank, granted < jobs and now + 1000 or 0)
if granted > 0 then redis.call('HSET', KEYS[1], 'last ' .. rank, now) end
redis.call('PEXPIRE', KEYS[1], 60000)
if ARGV[7] ~= '' then redis.call('SET', KEYS[2], ARGV[7] - granted, 'PX', ARGV[6]) end
return granted
