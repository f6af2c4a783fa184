CREATE TABLE "order_search" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"status" text NOT NULL,
	"visitor" text NOT NULL,
	"ticket_number" bigint NOT NULL,
	"charge_id" text
);
--> statement-breakpoint
CREATE TABLE "order_texts" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"email" text,
	"address" text,
	"notes" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "note_words" (
	"word" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "search_backlog" (
	"after" uuid PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE INDEX "searched_by_product" ON "order_search" USING btree ("sale_id","product_id","status","order_id");--> statement-breakpoint
CREATE INDEX "searched_by_visitor" ON "order_search" USING btree ("visitor" text_pattern_ops,"order_id");--> statement-breakpoint
CREATE INDEX "searched_by_ticket" ON "order_search" USING btree ("ticket_number","order_id");--> statement-breakpoint
CREATE INDEX "searched_by_charge" ON "order_search" USING btree ("charge_id" text_pattern_ops) WHERE charge_id is not null;--> statement-breakpoint
CREATE INDEX "searched_by_email" ON "order_texts" USING btree ("email" text_pattern_ops,"order_id") WHERE email is not null;--> statement-breakpoint
CREATE INDEX "searched_by_address" ON "order_texts" USING btree ("address" text_pattern_ops,"order_id") WHERE address is not null;--> statement-breakpoint
CREATE INDEX "searched_by_note" ON "order_texts" USING gin (to_tsvector('simple', notes)) WHERE notes <> '';--> statement-breakpoint
-- Misspelt words are found by trigrams. The extension is a trusted one; a ledger whose owner may not make it is searched without.
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX "words_alike" ON "note_words" USING gin ("word" gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
  RAISE NOTICE 'searching without trigrams: %', sqlerrm;
END $$;--> statement-breakpoint
-- Orders that exist are copied in the background. What is written meanwhile is in the events after this position.
INSERT INTO "search_backlog" SELECT '00000000-0000-0000-0000-000000000000' WHERE EXISTS (SELECT FROM "orders");--> statement-breakpoint
INSERT INTO "readers" ("reader", "xid") VALUES ('search', pg_snapshot_xmin(pg_current_snapshot())) ON CONFLICT DO NOTHING;--> statement-breakpoint
-- What is deleted, or made anonymous, is not found from then on. The lock is that of those who copy (search.ts): a copy that
-- has read the row before is written before, and is changed here.
CREATE FUNCTION search_forgets_contacts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('order search'));
  UPDATE order_texts t SET email = lower(c.email), address = c.address
    FROM gone g LEFT JOIN contacts c ON c.order_id = g.order_id WHERE t.order_id = g.order_id;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION search_forgets_notes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('order search'));
  UPDATE order_texts t SET notes = coalesce(
      (SELECT string_agg(lower(n.text), E'\n' ORDER BY n.note_id) FROM order_notes n WHERE n.order_id = t.order_id), '')
    WHERE t.order_id IN (SELECT g.order_id FROM gone g);
  DELETE FROM note_words w
    WHERE w.word IN (SELECT unnest(tsvector_to_array(to_tsvector('simple', g.text))) FROM gone g)
      AND NOT EXISTS (SELECT FROM order_texts t
        WHERE t.notes <> '' AND to_tsvector('simple', t.notes) @@ plainto_tsquery('simple', w.word));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION search_forgets_orders() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('order search'));
  DELETE FROM order_search s USING gone g WHERE s.order_id = g.order_id;
  DELETE FROM order_texts t USING gone g WHERE t.order_id = g.order_id;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION search_forgets_visitor() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('order search'));
  UPDATE order_search SET visitor = new.visitor WHERE order_id = new.order_id;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER search_forgets_deleted AFTER DELETE ON "contacts" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION search_forgets_contacts();--> statement-breakpoint
CREATE TRIGGER search_forgets_changed AFTER UPDATE ON "contacts" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION search_forgets_contacts();--> statement-breakpoint
CREATE TRIGGER search_forgets_deleted AFTER DELETE ON "order_notes" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION search_forgets_notes();--> statement-breakpoint
CREATE TRIGGER search_forgets_deleted AFTER DELETE ON "orders" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION search_forgets_orders();--> statement-breakpoint
-- No other change of an order names this column, and none pays for the trigger.
CREATE TRIGGER search_forgets_visitor AFTER UPDATE OF "visitor" ON "orders"
  FOR EACH ROW WHEN (old.visitor IS DISTINCT FROM new.visitor) EXECUTE FUNCTION search_forgets_visitor();
