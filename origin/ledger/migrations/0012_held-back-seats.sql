ALTER TABLE "seat_claims" ADD COLUMN "until" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "blocks_that_end" ON "seat_claims" USING btree ("until") WHERE until is not null;