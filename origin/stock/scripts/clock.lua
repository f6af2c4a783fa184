-- Clock: the time of the server that has the key, in milliseconds since the epoch: on a Cluster each has its own.
--
-- KEYS  1 any of a bucket's
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
