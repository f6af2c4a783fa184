ALTER TABLE "orders" ADD COLUMN "terms" integer;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "receipt" jsonb;--> statement-breakpoint
ALTER TABLE "promo_codes" ADD COLUMN "units_per_use" integer;