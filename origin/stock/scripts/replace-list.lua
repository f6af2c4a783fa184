-- Replace a list, in one step. An empty one is kept as one empty element, so that it is known to be empty.
--
-- KEYS  1 the list
-- ARGV  1 `missing`: only where there is none; else `always`   2 how long it is kept (s)   3.. its elements
if ARGV[1] == 'missing' and redis.call('EXISTS', KEYS[1]) == 1 then return end
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], ARGV[3] or '')
for i = 4, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
