-- Is the gate open? KEYS 1 stock. Returns 1 if the counter was loaded into this run of the server, else 0.
return redis.call('HGET', KEYS[1], 'run') == thisRun() and 1 or 0
