CREATE TABLE "captures" (
	"charge_id" text PRIMARY KEY NOT NULL,
	"order_id" uuid NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"captured_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "captures_open" ON "captures" USING btree ("asked_at") WHERE captured_at is null;