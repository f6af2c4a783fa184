CREATE TABLE "forgotten_visitors" (
	"visitor" text PRIMARY KEY NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "contacts_of_sale" ON "contacts" USING btree ("sale_id");