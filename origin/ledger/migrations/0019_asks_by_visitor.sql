DROP INDEX "one_ask";--> statement-breakpoint
CREATE INDEX "asks_by_email" ON "mail_asks" USING btree (lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "one_ask" ON "mail_asks" USING btree ("sale_id","about",coalesce("visitor", ''),lower("email"));