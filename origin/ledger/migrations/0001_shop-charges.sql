CREATE TABLE "shop_charges" (
	"charge_id" text PRIMARY KEY NOT NULL,
	"order_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"amount_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"reference" text,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"next_check_at" timestamp (3) with time zone,
	"checks" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX "shop_charges_of_order" ON "shop_charges" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "shop_charges_open" ON "shop_charges" USING btree ("next_check_at") WHERE next_check_at is not null;