-- Clock: the time of the server that holds the key. Each node of a Cluster has its own.
--
-- KEYS  1 any key of the sale
-- Returns milliseconds since the epoch
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
