-- By how many orders have changed, and not by their share of all that ever were, as is Postgres's default: of five million a
-- million had to change first, and meanwhile counting a sale's orders read the dead rows of all it sold. Below ten thousand
-- either is quick. Rows that are only inserted need no rule of their own: every order changes, paid or given back.
ALTER TABLE "orders" SET (
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
	autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);
