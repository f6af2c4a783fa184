CREATE TABLE "order_search_products" (
	"order_id" uuid NOT NULL,
	"sale_id" text NOT NULL,
	"product_id" text NOT NULL,
	"status" text NOT NULL,
	CONSTRAINT "order_search_products_order_id_product_id_pk" PRIMARY KEY("order_id","product_id")
);
--> statement-breakpoint
CREATE TABLE "charts" (
	"sale_id" text PRIMARY KEY NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"focal_x" double precision DEFAULT 0 NOT NULL,
	"focal_y" double precision DEFAULT 0 NOT NULL,
	"focal_chosen" boolean DEFAULT false NOT NULL,
	"next_seat_index" integer DEFAULT 0 NOT NULL,
	"refuse_single" boolean DEFAULT false NOT NULL,
	"outlines" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "seat_claims" (
	"sale_id" text NOT NULL,
	"seat_index" integer NOT NULL,
	"order_id" uuid,
	"reason" text,
	"operator" text,
	"since" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "seat_claims_sale_id_seat_index_pk" PRIMARY KEY("sale_id","seat_index"),
	CONSTRAINT "order_or_block" CHECK ((order_id is null) <> (reason is null))
);
--> statement-breakpoint
CREATE TABLE "seats" (
	"sale_id" text NOT NULL,
	"seat_index" integer NOT NULL,
	"section_id" text NOT NULL,
	"seat_id" text NOT NULL,
	"row" text NOT NULL,
	"number" text NOT NULL,
	"place" integer NOT NULL,
	"x" double precision NOT NULL,
	"y" double precision NOT NULL,
	"category" text NOT NULL,
	"kind" text DEFAULT 'standard' NOT NULL,
	"price_minor" bigint NOT NULL,
	CONSTRAINT "seats_sale_id_seat_index_pk" PRIMARY KEY("sale_id","seat_index")
);
--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "cart" jsonb;--> statement-breakpoint
ALTER TABLE "refunds" ADD COLUMN "lines" integer[];--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "section_type" text;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "limit_per_visitor" integer;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "limit_per_order" integer;--> statement-breakpoint
ALTER TABLE "charts" ADD CONSTRAINT "charts_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seat_claims" ADD CONSTRAINT "claims_of_seat" FOREIGN KEY ("sale_id","seat_index") REFERENCES "public"."seats"("sale_id","seat_index") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seats" ADD CONSTRAINT "seats_of_section" FOREIGN KEY ("sale_id","section_id") REFERENCES "public"."products"("sale_id","product_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "searched_by_other_product" ON "order_search_products" USING btree ("sale_id","product_id","status","order_id");--> statement-breakpoint
CREATE INDEX "claims_of_order" ON "seat_claims" USING btree ("order_id") WHERE order_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "one_seat_per_name" ON "seats" USING btree ("sale_id","section_id","seat_id");--> statement-breakpoint
CREATE INDEX "carts_of_sale" ON "orders" USING btree ("sale_id") WHERE cart is not null;