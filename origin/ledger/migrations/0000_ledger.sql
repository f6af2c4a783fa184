CREATE TABLE "order_events" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"order_id" uuid NOT NULL,
	"status" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "orders" (
	"order_id" uuid PRIMARY KEY NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"visitor" text NOT NULL,
	"ticket_number" bigint NOT NULL,
	"quantity" integer NOT NULL,
	"unit_price_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"request_hash" text NOT NULL,
	"reserved_until" timestamp (3) with time zone NOT NULL,
	"payment_method" text,
	"charge_id" text,
	"reason" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "known_status" CHECK (status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled'))
);
--> statement-breakpoint
CREATE TABLE "products" (
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"place" integer NOT NULL,
	"name" text NOT NULL,
	"unit_price_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"total" integer NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	"sold" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "products_sale_id_product_id_pk" PRIMARY KEY("sale_id","product_id"),
	CONSTRAINT "never_oversold" CHECK (held >= 0 and sold >= 0 and held + sold <= total)
);
--> statement-breakpoint
CREATE TABLE "sales" (
	"sale_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"opens_at" timestamp (3) with time zone NOT NULL,
	"ends_at" timestamp (3) with time zone,
	"pre_queue_opens_at" timestamp (3) with time zone,
	"hold_seconds" integer NOT NULL,
	"limit_per_visitor" integer NOT NULL,
	"rate_per_second" double precision NOT NULL,
	"max_inside" integer,
	"oversell_policy" text NOT NULL,
	"paused" boolean DEFAULT false NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "products" ADD CONSTRAINT "products_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "events_of_order" ON "order_events" USING btree ("order_id","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "one_order_per_key" ON "orders" USING btree ("sale_id","visitor","idempotency_key");--> statement-breakpoint
CREATE INDEX "live_orders" ON "orders" USING btree ("sale_id","visitor") WHERE status in ('reserved', 'paying', 'confirmed', 'fulfilled');--> statement-breakpoint
CREATE INDEX "holds_by_end" ON "orders" USING btree ("reserved_until") WHERE status = 'reserved';