-- Reserve: the hot path, and the only place where the counters go down. One call serves many callers, for any
-- products of the sale: it reads everything about all of them at once and writes all changes at once, which takes
-- half the time of a command each.
--
-- KEYS 1 stock (hash: run; and for each product, 'available PRODUCT', 'held PRODUCT' and 'version PRODUCT', of the
--         row that these were loaded from) 2 holds (zset: order -> end of the hold, ms) 3 keys (hash: visitor key ->
--         order|request hash) 4 visitors (hash: visitor -> units of all products|latest order) 5 unrecorded (hash:
--         order -> its intent: time (ms), quantity, product, key, request hash, line, number, seller, payment
--         method, visitor) 6 unpaid (hash: visitor -> how many of their orders failed; '% visitor' -> how many were
--         declined); most sales have it empty for long 7 seats (bitmap: taken, by the seat's place in the chart) 8
--         limited (hash: product visitor -> units), for products with a limit of their own 9 networks (hash: network
--         -> units that its buyers hold unpaid; 'order ORDER' -> its units and networks), of buyers whose networks
--         are bounded. A rebuild forgets them: the ledger does not know. 10 claims (hash: seat -> claims beside its
--         bit, as in units-of.lua; 'change SECTION VERSION' -> 1) A space separates the parts of one text. Only a
--         visitor may contain a space, and comes last; or first before a key.
-- ARGV 1 length of the hold (ms) 2 limit per visitor (units) 3 units that waiting visitors with fewer than one, two,
--       .. failed orders may buy, as one text; the last of these numbers also concerns visitors with more failed
--       orders; then '|', and how many more want a use of a promo code 4 how many products follow; then the products,
--       and as many limits per visitor ('': none; the products that share it, as other variants of the same do,
--       follow it); then eight arguments per caller: order, visitor, key, request hash, product (its place among the
--       products, from 1; or a cart, as in units-of.lua, '' if nothing fits it), quantity, then: line, number,
--       seller and payment method (may be empty, and the order's charge and the buyer's contact may follow: see
--       intents.ts), and the visitor's networks, each with the units that it may hold unpaid: 'NETWORK=UNITS
--       NETWORK=UNITS', or ''
-- Returns {'fenced'}, and nothing was changed, unless the counters were loaded in this run of the server: after a
--       restart, a flush or a failover they may be too high, and must be rebuilt from the ledger. Otherwise
--       {verdicts, available, held, .., detail, ..}: two counters per product, in the order of the products. The
--       verdicts are one text: one word per caller, in their order, with a space between two. In brackets what the
--       detail of a verdict says; most callers have none, which makes the reply cheap to write and to read.
--       reserved
--       replay         the key is known (order|request hash)
--       limit          the visitor's limit (units|latest order, '' if none)
--       product_limit  the visitor's limit of a product (its place|units they have|latest order, '' if none)
--       none           too few units are left
--       none_unpaid    the same, for a visitor with failed orders (how many)
--       none_of_cart   the same, for a cart (the product's place, 0: nothing fits|the visitor's failed orders)
--       unpaid         others want the remaining units, and come first (the visitor's failed orders)
--       seat_taken     seats of the cart are taken (which, joined by ',')
--       network_full   the networks of the visitor hold as many units unpaid as they may
--       fenced         a product has no counter yet
local products = tonumber(ARGV[4])
local fields = { 'run' }
for p = 1, products do
  fields[2 * p], fields[2 * p + 1] = 'available ' .. ARGV[4 + p], 'held ' .. ARGV[4 + p]
end
local stock = redis.call('HMGET', KEYS[1], unpack(fields))
if stock[1] ~= thisRun() then return { 'fenced' } end

local available, held = {}, {}
for p = 1, products do
  available[p], held[p] = tonumber(stock[2 * p]), tonumber(stock[2 * p + 1])
end
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
-- The numbers are stored as text, because Lua formats a number again, slowly, at each use.
local now, ends = string.format('%d', nowMs), string.format('%d', nowMs + ARGV[1])
local limit = tonumber(ARGV[2])

local first = 5 + 2 * products
local keys, visitors = {}, {}
for i = first, #ARGV, 8 do
  keys[#keys + 1] = ARGV[i + 1] .. ' ' .. ARGV[i + 2]
  visitors[#visitors + 1] = ARGV[i + 1]
end

-- The known orders by key and by visitor: those in Redis, then those of earlier callers of this call.
local known, has = {}, {}
for i, found in ipairs(redis.call('HMGET', KEYS[3], unpack(keys))) do known[keys[i]] = found end
for i, found in ipairs(redis.call('HMGET', KEYS[4], unpack(visitors))) do has[visitors[i]] = found end

-- How many units others may buy first, for each visitor with failed orders.
local unpaid, demand, forUses = {}, {}, tonumber(string.match(ARGV[3], '|(%d+)'))
if redis.call('EXISTS', KEYS[6]) == 1 then
  local demands = {}
  for units in string.gmatch(string.match(ARGV[3], '^[^|]*'), '%d+') do demands[#demands + 1] = tonumber(units) end
  for i, found in ipairs(redis.call('HMGET', KEYS[6], unpack(visitors))) do
    if found then
      unpaid[visitors[i]], demand[visitors[i]] = found, demands[math.min(tonumber(found), #demands)] or 0
    end
  end
end

-- Units held unpaid by network, with what earlier callers of this call have taken.
local heldBy = {}
-- Tells whether the networks may hold that many more units. A network that holds none always may.
local function hasRoom(networks, quantity)
  for network, most in string.gmatch(networks, '(%S+)=(%d+)') do
    heldBy[network] = heldBy[network] or tonumber(redis.call('HGET', KEYS[9], network) or 0)
    if heldBy[network] > 0 and heldBy[network] + quantity > tonumber(most) then return false end
  end
  return true
end
local function noteNetworks(order, networks, quantity)
  local note = quantity
  for network in string.gmatch(networks, '(%S+)=%d+') do
    heldBy[network] = redis.call('HINCRBY', KEYS[9], network, quantity)
    note = note .. ' ' .. network
  end
  redis.call('HSET', KEYS[9], 'order ' .. order, note)
end

local placeOf, isTaken = {}, {}
for p = 1, products do placeOf[ARGV[4 + p]] = p end

-- Takes all of a cart, or nothing. Returns a verdict and its detail.
local function takeCart(visitor, latest, parts)
  local taken = {}
  for _, part in ipairs(parts) do
    local p = placeOf[part[1]]
    if not available[p] then return 'fenced' end
    for _, seat in ipairs(part[3] or {}) do
      if redis.call('GETBIT', KEYS[7], seat) == 1 then taken[#taken + 1] = seat end
    end
  end
  if #taken > 0 then return 'seat_taken', table.concat(taken, ',') end
  if #parts == 0 then return 'none_of_cart', '0|' .. (unpaid[visitor] or 0) end
  local had, wanted = {}, {}
  for _, part in ipairs(parts) do wanted[part[1]] = part[2] end
  local function unitsHad(product) return tonumber(redis.call('HGET', KEYS[8], product .. ' ' .. visitor) or 0) end
  for _, part in ipairs(parts) do
    local product, quantity, p = part[1], part[2], placeOf[part[1]]
    if available[p] < quantity then return 'none_of_cart', p .. '|' .. (unpaid[visitor] or 0) end
    if unpaid[visitor] then
      local isUse, rest = string.sub(product, 1, 1) == '%', available[p] - quantity
      -- A promo code that is used up does not exhaust the stock: without the code the buyer may still have units.
      if isUse and rest < demand[visitor] + forUses then return 'none_of_cart', p .. '|' .. unpaid[visitor] end
      if not isUse and rest < demand[visitor] then return 'unpaid', unpaid[visitor] end
    end
    local most, others = string.match(ARGV[4 + products + p], '^(%d+)(.*)$')
    if most then
      had[product] = unitsHad(product)
      local hadInAll, wantedInAll = had[product], quantity
      for other in string.gmatch(others, '%S+') do
        hadInAll, wantedInAll = hadInAll + unitsHad(other), wantedInAll + (wanted[other] or 0)
      end
      if hadInAll + wantedInAll > tonumber(most) then return 'product_limit', p .. '|' .. hadInAll .. '|' .. latest end
    end
  end
  for _, part in ipairs(parts) do
    local product, quantity, p = part[1], part[2], placeOf[part[1]]
    available[p], held[p], isTaken[p] = available[p] - quantity, held[p] + quantity, true
    if had[product] then redis.call('HSET', KEYS[8], product .. ' ' .. visitor, had[product] + quantity) end
  end
  for _, part in ipairs(parts) do
    for _, seat in ipairs(part[3] or {}) do redis.call('SETBIT', KEYS[7], seat, 1) end
  end
  return 'reserved'
end

local verdicts, details, newHolds, newKeys, newVisitors, newIntents, newStock = {}, {}, {}, {}, {}, {}, {}
for i, key in ipairs(keys) do
  local at, visitor = first + 8 * (i - 1), visitors[i]
  local verdict = 'none'
  if known[key] then
    verdict, details[#details + 1] = 'replay', known[key]
  else
    local units, latest = 0, ''
    if has[visitor] then
      local bar = string.find(has[visitor], '|', 1, true)
      units, latest = tonumber(string.sub(has[visitor], 1, bar - 1)), string.sub(has[visitor], bar + 1)
    end
    local order, p, quantity = ARGV[at], tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
    local left = available[p]
    if units + quantity > limit then
      verdict, details[#details + 1] = 'limit', units .. '|' .. latest
    elseif not hasRoom(ARGV[at + 7], quantity) then
      verdict = 'network_full'
    elseif not p then
      verdict, details[#details + 1] = takeCart(visitor, latest, unitsOf(ARGV[at + 4], ''))
    elseif not left then
      verdict = 'fenced'
    elseif unpaid[visitor] and (left < quantity or left - quantity < demand[visitor]) then
      verdict, details[#details + 1] = left < quantity and 'none_unpaid' or 'unpaid', unpaid[visitor]
    elseif left >= quantity then
      verdict = 'reserved'
      available[p], held[p], isTaken[p] = left - quantity, held[p] + quantity, true
    end
    if verdict == 'reserved' then
      if ARGV[at + 7] ~= '' then noteNetworks(order, ARGV[at + 7], quantity) end
      known[key] = order .. '|' .. ARGV[at + 3]
      has[visitor] = (units + quantity) .. '|' .. order
      local n = #newHolds
      newHolds[n + 1], newHolds[n + 2] = ends, order
      newKeys[n + 1], newKeys[n + 2] = key, known[key]
      newVisitors[n + 1], newVisitors[n + 2] = visitor, has[visitor]
      newIntents[n + 1] = order
      newIntents[n + 2] = now .. ' ' .. ARGV[at + 5] .. ' ' .. (p and ARGV[4 + p] or ARGV[at + 4])
        .. ' ' .. ARGV[at + 2]
        .. ' ' .. ARGV[at + 3] .. ' ' .. ARGV[at + 6] .. ' ' .. visitor
    end
  end
  verdicts[i] = verdict
end

local answer = { table.concat(verdicts, ' ') }
for p = 1, products do
  answer[2 * p], answer[2 * p + 1] = available[p] or 0, held[p] or 0
  if isTaken[p] then
    local n = #newStock
    newStock[n + 1], newStock[n + 2] = fields[2 * p], available[p]
    newStock[n + 3], newStock[n + 4] = fields[2 * p + 1], held[p]
  end
end
if #newHolds > 0 then
  redis.call('ZADD', KEYS[2], unpack(newHolds))
  redis.call('HSET', KEYS[3], unpack(newKeys))
  redis.call('HSET', KEYS[4], unpack(newVisitors))
  redis.call('HSET', KEYS[5], unpack(newIntents))
  redis.call('HSET', KEYS[1], unpack(newStock))
end
for _, detail in ipairs(details) do answer[#answer + 1] = detail end
return answer
