-- Mark intents: notes what is done with intents that wait to be recorded, so that nobody gives them back. The marks
-- follow the time of an intent, and are gone with it: see intents.ts.
--
-- KEYS  1 unrecorded (as in reserve.lua)
-- ARGV  1 the mark: 'promised' or 'taken' (to be recorded), stored as their first letters   2.. orders
-- Returns the intents with their marks, in the order of the orders; false for an intent that is gone
local answer = {}
for i = 2, #ARGV do
  local stored = redis.call('HGET', KEYS[1], ARGV[i])
  -- A damaged intent has no marks.
  local time, promised, taken, rest = string.match(stored or '', '^(%d+)(p?)(t?)( .*)$')
  if time then
    local marked = time .. (ARGV[1] == 'promised' and 'p' or promised)
      .. (ARGV[1] == 'taken' and 't' or taken) .. rest
    if marked ~= stored then redis.call('HSET', KEYS[1], ARGV[i], marked) end
    stored = marked
  end
  answer[i - 1] = stored
end
return answer
