-- Read stock: what the counter says, if it is in use.
--
-- KEYS  1 stock
-- Returns {available, held}; {} unless the counter was loaded in this run of the server
local stock = redis.call('HMGET', KEYS[1], 'run', 'available', 'held')
if stock[1] ~= thisRun() then return {} end
return { tonumber(stock[2]), tonumber(stock[3]) }
