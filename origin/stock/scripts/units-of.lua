-- The units of an order as its gate knows them; prepended to every script. Usually one product, by its name. A cart has its parts
-- joined by ';', one for each product, section or promo code ('%CODE=1'): 'PRODUCT=QUANTITY', or 'SECTION:SEAT,SEAT' with the seats' places in the bitmap.
-- A cart that nothing fits is empty. Returns a list of {product, quantity, seats}; seats is nil where a part has none.
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

-- Marks seats in the bitmap as taken (1) or free (0).
local function markSeats(key, parts, bit)
  for _, part in ipairs(parts) do
    for _, seat in ipairs(part[3] or {}) do redis.call('SETBIT', key, seat, bit) end
  end
end

-- Whether the gate has counted an order, which it may have ended by now: its key says so for as long as the gate is in use.
local function knowsOrder(keys, visitor, key, order)
  local known = redis.call('HGET', keys, visitor .. ' ' .. key)
  return known and string.match(known, '^[^|]*') == order
end
