-- Unfence: puts the counters, rebuilt from the ledger, into use in this run of the server.
--
-- KEYS  1 stock   2 seats   3 claims   4 limited   (as in reserve.lua)
-- ARGV  1 the fence   then four per product: product, available, held, the version of its row
-- Returns 1; 0 if another rebuild has begun, and nothing was changed
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
-- What settle.lua, adopt.lua and change-seats.lua have noted, and no restored order includes, came after the ledger
-- was read.
local backOf, endedOf, changes = {}, {}, {}
local notes = redis.call('HGETALL', KEYS[1])
for i = 1, #notes, 2 do
  local kind = string.match(notes[i], '^%a+')
  if kind == 'change' then changes[#changes + 1] = cjson.decode(notes[i + 1]) end
  if kind == 'begun' or kind == 'ended' then
    for ended, back, product in string.gmatch(notes[i + 1], '(-?%d+)|(-?%d+)|([^;]+)') do
      backOf[product], endedOf[product] = (backOf[product] or 0) + back, (endedOf[product] or 0) + ended
    end
  end
end
redis.call('DEL', KEYS[1])
local versions = {}
for i = 2, #ARGV, 4 do
  local product = ARGV[i]
  versions[product] = tonumber(ARGV[i + 3])
  redis.call('HSET', KEYS[1], 'available ' .. product, ARGV[i + 1] + (backOf[product] or 0),
    'held ' .. product, ARGV[i + 2] - (endedOf[product] or 0), 'version ' .. product, ARGV[i + 3])
end
for _, change in ipairs(changes) do
  local version = versions[change[1]]
  if version and version < tonumber(change[2]) then applySeatChange(KEYS[1], KEYS[2], KEYS[3], KEYS[4], change) end
end
redis.call('HSET', KEYS[1], 'run', thisRun())
return 1
