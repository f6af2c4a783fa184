CREATE TABLE "audit_log" (
	"entry_id" bigserial PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text,
	"order_id" uuid,
	"before" jsonb,
	"after" jsonb
);
--> statement-breakpoint
CREATE TABLE "comparisons" (
	"provider" text PRIMARY KEY NOT NULL,
	"cursor" text NOT NULL,
	"compared_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "findings" (
	"finding_id" bigserial PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"kind" text NOT NULL,
	"subject" text DEFAULT '' NOT NULL,
	"units" integer DEFAULT 0 NOT NULL,
	"detail" jsonb,
	"first_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"seen" integer DEFAULT 1 NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"outcome" text
);
--> statement-breakpoint
CREATE TABLE "refunds" (
	"charge_id" text PRIMARY KEY NOT NULL,
	"order_id" uuid NOT NULL,
	"reason" text NOT NULL,
	"asked_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"refunded_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "audit_of_sale" ON "audit_log" USING btree ("sale_id","entry_id");--> statement-breakpoint
CREATE UNIQUE INDEX "one_open_finding" ON "findings" USING btree ("sale_id","product_id","kind","subject") WHERE closed_at is null;--> statement-breakpoint
CREATE INDEX "findings_of_sale" ON "findings" USING btree ("sale_id","finding_id");--> statement-breakpoint
CREATE INDEX "refunds_open" ON "refunds" USING btree ("asked_at") WHERE refunded_at is null;--> statement-breakpoint
CREATE INDEX "payments_to_begin" ON "orders" USING btree ("created_at") WHERE status = 'reserved' and payment_method is not null;--> statement-breakpoint
CREATE INDEX "payments_under_way" ON "orders" USING btree ("updated_at") WHERE status = 'paying';--> statement-breakpoint
CREATE FUNCTION "count_version"() RETURNS trigger LANGUAGE plpgsql AS $$
begin
  new.version := old.version + 1;
  return new;
end $$;
--> statement-breakpoint
CREATE TRIGGER "versions_of_products" BEFORE UPDATE ON "products" FOR EACH ROW EXECUTE FUNCTION "count_version"();
