-- Due: the holds that are over by the clock of the server that holds the key.
--
-- KEYS  1 holds (zset: order -> end, ms)
-- ARGV  1 how many at most
-- Returns {milliseconds until the next hold is over or '' where there is none, order, ..}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
local next = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
table.insert(answer, 1, next[2] and math.ceil(next[2] - now) or '')
return answer
