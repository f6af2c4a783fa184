-- Read gate: all that a comparison with the ledger needs, at one moment.
--
-- KEYS  1 stock   2 holds   3 unrecorded   4 seats   (as in reserve.lua)
-- ARGV  1 how many intents at most
-- Returns {bitmap of the taken seats, {product, available, held, ..}, {order that holds units, ..}, intents}, where the
-- intents are {order, its intent, ..}, or false if there are more; false alone unless the counters were loaded in this
-- run of the server
local stock = countersOf(KEYS[1])
if not stock then return false end
local intents = redis.call('HLEN', KEYS[3]) <= tonumber(ARGV[1]) and redis.call('HGETALL', KEYS[3])
return { redis.call('GET', KEYS[4]) or '', stock, redis.call('ZRANGE', KEYS[2], 0, -1), intents }
