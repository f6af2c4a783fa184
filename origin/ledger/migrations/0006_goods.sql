CREATE TABLE "goods" (
	"sale_id" text PRIMARY KEY NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"brand" jsonb,
	"venue" text,
	"products" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "promo_codes" (
	"sale_id" text NOT NULL,
	"code" text NOT NULL,
	"percent" double precision,
	"amount_minor" bigint,
	"price_minor" bigint,
	"valid_from" timestamp (3) with time zone,
	"valid_until" timestamp (3) with time zone,
	"products" jsonb,
	"combined" boolean DEFAULT false NOT NULL,
	CONSTRAINT "promo_codes_sale_id_code_pk" PRIMARY KEY("sale_id","code")
);
--> statement-breakpoint
ALTER TABLE "contacts" ADD COLUMN "delivery" jsonb;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "bill" jsonb;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "number" bigserial NOT NULL;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "variant_of" text;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "variant" jsonb;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "sku" text;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "weight_grams" integer;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "has_terms" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "is_promo_code" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "fees" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "delivery" jsonb DEFAULT '{"kind":"none","ask":{"name":"off","phone":"off","company":"off","note":"off"}}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "sales" ADD COLUMN "terms_version" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "goods" ADD CONSTRAINT "goods_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "promo_codes" ADD CONSTRAINT "promo_codes_sale_id_sales_sale_id_fk" FOREIGN KEY ("sale_id") REFERENCES "public"."sales"("sale_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "orders_by_number" ON "orders" USING btree ("number");