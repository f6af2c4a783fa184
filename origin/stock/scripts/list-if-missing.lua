-- Write a list where there is none, in one step. An empty one is kept as one empty element, so that it is known to be
-- empty.
--
-- KEYS  1 the list
-- ARGV  1 how long it is kept (s)   2.. its elements
if redis.call('EXISTS', KEYS[1]) == 1 then return end
redis.call('RPUSH', KEYS[1], ARGV[2] or '')
for i = 3, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
