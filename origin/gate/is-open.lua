-- Is the gate open? KEYS 1 stock. Returns 1 if the counter was loaded into this run of the server, else 0.
local run = redis.call('HGET', KEYS[1], 'run')
return run == string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') and 1 or 0
