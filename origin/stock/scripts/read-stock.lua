-- Read stock: what the counters say, if they are in use.
--
-- KEYS  1 stock
-- Returns {product, available, held, product, ..}; false unless the counters were loaded in this run of the server
return countersOf(KEYS[1])
