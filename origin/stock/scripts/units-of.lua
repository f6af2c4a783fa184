-- The units of an order as its gate knows them; prepended to every script. Usually one product, by its name. A cart
-- has its parts joined by ';', one for each product, section or promo code ('%CODE=1'): 'PRODUCT=QUANTITY', or
-- 'SECTION:SEAT,SEAT' with the seats' places in the bitmap. A cart that nothing fits is empty. Returns a list of
-- {product, quantity, seats}; seats is nil where a part has none.
local function unitsOf(product, quantity)
  if product == '' then return {} end
  if not string.find(product, '[=:]') then return { { product, tonumber(quantity) } } end
  local parts = {}
  for name, sign, rest in string.gmatch(product, '([^=:;]+)([=:])([^;]*)') do
    if sign == '=' then
      parts[#parts + 1] = { name, tonumber(rest) }
    else
      local seats = {}
      for seat in string.gmatch(rest, '%d+') do seats[#seats + 1] = seat end
      parts[#parts + 1] = { name, #seats, seats }
    end
  end
  return parts
end

-- Adds a claim on a seat (by 1), or ends one (by -1); a seat is free while it has none. The ledger gives it one at
-- most, but the gate may hear of the next claim before the end of the last one. `claims` counts those that the bit
-- cannot show, in either direction.
local function claimSeat(bits, claims, seat, by)
  local more = tonumber(redis.call('HGET', claims, seat) or 0)
  local isTaken = redis.call('GETBIT', bits, seat) == 1
  if more * by >= 0 and isTaken == (by < 0) then
    redis.call('SETBIT', bits, seat, by > 0 and 1 or 0)
  elseif redis.call('HINCRBY', claims, seat, by) == 0 then
    redis.call('HDEL', claims, seat)
  end
end
local function claimSeats(bits, claims, parts, by)
  for _, part in ipairs(parts) do
    for _, seat in ipairs(part[3] or {}) do claimSeat(bits, claims, seat, by) end
  end
end

-- Applies what an operator has changed of seats, see change-seats.lua.
local function applySeatChange(stock, bits, claims, limited, args)
  local visitor = args[3]
  for seat in string.gmatch(args[4], '%d+') do claimSeat(bits, claims, seat, -1) end
  for seat in string.gmatch(args[5], '%d+') do claimSeat(bits, claims, seat, 1) end
  local isLimited = visitor ~= '' and args[6] and redis.call('HEXISTS', limited, args[6] .. ' ' .. visitor) == 1
  for i = 6, #args, 3 do
    local product, free, held = args[i], tonumber(args[i + 1]), tonumber(args[i + 2])
    local field = product .. ' ' .. visitor
    if isLimited and redis.call('HINCRBY', limited, field, -free) <= 0 then redis.call('HDEL', limited, field) end
    if redis.call('HEXISTS', stock, 'available ' .. product) == 1 then
      redis.call('HINCRBY', stock, 'available ' .. product, free)
      redis.call('HINCRBY', stock, 'held ' .. product, held)
    end
  end
end

-- Tells whether the gate has counted an order, even one that ended since: the key of the order is stored for as long
-- as the gate is in use.
local function knowsOrder(keys, visitor, key, order)
  local known = redis.call('HGET', keys, visitor .. ' ' .. key)
  return known and string.match(known, '^[^|]*') == order
end
